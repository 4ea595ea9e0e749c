//go:build ignore

// This program cuts the operations and webhooks that the project uses out of
// GitHub's description of its REST API:
//
//	go run slice.go api.github.com.json slice.json
//
// scripts/contract fetches the description and calls it.
package main

import (
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strings"
)

type object = map[string]any

// operations of the description, as "METHOD path".
var operations = strings.Fields(`
get,/app get,/app/hook/config get,/app/hook/deliveries get,/app/hook/deliveries/{delivery_id}
post,/app/hook/deliveries/{delivery_id}/attempts get,/app/installations get,/app/installations/{installation_id}
post,/app/installations/{installation_id}/access_tokens get,/repos/{owner}/{repo}/installation
get,/installation/repositories delete,/installation/token get,/rate_limit get,/users/{username}
post,/app-manifests/{code}/conversions
get,/repos/{owner}/{repo} get,/repos/{owner}/{repo}/collaborators/{username}/permission
get,/repos/{owner}/{repo}/collaborators/{username}
get,/repos/{owner}/{repo}/pulls get,/repos/{owner}/{repo}/pulls/{pull_number}
get,/repos/{owner}/{repo}/pulls/{pull_number}/files get,/repos/{owner}/{repo}/pulls/{pull_number}/commits
get,/repos/{owner}/{repo}/pulls/{pull_number}/reviews get,/repos/{owner}/{repo}/pulls/{pull_number}/comments
post,/repos/{owner}/{repo}/pulls/{pull_number}/reviews get,/repos/{owner}/{repo}/pulls/{pull_number}/reviews/{review_id}
delete,/repos/{owner}/{repo}/pulls/{pull_number}/reviews/{review_id}
get,/repos/{owner}/{repo}/pulls/{pull_number}/reviews/{review_id}/comments
post,/repos/{owner}/{repo}/pulls/{pull_number}/reviews/{review_id}/events
put,/repos/{owner}/{repo}/pulls/{pull_number}/reviews/{review_id}/dismissals
get,/repos/{owner}/{repo}/pulls/comments/{comment_id} patch,/repos/{owner}/{repo}/pulls/comments/{comment_id}
delete,/repos/{owner}/{repo}/pulls/comments/{comment_id}
get,/repos/{owner}/{repo}/pulls/comments/{comment_id}/reactions
post,/repos/{owner}/{repo}/pulls/comments/{comment_id}/reactions
delete,/repos/{owner}/{repo}/pulls/comments/{comment_id}/reactions/{reaction_id}
post,/repos/{owner}/{repo}/pulls/{pull_number}/comments/{comment_id}/replies
get,/repos/{owner}/{repo}/issues/{issue_number}/reactions post,/repos/{owner}/{repo}/issues/{issue_number}/reactions
delete,/repos/{owner}/{repo}/issues/{issue_number}/reactions/{reaction_id}
get,/repos/{owner}/{repo}/issues get,/repos/{owner}/{repo}/issues/{issue_number}
get,/repos/{owner}/{repo}/issues/{issue_number}/labels get,/repos/{owner}/{repo}/issues/{issue_number}/timeline
post,/repos/{owner}/{repo}/issues/{issue_number}/labels delete,/repos/{owner}/{repo}/issues/{issue_number}/labels/{name}
get,/repos/{owner}/{repo}/labels/{name} put,/repos/{owner}/{repo}/pulls/{pull_number}/merge
get,/repos/{owner}/{repo}/pulls/{pull_number}/requested_reviewers post,/repos/{owner}/{repo}/pulls/{pull_number}/requested_reviewers
get,/orgs/{org}/teams/{team_slug}/memberships/{username}
get,/repos/{owner}/{repo}/issues/{issue_number}/comments post,/repos/{owner}/{repo}/issues/{issue_number}/comments
get,/repos/{owner}/{repo}/issues/comments/{comment_id} patch,/repos/{owner}/{repo}/issues/comments/{comment_id}
delete,/repos/{owner}/{repo}/issues/comments/{comment_id}
get,/repos/{owner}/{repo}/issues/comments/{comment_id}/reactions
post,/repos/{owner}/{repo}/issues/comments/{comment_id}/reactions
delete,/repos/{owner}/{repo}/issues/comments/{comment_id}/reactions/{reaction_id}
post,/repos/{owner}/{repo}/check-runs get,/repos/{owner}/{repo}/check-runs/{check_run_id}
patch,/repos/{owner}/{repo}/check-runs/{check_run_id}
get,/repos/{owner}/{repo}/check-runs/{check_run_id}/annotations
get,/repos/{owner}/{repo}/commits/{ref}/check-runs get,/repos/{owner}/{repo}/commits/{ref}/check-suites
get,/repos/{owner}/{repo}/commits/{commit_sha}/pulls get,/repos/{owner}/{repo}/commits/{ref}
post,/repos/{owner}/{repo}/statuses/{sha} get,/repos/{owner}/{repo}/commits/{ref}/statuses
get,/repos/{owner}/{repo}/commits/{ref}/status get,/repos/{owner}/{repo}/compare/{basehead} get,/repos/{owner}/{repo}/contents/{path}
get,/repos/{owner}/{repo}/git/blobs/{file_sha} get,/repos/{owner}/{repo}/git/trees/{tree_sha}
`)

// webhooks of the description, as "event.action".
var webhooks = strings.Fields(`
ping pull_request.opened pull_request.reopened pull_request.synchronize pull_request.closed pull_request.ready_for_review
pull_request.converted_to_draft pull_request.edited pull_request.labeled pull_request.unlabeled pull_request.review_requested
issue_comment.created issue_comment.edited issue_comment.deleted issues.opened issues.labeled issues.edited issues.transferred
pull_request_review.submitted pull_request_review_comment.created check_run.rerequested check_run.requested_action
check_suite.rerequested check_suite.completed status workflow_run.completed merge_group.checks_requested merge_group.destroyed
installation.created installation.deleted installation.suspend installation.unsuspend installation.new_permissions_accepted
installation_repositories.added installation_repositories.removed installation_target.renamed
repository.renamed repository.transferred repository.deleted
`)

// forgottenNulls are fields that GitHub sends as null for a deleted account, a
// deleted fork or an outdated comment, although the description gives them a type.
var forgottenNulls = strings.Fields(`
pull-request.user pull-request.head.user pull-request.head.repo
pull-request-review-comment.line pull-request-review-comment.position
`)

func main() {
	if len(os.Args) != 3 {
		fail(fmt.Errorf("usage: go run slice.go api.github.com.json slice.json"))
	}
	b, err := os.ReadFile(os.Args[1])
	fail(err)
	var doc object
	fail(json.Unmarshal(b, &doc))
	s := slicer{doc: doc, schemas: object{}}
	out := object{
		"source":  "github.com/octokit/openapi, api.github.com.json, version " + doc["info"].(object)["version"].(string),
		"licence": "MIT License, Copyright (c) 2020 Octokit contributors",
	}
	ops := object{}
	for _, name := range operations {
		method, path, _ := strings.Cut(name, ",")
		op, known := doc["paths"].(object)[path].(object)[method].(object)
		if !known {
			fail(fmt.Errorf("the description has no %s %s", method, path))
		}
		ops[strings.ToUpper(method)+" "+path] = s.operation(op)
	}
	// The list has a copy of an installation's schema in which an account is a person
	// and an enterprise at once.
	ops["GET /app/installations"].(object)["responses"].(object)["200"] = object{
		"type": "array", "items": object{"$ref": "#/schemas/installation"},
	}
	hooks := object{}
	for _, name := range webhooks {
		hook, known := doc["x-webhooks"].(object)[strings.ReplaceAll(strings.ReplaceAll(name, ".", "-"), "_", "-")].(object)
		if !known {
			fail(fmt.Errorf("the description has no webhook %s", name))
		}
		hooks[name] = s.body(hook["post"].(object)["requestBody"])
	}
	for _, path := range forgottenNulls {
		s.allowNull(strings.Split(path, "."))
	}
	out["operations"], out["webhooks"], out["schemas"] = ops, hooks, s.schemas
	b, err = json.Marshal(out)
	fail(err)
	fail(os.WriteFile(os.Args[2], b, 0o600))
}

// allowNull lets a property of a schema be null.
func (s slicer) allowNull(path []string) {
	o := s.schemas[path[0]].(object)
	for i, name := range path[1:] {
		fields := o["properties"].(object)
		if i == len(path)-2 {
			fields[name] = object{"anyOf": []any{fields[name], object{"type": "null"}}}
			return
		}
		o = fields[name].(object)
	}
}

type slicer struct {
	doc     object
	schemas object
}

func (s slicer) operation(op object) object {
	responses := object{}
	for code, r := range op["responses"].(object) {
		if schema := s.body(r); schema != nil {
			responses[code] = schema
		} else {
			responses[code] = true
		}
	}
	o := object{"responses": responses, "query": s.query(op)}
	if schema := s.body(op["requestBody"]); schema != nil {
		o["request"] = schema
	}
	return o
}

// query are the schemas of the parameters in an operation's query, by name.
func (s slicer) query(op object) object {
	all := object{}
	parameters, _ := op["parameters"].([]any)
	for _, p := range parameters {
		o := p.(object)
		if ref, is := o["$ref"].(string); is {
			o = s.find(ref).(object)
		}
		if o["in"] == "query" {
			all[o["name"].(string)] = s.schema(o["schema"])
		}
	}
	return all
}

// body is the JSON schema of a request's or response's content, nil for none.
func (s slicer) body(v any) any {
	o, _ := v.(object)
	if ref, is := o["$ref"].(string); is {
		o = s.find(ref).(object)
	}
	content, _ := o["content"].(object)
	media, _ := content["application/json"].(object)
	if media == nil {
		return nil
	}
	return s.schema(media["schema"])
}

func (s slicer) find(ref string) any {
	var v any = s.doc
	for _, part := range strings.Split(strings.TrimPrefix(ref, "#/"), "/") {
		v = v.(object)[part]
	}
	return v
}

// schema turns an OpenAPI 3.0 schema into a JSON schema, and follows references.
func (s slicer) schema(v any) any {
	switch v := v.(type) {
	case []any:
		list := make([]any, len(v))
		for i := range v {
			list[i] = s.schema(v[i])
		}
		return list
	case object:
		return s.object(v)
	}
	return v
}

func (s slicer) object(v object) any {
	o := object{}
	for key, value := range v {
		switch key {
		case "description", "title", "example", "examples", "externalDocs", "deprecated", "default", "format", "nullable", "readOnly", "x-multi-segment", "x-github":
		case "$ref":
			name := strings.TrimPrefix(value.(string), "#/components/schemas/")
			if _, done := s.schemas[name]; !done {
				s.schemas[name] = true // against endless recursion
				s.schemas[name] = s.schema(s.find(value.(string)))
			}
			o["$ref"] = "#/schemas/" + name
		case "enum":
			// The event of a merge queue has another name than when this list was made.
			values := value.([]any)
			if slices.Contains(values, any("merge_queue_entry")) {
				values = append(slices.Clip(values), "merge_group")
			}
			o[key] = values
		case "properties":
			fields := object{}
			for field, schema := range value.(object) {
				fields[field] = s.schema(schema)
			}
			o[key] = fields
		default:
			o[key] = s.schema(value)
		}
	}
	if v["nullable"] == true {
		return object{"anyOf": []any{o, object{"type": "null"}}}
	}
	return o
}

func fail(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, "slice:", err)
		os.Exit(1)
	}
}
