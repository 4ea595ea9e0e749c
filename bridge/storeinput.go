package bridge

import (
	"encoding/base64"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"connectrpc.com/connect"
	"google.golang.org/protobuf/types/known/structpb"
)

// maxStoreID bounds the ids in a store's input, in bytes. The longest that
// bridges make have fewer than 100.
const maxStoreID = 512

// maxRecordNesting is how deep a record may be nested. It leaves room around
// arguments and results of tools, which have [maxNesting] levels at most.
const maxRecordNesting = 10 * maxNesting

// storeInput is the input of a call. What a later version adds is ignored.
type storeInput map[string]*structpb.Value

func invalidInput(format string, args ...any) error {
	return connect.NewError(connect.CodeInvalidArgument, fmt.Errorf(format, args...))
}

// text returns the first of the fields that is text and not empty.
func (in storeInput) text(names ...string) string {
	for _, name := range names {
		if s := in[name].GetStringValue(); s != "" {
			return s
		}
	}
	return ""
}

// texts returns a list of texts, or the one of the second field.
func (in storeInput) texts(list, one string) ([]string, error) {
	var all []string
	for _, v := range in[list].GetListValue().GetValues() {
		s, ok := v.GetKind().(*structpb.Value_StringValue)
		if !ok || s.StringValue == "" {
			return nil, invalidInput("%s has an entry that is not an id", list)
		}
		all = append(all, s.StringValue)
	}
	if s := in.text(one); s != "" {
		all = append(all, s)
	}
	slices.Sort(all)
	return slices.Compact(all), nil
}

// count returns a number of things, 0 when it was left out.
func (in storeInput) count(names ...string) (int, error) {
	for _, name := range names {
		var n float64
		switch k := in[name].GetKind().(type) {
		case *structpb.Value_NumberValue:
			n = k.NumberValue
		case *structpb.Value_StringValue: // offsets are text
			if k.StringValue == "" {
				continue
			}
			var err error
			if n, err = strconv.ParseFloat(k.StringValue, 64); err != nil {
				return 0, invalidInput("%s is not a number", name)
			}
		default:
			continue
		}
		if n != math.Trunc(n) || n < 0 || n > math.MaxInt32 {
			return 0, invalidInput("%s is not a whole number between 0 and %d", name, math.MaxInt32)
		}
		return int(n), nil
	}
	return 0, nil
}

// checkID refuses what no bridge means as an id.
func checkID(name, id string) error {
	switch {
	case id == "":
		return invalidInput("%s is missing", name)
	case len(id) > maxStoreID:
		return invalidInput("%s has %d bytes; the limit is %d", name, len(id), maxStoreID)
	case strings.ContainsRune(id, 0):
		return invalidInput("%s has a null character", name)
	case name == "agentId" && strings.ContainsRune(id, '/'):
		return invalidInput("agentId has a '/'") // it separates the ids of a checkpoint
	}
	return nil
}

// recordID is the id of the one record that the input names.
func (in storeInput) recordID(kind RecordKind) (string, error) {
	agentID := in.text("agentId")
	switch kind {
	case RecordRun:
		runID := in.text("runId", "id")
		return runID, checkID("runId", runID)
	case RecordCheckpoint:
		blobID := in.text("blobId", "id")
		return agentID + "/" + blobID, errors.Join(checkID("agentId", agentID), checkID("blobId", blobID))
	default:
		if agentID == "" {
			agentID = in.text("id")
		}
		return agentID, checkID("agentId", agentID)
	}
}

// record is the one that the input brings, and what is answered for it.
func (in storeInput) record(kind RecordKind) (Record, *structpb.Struct, error) {
	r := Record{Kind: kind}
	var err error
	if kind == RecordCheckpoint {
		if inner := in["checkpoint"].GetStructValue(); inner != nil {
			in = inner.GetFields()
		}
		if r.ID, err = in.recordID(kind); err != nil {
			return Record{}, nil, err
		}
		r.AgentID = in.text("agentId")
		data, ok := in["data"].GetKind().(*structpb.Value_StringValue)
		if !ok {
			return Record{}, nil, invalidInput("data is missing")
		}
		if r.Data, err = base64.StdEncoding.DecodeString(data.StringValue); err != nil {
			return Record{}, nil, invalidInput("data is not base64: %v", err)
		}
		return r, nil, nil
	}
	wrapper := "agent"
	if kind == RecordRun {
		wrapper = "run"
	}
	bare := in[wrapper].GetStructValue()
	if bare == nil {
		return Record{}, nil, invalidInput("%s is missing, the record to store", wrapper)
	}
	in = bare.GetFields()
	if r.ID, err = in.recordID(kind); err != nil {
		return Record{}, nil, err
	}
	if kind == RecordRun {
		r.AgentID = in.text("agentId")
		if err := checkID("agentId", r.AgentID); err != nil {
			return Record{}, nil, err
		}
	}
	if r.Data, err = encodeMessage(structpb.NewStructValue(bare), maxRecordNesting); err != nil {
		return Record{}, nil, invalidInput("%s cannot be stored: %v", wrapper, err)
	}
	return r, bare, nil
}
