package sim

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"
)

// Limits of a check run, all from
// https://docs.github.com/rest/checks/runs#create-a-check-run
const (
	maxAnnotations       = 50 // in one request
	maxActions           = 3
	maxActionLabel       = 20
	maxActionIdentifier  = 20
	maxActionDescription = 40
	maxOutputText        = 65_535 // summary and text, characters
	maxAnnotationMessage = 64 << 10
	maxAnnotationTitle   = 255
)

var (
	// appStatuses are the states that an App may set; the others are GitHub's own.
	appStatuses      = []string{"queued", "in_progress", "completed"}
	appConclusions   = []string{"action_required", "cancelled", "failure", "neutral", "success", "skipped", "timed_out"}
	annotationLevels = []string{"notice", "warning", "failure"}
)

// applyCheck checks a request and writes it into a check run. On refusal the
// run may be half written; callers work on a copy.
func (g *GitHub) applyCheck(k *CheckRun, o object) (reply, bool) {
	now := g.now()
	texts := []struct {
		field string
		into  *string
	}{
		{"name", &k.Name}, {"external_id", &k.ExternalID}, {"details_url", &k.DetailsURL},
		{"status", &k.Status}, {"conclusion", &k.Conclusion},
	}
	for _, t := range texts {
		v, present := o[t.field]
		if !present || v == nil {
			continue
		}
		s, isText := v.(string)
		if !isText {
			return invalidRequest(fmt.Sprintf("For 'properties/%s', %v is not a string.", t.field, v)), true
		}
		*t.into = s
	}
	if k.Name == "" {
		return invalidFields(fieldError{Resource: "CheckRun", Code: "missing_field", Field: "name"}), true
	}
	if v, isText := o["details_url"].(string); isText && v != "" && !isURL(v) {
		return invalidFields(fieldError{Resource: "CheckRun", Code: "invalid", Field: "details_url", Value: v, Message: "details_url must use http or https scheme"}), true
	}
	if rep, refused := applyState(k, o, now); refused {
		return rep, true
	}
	if v, present := o["output"]; present && v != nil {
		output, isObject := v.(object)
		if !isObject {
			return invalidRequest("For 'properties/output', it is not an object."), true
		}
		before := len(k.Annotations)
		if rep, refused := applyOutput(k, output); refused {
			return rep, true
		}
		for i, a := range k.Annotations[before:] {
			if g.opts.RefuseAnnotation != "" && strings.Contains(a.Title, g.opts.RefuseAnnotation) {
				return invalidRequest(fmt.Sprintf("For 'output/annotations/%d', it is not acceptable.", i)), true
			}
		}
	}
	return applyActions(k, o)
}

// applyState checks status, conclusion and times, which depend on each other.
func applyState(k *CheckRun, o object, now time.Time) (reply, bool) {
	status, hasStatus := o["status"].(string)
	conclusion, hasConclusion := o["conclusion"].(string)
	switch {
	case hasStatus && !slices.Contains(appStatuses, status):
		return invalidRequest(fmt.Sprintf("For 'properties/status', %s is not a member of %q.", status, appStatuses)), true
	case hasConclusion && !slices.Contains(appConclusions, conclusion):
		return invalidRequest(fmt.Sprintf("For 'properties/conclusion', %s is not a member of %q.", conclusion, appConclusions)), true
	case hasStatus && status == "completed" && !hasConclusion && k.Conclusion == "":
		return invalidRequest(`No subschema in "anyOf" matched.` + "\n" + `"conclusion" wasn't supplied.`), true
	}
	for field, into := range map[string]*time.Time{"started_at": &k.Started, "completed_at": &k.Completed} {
		v, present := o[field]
		if !present || v == nil {
			continue
		}
		at, err := time.Parse(time.RFC3339, fmt.Sprint(v))
		if err != nil {
			return invalidRequest(fmt.Sprintf("For 'properties/%s', %v is not a valid date-time.", field, v)), true
		}
		*into = at
	}
	switch {
	case hasConclusion: // a conclusion completes the run, whatever the status says
		k.Status = "completed"
		if k.Completed.IsZero() {
			k.Completed = now
		}
	case hasStatus && status != "completed":
		k.Conclusion, k.Completed = "", time.Time{}
	}
	return reply{}, false
}

func applyOutput(k *CheckRun, o object) (reply, bool) {
	for _, f := range []struct {
		field    string
		into     *string
		required bool
		longest  int
	}{
		{"title", &k.Title, true, maxAnnotationTitle}, {"summary", &k.Summary, true, maxOutputText}, {"text", &k.Text, false, maxOutputText},
	} {
		v, present := o[f.field]
		switch s, isText := v.(string); {
		case !present && f.required:
			return notSupplied("output/" + f.field), true
		case !present || v == nil && !f.required:
		case !isText:
			return invalidRequest(fmt.Sprintf("For 'properties/%s', %v is not a string.", f.field, v)), true
		case f.required && strings.TrimSpace(s) == "":
			return invalidFields(fieldError{Resource: "CheckRun", Code: "missing_field", Field: f.field}), true
		case utf8.RuneCountInString(s) > f.longest:
			return invalidRequest(fmt.Sprintf("Only %d characters are allowed; %d were supplied.", f.longest, utf8.RuneCountInString(s))), true
		default:
			*f.into = s
		}
	}
	v, present := o["annotations"]
	if !present || v == nil {
		return reply{}, false
	}
	list, isList := v.([]any)
	if !isList {
		return invalidRequest("For 'properties/annotations', it is not an array."), true
	}
	if len(list) > maxAnnotations {
		return invalidRequest(fmt.Sprintf("No more than %d items are allowed; %d were supplied.", maxAnnotations, len(list))), true
	}
	for i, v := range list {
		a, problem := readAnnotation(v)
		if problem != "" {
			return invalidRequest(fmt.Sprintf("For 'output/annotations/%d', %s", i, problem)), true
		}
		k.Annotations = append(k.Annotations, a) // an update adds to what is there
	}
	return reply{}, false
}

// readAnnotation returns an annotation, or what is wrong with it.
func readAnnotation(v any) (a Annotation, problem string) {
	o, isObject := v.(object)
	if !isObject {
		return a, "it is not an object."
	}
	for _, f := range []string{"path", "start_line", "end_line", "annotation_level", "message"} {
		if o[f] == nil {
			return a, `"` + f + `" wasn't supplied.`
		}
	}
	for field, into := range map[string]*string{
		"path": &a.Path, "annotation_level": &a.Level, "message": &a.Message, "title": &a.Title, "raw_details": &a.RawDetails,
	} {
		if o[field] == nil {
			continue
		}
		s, isText := o[field].(string)
		if !isText {
			return a, field + " is not a string."
		}
		*into = s
	}
	for field, into := range map[string]*int{
		"start_line": &a.StartLine, "end_line": &a.EndLine, "start_column": &a.StartColumn, "end_column": &a.EndColumn,
	} {
		if o[field] == nil {
			continue
		}
		n, isNumber := o[field].(json.Number)
		i, err := strconv.Atoi(n.String())
		if !isNumber || err != nil {
			return a, field + " is not an integer."
		}
		*into = i
	}
	switch {
	case a.Path == "" || strings.HasPrefix(a.Path, "/"):
		return a, "path is not a path of the repository."
	case !slices.Contains(annotationLevels, a.Level):
		return a, fmt.Sprintf("%s is not a member of %q.", a.Level, annotationLevels)
	case a.Message == "" || len(a.Message) > maxAnnotationMessage:
		return a, "message must have 1 byte to 64 KB."
	case utf8.RuneCountInString(a.Title) > maxAnnotationTitle:
		return a, "title is too long (maximum is 255 characters)."
	case len(a.RawDetails) > maxAnnotationMessage:
		return a, "raw_details is too long (maximum is 64 KB)."
	case a.StartLine < 1 || a.EndLine < a.StartLine:
		return a, "start_line must be at least 1 and end_line at least start_line."
	case (a.StartColumn != 0 || a.EndColumn != 0) && a.StartLine != a.EndLine:
		return a, "columns are only allowed on a single line."
	}
	return a, ""
}

// applyActions checks the buttons. They belong to a completed run.
func applyActions(k *CheckRun, o object) (reply, bool) {
	v, present := o["actions"]
	if !present || v == nil {
		return reply{}, false
	}
	list, isList := v.([]any)
	if !isList {
		return invalidRequest("For 'properties/actions', it is not an array."), true
	}
	if len(list) > maxActions {
		return invalidRequest(fmt.Sprintf("No more than %d items are allowed; %d were supplied.", maxActions, len(list))), true
	}
	if len(list) > 0 && k.Status != "completed" {
		return invalidFields(fieldError{Resource: "CheckRun", Code: "invalid", Field: "actions", Message: "actions are only allowed on a completed check run"}), true
	}
	k.Actions = nil
	for i, v := range list {
		a, _ := v.(object)
		var texts [3]string
		for j, f := range []struct {
			field   string
			longest int
		}{{"label", maxActionLabel}, {"description", maxActionDescription}, {"identifier", maxActionIdentifier}} {
			s, isText := a[f.field].(string)
			if !isText || s == "" {
				return notSupplied(fmt.Sprintf("actions/%d/%s", i, f.field)), true
			}
			if utf8.RuneCountInString(s) > f.longest {
				return invalidRequest(fmt.Sprintf("For 'actions/%d/%s', only %d characters are allowed; %d were supplied.", i, f.field, f.longest, utf8.RuneCountInString(s))), true
			}
			texts[j] = s
		}
		k.Actions = append(k.Actions, CheckAction{Label: texts[0], Description: texts[1], Identifier: texts[2]})
	}
	return reply{}, false
}
