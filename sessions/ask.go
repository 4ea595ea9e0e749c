package sessions

import (
	"context"

	"github.com/liaison-bot/liaison/tools"
)

// Ask implements [tools.Ledger].
func (l ledger) Ask(context.Context, tools.Call, tools.Tool) (tools.Result, error) {
	return tools.Result{Text: "Nobody can decide about this call here.", IsError: true}, nil
}
