package bridge

import sdkv1 "github.com/liaison-bot/liaison/gen/sdk/v1"

// projection is what the messages of a run have said so far.
type projection struct {
	openTools map[string]struct{}
	reason    string
	status    RunStatus // of the last status message
	usage     Usage
	result    Result
	ended     bool // result is set
	done      bool // the stream says that nothing follows
}

// note keeps what the result lacks. Hearing it twice changes nothing.
func (p *projection) note(payload Payload) {
	switch v := payload.(type) {
	case Status:
		p.status = v.Status
		if v.Message != "" {
			p.reason = v.Message
		}
	case Tokens:
		p.usage = v.Usage
	case ToolCall:
		if v.Status == ToolRunning {
			if p.openTools == nil {
				p.openTools = map[string]struct{}{}
			}
			p.openTools[v.CallID] = struct{}{}
		} else {
			delete(p.openTools, v.CallID)
		}
	}
}

// finish takes the result that ends a stream.
func (p *projection) finish(m *sdkv1.RunStreamResult) {
	status := lifecycle(m.GetStatus())
	if status == RunUnknown {
		status = lifecycle(m.GetResult().GetStatus())
	}
	if status == RunUnknown && p.status.Ended() {
		status = p.status
	}
	result := resultOf(m.GetResult())
	result.Status, result.ErrorCode = status, m.GetErrorCode()
	p.adopt(result)
}

// adopt takes a result and adds what only the stream has said.
func (p *projection) adopt(result Result) {
	result.Reason = p.reason
	if result.Usage == (Usage{}) {
		result.Usage = p.usage
	}
	p.result, p.ended = result, true
}
