package api

import (
	"net/http"

	"github.com/liaison-bot/liaison/handlers/answer"
	"github.com/liaison-bot/liaison/state"
)

type turnCost struct {
	TurnID    string           `json:"turnId"`
	Status    state.TurnStatus `json:"status"`
	Model     string           `json:"model,omitempty"`
	Usage     state.Usage      `json:"usage"`
	ToolCalls int              `json:"toolCalls"`
	CostUSD   float64          `json:"costUsd,omitempty"`
}

type totalCost struct {
	Usage     state.Usage `json:"usage"`
	ToolCalls int         `json:"toolCalls"`
	CostUSD   float64     `json:"costUsd,omitempty"`
	// Unpriced counts the turns that are missing from CostUSD.
	Unpriced int `json:"unpriced"`
}

// cost reports what the turns of a session used.
func (a *API) cost(w http.ResponseWriter, r *http.Request, p Principal) error {
	sess, err := a.owned(r, p)
	if err != nil {
		return err
	}
	rows, err := a.store.Turns(r.Context(), sess.ID)
	if err != nil {
		return err
	}
	turns := make([]turnCost, len(rows))
	var total totalCost
	for i, t := range rows {
		turns[i] = turnCost{t.ID, t.Status, t.Model, t.Usage, t.ToolCalls, t.CostUSD}
		total.add(t)
	}
	answer.JSON(w, http.StatusOK, struct {
		OK        bool       `json:"ok"`
		SessionID string     `json:"sessionId"`
		Turns     []turnCost `json:"turns"`
		Total     totalCost  `json:"total"`
	}{true, sess.ID, turns, total})
	return nil
}

func (c *totalCost) add(t state.Turn) {
	c.Usage = c.Usage.Plus(t.Usage)
	c.ToolCalls += t.ToolCalls
	c.CostUSD += t.CostUSD
	if t.CostUSD == 0 && t.Usage != (state.Usage{}) {
		c.Unpriced++
	}
}
