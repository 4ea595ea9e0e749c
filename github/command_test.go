package github

import (
	"strings"
	"testing"
)

func TestParseCommand(t *testing.T) {
	t.Parallel()
	ask := func(argument string) command { return command{Verb: "ask", Argument: argument, Addressed: true} }
	is := func(verb string) command { return command{Verb: verb, Addressed: true} }
	none := command{}
	tests := map[string]struct {
		body string
		want command
	}{
		// By our name, anywhere.
		"question":                    {"@liaison why?", ask("why?")},
		"in the middle":               {"Hello, @liaison, why?", ask("why?")},
		"name last":                   {"What do you think, @liaison?", ask("")},
		"name and nothing else":       {" @liaison ", is("help")},
		"verb alone":                  {"@liaison review", is("review")},
		"verb with a wish":            {"@liaison, review again please!", is("review")},
		"verb after words":            {"Thanks. @liaison stop.", is("stop")},
		"verb in capitals":            {"@Liaison STOP", is("stop")},
		"all of it":                   {"@liaison review full", command{Verb: "review", Argument: "full", Addressed: true}},
		"a verb in a sentence":        {"@liaison review the tests only", ask("review the tests only")},
		"stop in a sentence":          {"@liaison stop words are missing here", ask("stop words are missing here")},
		"as a bot":                    {"@liaison[bot] help", is("help")},
		"config":                      {"@liaison config", is("config")},
		"explain":                     {"@liaison explain", is("explain")},
		"in bold":                     {"**@liaison** review", is("review")},
		"in brackets":                 {"(@liaison review)", ask("review)")},
		"in a list":                   {"- one\n- @liaison review", is("review")},
		"in a table":                  {"| a |\n|---|\n| @liaison stop |", is("stop")},
		"in a heading":                {"## @liaison stop", is("stop")},
		"carriage returns":            {"@liaison\tstop\r\nthanks", is("stop")},
		"a space of another script":   {"@liaison\u3000stop", is("stop")},
		"a no-break space":            {"\u00a0@liaison\u00a0stop", is("stop")},
		"after a sign of Japanese":    {"はい、@liaison stop", is("stop")},
		"the second line of a text":   {"I see.\n@liaison stop", is("stop")},
		"a full stop after the name":  {"Thanks @liaison.", ask("")},
		"a dash after the name":       {"@liaison – why?", ask("why?")},
		"only the first counts":       {"@liaison stop\n\n/liaison review", is("stop")},
		"only the first on a line":    {"@liaison why? @liaison stop", ask("why? @liaison stop")},
		"ours beside somebody else's": {"@mona @liaison stop", is("stop")},

		// Not our name.
		"somebody else":              {"@mona review", none},
		"the beginning of a name":    {"@liaison-two review", none},
		"a name with a digit":        {"@liaison2 review", none},
		"a name with an underscore":  {"@liaison_x review", none},
		"a team":                     {"@liaison/team review", none},
		"a host":                     {"@liaison.example review", none},
		"the end of a name":          {"x@liaison review", none},
		"a mail address":             {"mail me@liaison now", none},
		"a path":                     {"see https://example.com/@liaison review", none},
		"two at signs":               {"@@liaison review", none},
		"escaped":                    {`\@liaison review`, none},
		"an entity":                  {"&#64;liaison review", none},
		"a wide sign":                {"\uff20liaison review", none},
		"a wide letter":              {"@\uff4ciaison review", none},
		"a Kelvin sign":              {"@lia\u0131son review", none},
		"a Cyrillic letter":          {"@li\u0430ison review", none},
		"a zero width inside":        {"@li\u200baison review", none},
		"a zero width after":         {"@liaison\u200breview", none},
		"a zero width before":        {"x\u200b@liaison review", none},
		"a soft hyphen":              {"@liai\u00adson review", none},
		"a turn of direction":        {"\u202e@liaison review", none},
		"possessive":                 {"@liaison's review was good", none},
		"half of a suffix":           {"@liaison[bo] review", none},
		"another bot":                {"@liaison[bot]x review", none},
		"without the sign":           {"liaison review", none},
		"a quotation":                {"> @liaison stop\n\nNo.", none},
		"the rest of a quotation":    {"> so\n@liaison stop", none},
		"a quotation in a list":      {"- > @liaison stop", none},
		"a quotation of a quotation": {"> > /liaison stop", none},
		"code":                       {"Write `@liaison stop` to stop.", none},
		"a block of code":            {"```\n@liaison stop\n/liaison stop\n```", none},
		"a block that never ends":    {"~~~\n@liaison stop", none},
		"indented code":              {"text\n\n    /liaison stop", none},
		"an HTML comment":            {"<!-- @liaison stop -->", none},
		"a comment in a line":        {"so <!-- @liaison stop --> it is", none},
		"a comment over lines":       {"<!--\n/liaison stop\n\n@liaison stop\n-->", none},
		"an HTML block":              {"<div>\n@liaison stop\n</div>", none},
		"HTML code":                  {"so <code>@liaison stop</code>", none},
		"HTML code that never ends":  {"so <code>it is\n\n@liaison stop", none},
		"an HTML quotation":          {"<blockquote>\n\n@liaison stop\n\n</blockquote>", none},
		"after an HTML quotation":    {"<blockquote>\n\nso\n\n</blockquote>\n\n@liaison stop", is("stop")},
		"struck out":                 {"~~@liaison stop~~", none},
		"the text of a link":         {"[@liaison stop](https://example.com)", none},
		"the target of a link":       {"[so](https://example.com/@liaison)", none},
		"the title of a link":        {`[so](https://example.com "@liaison stop")`, none},
		"an image":                   {"![@liaison stop](x.png)", none},
		"a link in brackets":         {"<https://example.com/@liaison>", none},
		"a definition":               {"[x]: /y '@liaison stop'", none},
		"nothing":                    {"", none},
		"white":                      {" \n\t\n", none},

		// By "/liaison", at the beginning of a line.
		"slash":                       {"/liaison review", is("review")},
		"slash in capitals":           {"/Liaison Review", is("review")},
		"slash on a later line":       {"So.\n/liaison stop\nThanks.", is("stop")},
		"slash, indented":             {"   /liaison stop", is("stop")},
		"slash with an argument":      {"/liaison explain the loop", command{Verb: "explain", Argument: "the loop", Addressed: true}},
		"slash, all":                  {"/liaison review ALL", command{Verb: "review", Argument: "ALL", Addressed: true}},
		"slash question":              {"/liaison ask why?", ask("why?")},
		"slash question below":        {"/liaison ask\nwhy?", ask("")},
		"slash question, empty":       {"/liaison ask", is("help")},
		"slash alone":                 {"/liaison", is("help")},
		"slash with a stop":           {"/liaison stop!", is("stop")},
		"slash, unknown":              {"/liaison dance now", command{Verb: "dance", Argument: "now", Addressed: true}},
		"slash, unknown and foreign":  {"/liaison täns", command{Verb: "täns", Addressed: true}},
		"slash, unknown and long":     {"/liaison " + strings.Repeat("x", 500), is(strings.Repeat("x", maxVerb))},
		"slash, a wide verb":          {"/liaison \uff53top", is("\uff53top")},
		"slash before a name":         {"/liaison review\n@liaison stop", is("review")},
		"slash in the middle":         {"please /liaison stop", none},
		"slash in a list":             {"- /liaison stop", none},
		"slash in a heading":          {"# /liaison stop", none},
		"slash and more":              {"/liaisons stop", none},
		"slash and a sign":            {"/liaison-stop", none},
		"slash of a wide kind":        {"\uff0fliaison stop", none},
		"slash after nothing visible": {"\u200b/liaison stop", none},

		// Bare words come last, and are not addressed.
		"bare":                         {"/review", command{Verb: "review"}},
		"bare stop":                    {"OK\n/stop", command{Verb: "stop"}},
		"bare question":                {"/ask why?", command{Verb: "ask", Argument: "why?"}},
		"bare question, empty":         {"/ask", none},
		"bare with an argument":        {"/review full", command{Verb: "review", Argument: "full"}},
		"bare, after it one for us":    {"/review\n@liaison stop", is("stop")},
		"bare, unknown":                {"/retest", none},
		"bare help is others' as well": {"/help", none},
		"bare config, too":             {"/config", none},
		"bare in the middle":           {"do /review", none},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, ok := parseCommand(tt.body, "liaison", true)
			if got != tt.want || ok != (tt.want != none) {
				t.Errorf("%q: got %+v, %v; want %+v", tt.body, got, ok, tt.want)
			}
		})
	}
}

func TestBareWordsNeedToBeWanted(t *testing.T) {
	t.Parallel()
	if got, ok := parseCommand("/review", "liaison", false); ok {
		t.Errorf("got %+v", got)
	}
}

// Until GitHub has told our handle, or where it is another one.
func TestHandle(t *testing.T) {
	t.Parallel()
	if got, ok := parseCommand("@liaison stop, @ stop", "", true); ok {
		t.Errorf("no handle is known, and it is %+v", got)
	}
	if got, ok := parseCommand("/liaison stop", "", true); !ok || got.Verb != verbStop {
		t.Errorf("without a handle: %+v, %v", got, ok)
	}
	if got, ok := parseCommand("@liaison stop", "acme-bot", true); ok {
		t.Errorf("another's handle: %+v", got)
	}
	if got, ok := parseCommand("@Acme-Bot stop", "acme-bot", true); !ok || got.Verb != verbStop {
		t.Errorf("our handle: %+v, %v", got, ok)
	}
}

// A text that would cost too much to read says nothing.
func TestCostlyTextSaysNothing(t *testing.T) {
	t.Parallel()
	for name, body := range map[string]string{
		"nesting": strings.Repeat("> ", 60) + "x\n\n@liaison stop",
		"links":   strings.Repeat("[x](", 60) + "\n\n@liaison stop",
	} {
		if got, ok := parseCommand(body, "liaison", true); ok {
			t.Errorf("%s: %+v", name, got)
		}
	}
}

func TestArgumentIsOneBoundedLine(t *testing.T) {
	t.Parallel()
	for _, n := range []int{maxTitle - 1, maxTitle, maxTitle + 1} {
		got, _ := parseCommand("/liaison ask "+strings.Repeat("e", n), "liaison", true)
		if want := min(n, maxTitle); len(got.Argument) != want {
			t.Errorf("%d bytes become %d", n, len(got.Argument))
		}
	}
	if got, _ := parseCommand("@liaison a\u2028b\x00c", "liaison", true); strings.ContainsAny(got.Argument, "\u2028\x00\n") {
		t.Errorf("argument %q", got.Argument)
	}
}

func FuzzParseCommand(f *testing.F) {
	for _, body := range []string{
		"@liaison review", "/liaison stop", "/review", "> @liaison stop", "```\n@liaison\n```", "<!-- @liaison -->",
		"<code>@liaison</code> @liaison[bot] ask", "[@liaison](x) ~~@liaison~~", "| @liaison |\n|-|", "- [ ] @liaison stop",
	} {
		f.Add(body)
	}
	f.Fuzz(func(t *testing.T, body string) {
		got, ok := parseCommand(body, "liaison", true)
		switch {
		case !ok && got != (command{}):
			t.Errorf("nothing was said, and it is %+v", got)
		case ok && (got.Verb == "" || strings.ContainsAny(got.Verb+got.Argument, "\n\r\x00")):
			t.Errorf("got %+v", got)
		case ok && got.Addressed && !strings.Contains(strings.ToLower(body), "liaison"):
			t.Errorf("nobody named us: %+v", got)
		case ok && len(got.Argument) > maxTitle:
			t.Errorf("an argument of %d bytes", len(got.Argument))
		}
		// What is quoted is never said. A line end in a quotation starts another line of it.
		quoted := "> " + strings.Join(strings.FieldsFunc(body, func(r rune) bool { return r == '\n' || r == '\r' }), "\n> ")
		if said, ok := parseCommand(quoted, "liaison", true); ok {
			t.Errorf("a quotation is a command: %+v", said)
		}
	})
}
