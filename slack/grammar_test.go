package slack

import "testing"

// A whole message to us can be a verb; a sentence that only begins with one is a question.
func TestSpokenVerbs(t *testing.T) {
	t.Parallel()
	const pull = "https://github.com/octo/shop/pull/7"
	for text, want := range map[string]struct {
		verb     verb
		argument string
	}{
		"stop":                   {verbStop, ""},
		"Stop!":                  {verbStop, ""},
		" *STOP* ":               {verbStop, ""},
		"cancel":                 {verbStop, ""},
		"please stop.":           {verbStop, ""},
		"stop, please":           {verbStop, ""},
		"stop the server":        {verbAsk, ""},
		"why did it stop":        {verbAsk, ""},
		"stop stop":              {verbAsk, ""},
		"ſtop":                   {verbAsk, ""}, // a long s, which becomes ours in capitals
		"help":                   {verbHelp, ""},
		"Help?":                  {verbHelp, ""},
		"help me with the build": {verbAsk, ""},
		"status":                 {verbStatus, ""},
		"review " + pull:         {verbReview, pull},
		"Review: <" + pull + ">": {verbReview, pull},
		"please review <" + pull + "|octo/shop#7>": {verbReview, pull},
		"review <https://e.com/?a=1&amp;b=2>":      {verbReview, "https://e.com/?a=1&b=2"},
		"review " + pull + " with care":            {verbAsk, ""},
		"review this":                              {verbAsk, ""},
		"review <@U1>":                             {verbAsk, ""},
		"review":                                   {verbAsk, ""},
		"":                                         {verbAsk, ""},
	} {
		if v, argument := spokenVerb(text); v != want.verb || argument != want.argument {
			t.Errorf("%q: got %s %q", text, v, argument)
		}
	}
}

// Behind "/liaison" stands a verb, or else a question.
func TestCommandVerbs(t *testing.T) {
	t.Parallel()
	const pull = "https://github.com/octo/shop/pull/7"
	for text, want := range map[string]struct {
		verb     verb
		argument string
	}{
		"":                        {verbHelp, ""},
		"help":                    {verbHelp, ""},
		"HELP!":                   {verbHelp, ""},
		"ask":                     {verbHelp, ""},
		"ask why?":                {verbAsk, "why?"},
		"ask: why?":               {verbAsk, "why?"},
		"why does it fail?":       {verbAsk, "why does it fail?"},
		"help me":                 {verbAsk, "help me"},
		"status":                  {verbStatus, ""},
		"status of the build":     {verbAsk, "status of the build"},
		"stop":                    {verbStop, ""},
		"cancel":                  {verbStop, ""},
		"stop the press":          {verbAsk, "stop the press"},
		"review":                  {verbReview, ""},
		"review " + pull:          {verbReview, pull},
		"review <" + pull + "|x>": {verbReview, pull},
		"review " + pull + " now": {verbReview, pull},
		"review my code":          {verbAsk, "review my code"},
	} {
		if v, argument := commandVerb(text); v != want.verb || argument != want.argument {
			t.Errorf("%q: got %s %q", text, v, argument)
		}
	}
}
