package slack

import "github.com/liaison-bot/liaison/approvals"

// heading says in a word or two how things are.
func (d drawing) heading() string {
	switch d.State {
	case approvals.Pending:
		return "Approval needed"
	case approvals.Approving:
		return "More approvals needed"
	case approvals.Approved:
		return "Approved"
	case approvals.Executing:
		return "Approved, running"
	case approvals.Done:
		return "Approved and done"
	case approvals.Failed:
		if d.Reason != "" {
			return "Approved, but not run"
		}
		return "Approved, but it failed"
	case approvals.Unknown:
		return "Approved, outcome not known"
	case approvals.Denied:
		return "Denied"
	case approvals.Expired:
		return "Expired"
	case approvals.Superseded:
		return "Outdated"
	}
	return "Cancelled"
}

// facts are the lines of a card: who asked, how it stands, what came of it.
func (d drawing) facts() [][]run {
	var all [][]run
	add := func(name, text string, limit int) {
		switch text = inLine(text, limit); {
		case text == "":
		case name == "":
			all = append(all, []run{{text: text}})
		default:
			all = append(all, []run{{name + ": ", bold}, {text: text}})
		}
	}
	add("Asked for by", d.words.Person(d.Requester), maxCardLine)
	if d.State.Open() {
		add("Risk", d.risk(), maxCardLine)
	}
	add("", d.Status(d.words), 3*maxCardLine)
	if d.State.Open() {
		add("", d.WhoMayDecide(d.words), 3*maxCardLine)
		return all
	}
	if d.Decision != nil {
		add("Reason", d.Decision.Reason, maxCardLine)
	}
	if d.Outcome != nil {
		add("Outcome", d.Outcome.Text, maxOutcome)
	}
	return all
}

func (d drawing) risk() string {
	if d.Risk == "" {
		return string(approvals.RiskMedium)
	}
	return string(d.Risk)
}
