// Package doctor judges whether an installation can work, from facts that the
// command gathered: what is right, what is not, what that costs, and what to do.
package doctor

// Status says how good something is.
type Status string

// The statuses of a finding.
const (
	// OK needs nothing.
	OK Status = "ok"
	// Warning means that something is lost or unknown.
	Warning Status = "warning"
	// Failed means that the main job cannot work.
	Failed Status = "failed"
)

// Finding is one thing that was looked at.
type Finding struct {
	// Subject is what was looked at, in a word or two.
	Subject string `json:"subject"`
	Status  Status `json:"status"`
	// Text says what was found, and what follows from it.
	Text string `json:"text"`
	// Fix says what to do; empty when there is nothing to do.
	Fix string `json:"fix,omitempty"`
}

// Worst returns the worst status of some findings.
func Worst(findings []Finding) Status {
	worst := OK
	for _, f := range findings {
		if f.Status == Failed || f.Status == Warning && worst == OK {
			worst = f.Status
		}
	}
	return worst
}

func ok(subject, text string) Finding {
	return Finding{Subject: subject, Status: OK, Text: text}
}

func warning(subject, text, fix string) Finding {
	return Finding{Subject: subject, Status: Warning, Text: text, Fix: fix}
}

func failed(subject, text, fix string) Finding {
	return Finding{Subject: subject, Status: Failed, Text: text, Fix: fix}
}
