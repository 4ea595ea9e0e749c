package sim

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
)

// graphQLObject is an object of the GraphQL schema: its fields, each a value or
// a graphQLField. A list is a []graphQLObject.
type graphQLObject map[string]any

// graphQLField computes a field from its arguments.
type graphQLField func(c *call, args object) (any, *graphQLFailure)

// graphQLFailure is one entry of the "errors" of an answer.
type graphQLFailure struct{ kind, message string }

// The failures that fields answer with.
func graphQLForbidden() *graphQLFailure {
	return &graphQLFailure{"FORBIDDEN", "Resource not accessible by integration"}
}

func graphQLNotFound(what, id string) *graphQLFailure {
	return &graphQLFailure{"NOT_FOUND", fmt.Sprintf("Could not resolve to a %s with the global id of '%s'.", what, id)}
}

// graphQLPath is where the GraphQL API is, beside the REST root.
func (g *GitHub) graphQLPath() string {
	if before, enterprise := strings.CutSuffix(g.prefix, "/api/v3"); enterprise {
		return before + "/api/graphql"
	}
	return g.prefix + "/graphql"
}

// graphQLRoot is the top of the schema, which has only what clients here use.
func (g *GitHub) graphQLRoot(operation string) graphQLObject {
	if operation == "mutation" {
		return graphQLObject{"resolveReviewThread": graphQLField(g.resolveReviewThread)}
	}
	return graphQLObject{
		"rateLimit": graphQLObject{"limit": g.pointLimit.limit, "remaining": g.pointLimit.remaining, "cost": 1},
		"repository": graphQLField(func(c *call, args object) (any, *graphQLFailure) {
			owner, _ := args["owner"].(string)
			name, _ := args["name"].(string)
			r, _, _ := g.resolve([]string{"repos", owner, name})
			if r == nil || !c.token.covers(r.id) {
				return nil, &graphQLFailure{"NOT_FOUND", fmt.Sprintf("Could not resolve to a Repository with the name '%s/%s'.", owner, name)}
			}
			return g.graphQLRepository(r), nil
		}),
	}
}

// graphQLRepository is the part of a repository that clients ask for.
func (g *GitHub) graphQLRepository(r *repository) graphQLObject {
	return graphQLObject{
		"databaseId": r.id, "nameWithOwner": r.fullName,
		"pullRequest": graphQLField(func(c *call, args object) (any, *graphQLFailure) { return g.graphQLPull(c, r, args) }),
	}
}

// answerGraphQL answers a query: with status 200 whatever is wrong with it,
// except for a body that is no query at all.
func (g *GitHub) answerGraphQL(r *http.Request, body []byte, who identity) reply {
	switch {
	case r.Method != http.MethodPost:
		return notFound().withDocs("graphql")
	case who.kind == authNone:
		return failed(http.StatusUnauthorized, "This endpoint requires you to be authenticated.").withDocs("graphql")
	case who.kind == authApp:
		return failed(http.StatusUnauthorized, "Bad credentials").withDocs("graphql")
	}
	if rep, refused := g.graphQLLimited(who); refused {
		return rep
	}
	var in struct {
		Query     *string `json:"query"`
		Variables object  `json:"variables"`
	}
	if err := json.Unmarshal(body, &in); err != nil {
		return failed(http.StatusBadRequest, "Problems parsing JSON").withDocs("graphql")
	}
	if in.Query == nil {
		return graphQLErrors(graphQLFailure{"", "A query attribute must be specified and must be a string."})
	}
	doc, err := parseGraphQL(*in.Query)
	if err != nil {
		return graphQLErrors(graphQLFailure{"", err.Error()})
	}
	run := &graphQLRun{call: &call{g: g, r: r, body: body, inst: who.inst, token: who.token}, vars: in.Variables}
	data := run.object(g.graphQLRoot(doc.operation), doc.fields, nil)
	if run.invalid != "" { // at GitHub nothing has happened then
		return graphQLErrors(graphQLFailure{"", run.invalid})
	}
	answer := object{"data": data}
	if len(run.errors) > 0 {
		answer["errors"] = run.errors
	}
	if doc.operation == "mutation" {
		g.notify()
	}
	return ok(answer)
}

// graphQLLimited says that the quota is used up, which GraphQL does with 200.
func (g *GitHub) graphQLLimited(who identity) (reply, bool) {
	g.pointLimit.refill(g.opts.Now())
	if g.pointLimit.remaining > 0 {
		return reply{}, false
	}
	return graphQLErrors(graphQLFailure{"RATE_LIMITED", "API rate limit exceeded for " + who.label() + "."}), true
}

func graphQLErrors(failures ...graphQLFailure) reply {
	var list []object
	for _, f := range failures {
		list = append(list, f.json(nil))
	}
	return ok(object{"data": nil, "errors": list})
}

func (f graphQLFailure) json(path []any) object {
	o := object{"message": f.message, "locations": []object{{"line": 1, "column": 1}}}
	if f.kind != "" {
		o["type"] = f.kind
	}
	if path != nil {
		o["path"] = path
	}
	return o
}

// graphQLRun resolves the fields of one query.
type graphQLRun struct {
	call    *call
	vars    object
	errors  []object
	invalid string
}

// object resolves a selection of an object's fields, and no others.
func (run *graphQLRun) object(from graphQLObject, fields []graphQLSelection, path []any) object {
	out := object{}
	for _, f := range fields {
		value, known := from[f.name]
		if !known {
			run.invalid = fmt.Sprintf("Field '%s' doesn't exist", f.name)
			return nil
		}
		at := append(path[:len(path):len(path)], f.alias)
		if compute, isField := value.(graphQLField); isField {
			args := object{}
			for name, v := range f.args {
				args[name] = v.value(run.vars)
			}
			var failure *graphQLFailure
			if value, failure = compute(run.call, args); failure != nil {
				run.errors = append(run.errors, failure.json(at))
				value = nil
			}
		}
		out[f.alias] = run.value(value, f, at)
	}
	return out
}

func (run *graphQLRun) value(value any, f graphQLSelection, at []any) any {
	switch v := value.(type) {
	case graphQLObject:
		if len(f.fields) == 0 {
			run.invalid = fmt.Sprintf("Field '%s' must have a selection of subfields", f.name)
			return nil
		}
		return run.object(v, f.fields, at)
	case []graphQLObject:
		list := []any{}
		for i, o := range v {
			list = append(list, run.object(o, f.fields, append(at[:len(at):len(at)], i)))
		}
		return list
	}
	return value
}
