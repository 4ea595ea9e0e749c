package sim

import (
	"fmt"
	"slices"
	"strconv"
)

// maxGraphQLNodes is the most that a connection gives at once.
// https://docs.github.com/graphql/overview/rate-limits-and-query-limits-for-the-graphql-api#node-limit
const maxGraphQLNodes = 100

// graphQLPull is the part of a pull request that clients ask for.
func (g *GitHub) graphQLPull(c *call, r *repository, args object) (any, *graphQLFailure) {
	number, _ := args["number"].(float64)
	p := r.pulls[int(number)]
	switch {
	case !c.token.grants("pull_requests:read"):
		return nil, graphQLForbidden()
	case p == nil:
		return nil, &graphQLFailure{"NOT_FOUND", fmt.Sprintf("Could not resolve to a PullRequest with the number of %d.", int(number))}
	}
	return graphQLObject{
		"number": p.number,
		"reviewThreads": graphQLField(func(_ *call, args object) (any, *graphQLFailure) {
			var threads []*reviewComment
			for _, k := range p.reviewComments {
				if k.thread() == k && g.shown(k) {
					threads = append(threads, k)
				}
			}
			return graphQLConnection(threads, args, g.graphQLThread)
		}),
	}, nil
}

// graphQLConnection is one page of a list; the cursor is the place in it.
func graphQLConnection[T any](all []T, args object, render func(T) graphQLObject) (any, *graphQLFailure) {
	first, _ := args["first"].(float64)
	if first < 1 || first > maxGraphQLNodes {
		return nil, &graphQLFailure{"EXCESSIVE_PAGINATION", fmt.Sprintf("Requesting %d records on the connection exceeds the limit of %d records.", int(first), maxGraphQLNodes)}
	}
	after, _ := args["after"].(string)
	from, _ := strconv.Atoi(after)
	from = min(max(from, 0), len(all))
	to := min(len(all), from+int(first))
	nodes := []graphQLObject{}
	for _, v := range all[from:to] {
		nodes = append(nodes, render(v))
	}
	return graphQLObject{
		"totalCount": len(all), "nodes": nodes,
		"pageInfo": graphQLObject{"hasNextPage": to < len(all), "endCursor": strconv.Itoa(to)},
	}, nil
}

// graphQLThread is a thread by its first comment.
func (g *GitHub) graphQLThread(k *reviewComment) graphQLObject {
	return graphQLObject{
		"id": nodeID("PullRequestReviewThread", k.id), "isResolved": k.resolved, "isOutdated": k.lineNow() == 0, "path": k.Path,
		"comments": graphQLField(func(_ *call, args object) (any, *graphQLFailure) {
			var talk []*reviewComment
			for _, other := range k.pull.reviewComments {
				if other.thread() == k {
					talk = append(talk, other)
				}
			}
			return graphQLConnection(talk, args, func(k *reviewComment) graphQLObject {
				return graphQLObject{"databaseId": k.id, "body": k.Body}
			})
		}),
	}
}

// resolveReviewThread settles a thread. An App needs to be able to write contents
// for it. https://github.com/orgs/community/discussions/44650
func (g *GitHub) resolveReviewThread(c *call, args object) (any, *graphQLFailure) {
	in, _ := args["input"].(object)
	id, _ := in["threadId"].(string)
	for _, repo := range sortedKeys(g.repos) {
		if !c.token.covers(repo) {
			continue
		}
		for _, p := range g.repos[repo].pulls {
			i := slices.IndexFunc(p.reviewComments, func(k *reviewComment) bool {
				return k.thread() == k && nodeID("PullRequestReviewThread", k.id) == id
			})
			if i < 0 {
				continue
			}
			if !c.token.grants("contents:write") || !c.token.grants("pull_requests:write") {
				return nil, graphQLForbidden()
			}
			k := p.reviewComments[i]
			k.resolved = true
			return graphQLObject{"thread": g.graphQLThread(k)}, nil
		}
	}
	return nil, graphQLNotFound("node", id)
}
