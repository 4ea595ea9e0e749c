package bridge

import (
	"maps"
	"slices"

	sdkv1 "github.com/liaison-bot/liaison/gen/sdk/v1"
)

// wireModel returns nil when no model is chosen. Parameters are in the order of
// their ids, so that equal options are equal on the wire.
func wireModel(id string, params map[string]string) *sdkv1.ModelSelection {
	if id == "" {
		return nil
	}
	w := &sdkv1.ModelSelection{Id: id}
	for _, p := range slices.Sorted(maps.Keys(params)) {
		w.Params = append(w.Params, &sdkv1.ModelParameterValue{Id: p, Value: params[p]})
	}
	return w
}

// wireMode leaves the choice to the bridge when none is made: for an agent it
// is [ModeAgent], for a run the agent's.
func wireMode(op string, m Mode) (sdkv1.AgentModeOption, error) {
	switch m {
	case "":
		return sdkv1.AgentModeOption_AGENT_MODE_OPTION_UNSPECIFIED, nil
	case ModeAgent:
		return sdkv1.AgentModeOption_AGENT_MODE_OPTION_AGENT, nil
	case ModePlan:
		return sdkv1.AgentModeOption_AGENT_MODE_OPTION_PLAN, nil
	default:
		return 0, invalid(op, "the mode %.40q is not one of %q and %q", m, ModeAgent, ModePlan)
	}
}
