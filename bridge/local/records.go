package local

import (
	"time"

	"google.golang.org/protobuf/types/known/timestamppb"

	sdkv1 "github.com/liaison-bot/liaison/gen/sdk/v1"
)

// maxPromptBytes bounds what is kept of a message to an agent.
const maxPromptBytes = 256 << 10

// agentRecord is what is kept of an agent. Tools, restrictions and the API key
// are not: the caller gives them again when it resumes.
type agentRecord struct {
	Schema   int       `json:"schema"`
	ID       string    `json:"id"`
	Name     string    `json:"name,omitempty"`
	Model    string    `json:"model"`
	Dir      string    `json:"dir"`
	Created  time.Time `json:"created"`
	Modified time.Time `json:"modified"`
	Archived bool      `json:"archived,omitempty"`
	// ActiveRun is the run under way, also one that a crash left behind.
	ActiveRun string `json:"active_run,omitempty"`
	// LastStatus is how the newest ended run ended.
	LastStatus runStatus `json:"last_status,omitempty"`
}

// maxResultBytes bounds the answer in a run's result, which travels in one
// message. The run's events have it whole.
const maxResultBytes = 4 << 20

// runRecord is what is kept of a run beside its events.
type runRecord struct {
	Schema   int           `json:"schema"`
	ID       string        `json:"id"`
	AgentID  string        `json:"agent_id"`
	Model    string        `json:"model"`
	Status   runStatus     `json:"status"`
	Created  time.Time     `json:"created"`
	Duration time.Duration `json:"duration_ns"`
	// Prompt is what was asked, at most [maxPromptBytes] of it.
	Prompt string `json:"prompt,omitempty"`
	// Images is how many came with it; they are not kept.
	Images int `json:"images,omitempty"`
	// Result is the whole answer of a run that finished.
	Result string `json:"result,omitempty"`
	// ErrorCode and Reason say why a run did not finish.
	ErrorCode string `json:"error_code,omitempty"`
	Reason    string `json:"reason,omitempty"`
	Usage     usage  `json:"usage"`
}

// runStatus is the state of a run, as the protocol's status messages spell it.
type runStatus string

const (
	statusRunning   runStatus = "RUNNING"
	statusFinished  runStatus = "FINISHED"
	statusError     runStatus = "ERROR"
	statusCancelled runStatus = "CANCELLED"
	statusExpired   runStatus = "EXPIRED"
)

func (s runStatus) ended() bool { return s != statusRunning }

func (s runStatus) proto() sdkv1.RunLifecycleStatus {
	return sdkv1.RunLifecycleStatus(sdkv1.RunLifecycleStatus_value["RUN_LIFECYCLE_STATUS_"+string(s)])
}

// duration is how long the run took, or has been going on.
func (r runRecord) duration(now time.Time) uint64 {
	d := r.Duration
	if !r.Status.ended() {
		d = now.Sub(r.Created)
	}
	return uint64(max(d, 0).Milliseconds())
}

func (r runRecord) result(now time.Time) *sdkv1.RunResult {
	return &sdkv1.RunResult{
		RunId: r.ID, AgentId: r.AgentID, Status: r.Status.proto(), Result: r.Result,
		Model: &sdkv1.ModelSelection{Id: r.Model}, DurationMs: r.duration(now),
		CreatedAt: timestamppb.New(r.Created), Usage: r.Usage.proto(),
	}
}

func (r runRecord) snapshot(now time.Time) *sdkv1.RunSnapshot {
	return &sdkv1.RunSnapshot{
		RunId: r.ID, AgentId: r.AgentID, Status: r.Status.proto(), Result: r.Result,
		Model: &sdkv1.ModelSelection{Id: r.Model}, DurationMs: r.duration(now),
		CreatedAt: timestamppb.New(r.Created), Usage: r.Usage.proto(),
	}
}

func (a agentRecord) info() *sdkv1.SdkAgentInfo {
	status := sdkv1.AgentInfoStatus_AGENT_INFO_STATUS_UNSPECIFIED
	switch {
	case a.ActiveRun != "":
		status = sdkv1.AgentInfoStatus_AGENT_INFO_STATUS_RUNNING
	case a.LastStatus == statusError || a.LastStatus == statusExpired:
		status = sdkv1.AgentInfoStatus_AGENT_INFO_STATUS_ERROR
	case a.LastStatus != "":
		status = sdkv1.AgentInfoStatus_AGENT_INFO_STATUS_FINISHED
	}
	return &sdkv1.SdkAgentInfo{
		AgentId: a.ID, Name: a.Name, Status: status, Archived: a.Archived,
		CreatedAt: timestamppb.New(a.Created), LastModified: timestamppb.New(a.Modified),
		RuntimeInfo: &sdkv1.SdkAgentInfo_Local{Local: &sdkv1.LocalAgentInfo{Cwd: a.Dir}},
	}
}
