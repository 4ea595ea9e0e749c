package config

import "strconv"

// Admission says who and how much gets in by GitHub, whatever a repository's own
// configuration allows.
type Admission struct {
	// AllowedBots are the numeric user ids of bots that may ask and command.
	AllowedBots []int64
	// The most reviews and questions in a day (UTC).
	ActorPerDay, PullPerDay, RepositoryPerDay int
}

// maxPerDay is far above what any budget is for.
const maxPerDay = 100_000

// buildAdmission reads who and how much gets in by GitHub.
func buildAdmission(v *values, p *problems) Admission {
	var a Admission
	bots, _ := v.list(EnvGitHubBots)
	for _, text := range bots {
		id, err := strconv.ParseInt(text, 10, 64)
		if err != nil || id <= 0 {
			p.add(EnvGitHubBots, "%q is not a numeric user id; https://api.github.com/users/NAME%%5Bbot%%5D shows that of a bot. Names prove nothing", text)
			continue
		}
		a.AllowedBots = append(a.AllowedBots, id)
	}
	for env, into := range map[string]*int{
		EnvGitHubPerActor: &a.ActorPerDay, EnvGitHubPerPull: &a.PullPerDay, EnvGitHubPerRepo: &a.RepositoryPerDay,
	} {
		n, err := strconv.Atoi(v.textOf(env))
		if err != nil || n < 1 || n > maxPerDay {
			p.add(env, "%q is not a whole number from 1 to %d", v.textOf(env), maxPerDay)
		}
		*into = n
	}
	return a
}
