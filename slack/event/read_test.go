package event_test

import (
	"encoding/json"
	"net/url"
	"reflect"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/liaison-bot/liaison/slack/event"
)

const (
	jsonType = "application/json"
	formType = "application/x-www-form-urlencoded"
)

// callback reads an event that stands in an envelope with the fields of extra.
func callback(t *testing.T, inner, extra string) event.Callback {
	t.Helper()
	body := `{"type":"event_callback","team_id":"T1","api_app_id":"A1","event_id":"Ev1","event_time":1700000000,` +
		`"authorizations":[{"enterprise_id":null,"team_id":"T1","user_id":"UBOT","is_bot":true}]` + extra + `,"event":` + inner + `}`
	d, err := event.Read(jsonType, []byte(body))
	if err != nil || d.Callback == nil {
		t.Fatalf("%s: %+v, %v", body, d, err)
	}
	return *d.Callback
}

func interaction(t *testing.T, payload string) event.Interaction {
	t.Helper()
	d, err := event.Read(formType, []byte("payload="+url.QueryEscape(payload)))
	if err != nil || d.Interaction == nil {
		t.Fatalf("%s: %+v, %v", payload, d, err)
	}
	return *d.Interaction
}

// An odd field costs itself and nothing else: a number where a text belongs, a text
// where a number does, a list where an object does.
func TestOddFieldCostsOnlyItself(t *testing.T) {
	t.Parallel()
	const rest = `"type":"message","channel":"C1","user":"U1","text":"hi","ts":"1.1"`
	for name, field := range map[string]string{
		"file size a text":          `"files":[{"id":"F1","size":"12"}]`,
		"files an object":           `"files":{"id":"F1"}`,
		"attachment ts a number":    `"attachments":[{"ts":1.5}]`,
		"attachment ts a word":      `"attachments":[{"ts":"x"}]`,
		"metadata payload a list":   `"metadata":{"event_payload":[]}`,
		"blocks a text":             `"blocks":"x"`,
		"section text a text":       `"blocks":[{"type":"section","text":"x"}]`,
		"unknown element":           `"blocks":[{"type":"actions","elements":[{"type":"new_widget"}]},{"type":"context","elements":[7,null]}]`,
		"edited a text":             `"edited":"yes"`,
		"bot profile null":          `"bot_profile":null`,
		"thread_ts null":            `"thread_ts":null`,
		"subtype a list":            `"subtype":[]`,
		"user profile of any kind":  `"user_profile":[1]`,
		"a forged name in capitals": `"USER":"U2","TEXT":"forged","Ts":"9.9"`,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			m := callback(t, "{"+rest+","+field+"}", "").Event.Message
			if m.Channel != "C1" || m.User != "U1" || m.Text != "hi" || m.TS != "1.1" || m.Thread != "" || m.FromApp {
				t.Errorf("got %+v", m)
			}
		})
	}
}

// A ts that comes as a number keeps its digits.
func TestNumbersForTexts(t *testing.T) {
	t.Parallel()
	m := callback(t, `{"type":"message","channel":"C1","user":"U1","text":5,"ts":1700000000.123456,"files":[{"id":"F1","size":"12"},{"id":7,"size":-1}]}`, "").Event.Message
	want := []event.File{{ID: "F1", Size: 12}, {ID: "7"}}
	if m.TS != "1700000000.123456" || m.Text != "5" || !reflect.DeepEqual(m.Files, want) {
		t.Errorf("got %+v", m)
	}
}

func TestEventTime(t *testing.T) {
	t.Parallel()
	for field, want := range map[string]time.Time{
		`1700000000`:        time.Unix(1700000000, 0).UTC(),
		`"1700000000"`:      time.Unix(1700000000, 0).UTC(),
		`null`:              {},
		`"x"`:               {},
		`-5`:                {},
		`1e99`:              {},
		`99999999999999999`: {},
	} {
		if got := callback(t, `{"type":"message"}`, `,"event_time":`+field).Time; !got.Equal(want) {
			t.Errorf("%s: %v", field, got)
		}
	}
}

// Whom a delivery is for is in its authorization; in a shared channel team_id can be
// the workspace of who wrote.
func TestInstallation(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		extra string
		want  event.Installation
	}{
		"one workspace":         {``, event.Installation{Team: "T1", App: "A1", BotUser: "UBOT"}},
		"team of who wrote":     {`,"team_id":"T_OTHER"`, event.Installation{Team: "T1", App: "A1", BotUser: "UBOT"}},
		"authorizations null":   {`,"authorizations":null`, event.Installation{Team: "T1", App: "A1"}},
		"authorizations empty":  {`,"authorizations":[]`, event.Installation{Team: "T1", App: "A1"}},
		"authorizations a hole": {`,"authorizations":[null,7]`, event.Installation{Team: "T1", App: "A1"}},
		"context before sender": {`,"authorizations":null,"team_id":"T_OTHER","context_team_id":"T1"`, event.Installation{Team: "T1", App: "A1"}},
		"organisation":          {`,"authorizations":[{"enterprise_id":"E1","team_id":null,"user_id":"UBOT","is_bot":true,"is_enterprise_install":true}]`, event.Installation{Team: "T1", Enterprise: "E1", App: "A1", BotUser: "UBOT"}},
		"in an organisation":    {`,"authorizations":[{"enterprise_id":"E1","team_id":"T1","user_id":"UBOT","is_bot":true,"is_enterprise_install":"false"}]`, event.Installation{Team: "T1", App: "A1", BotUser: "UBOT"}},
		"a person's token":      {`,"authorizations":[{"team_id":"T1","user_id":"U1","is_bot":false}]`, event.Installation{Team: "T1", App: "A1"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got := callback(t, `{"type":"message"}`, tt.extra).Installation; got != tt.want {
				t.Errorf("got %+v, want %+v", got, tt.want)
			}
		})
	}
}

// An organisation's click names no team, and says so in more ways than one.
func TestInstallationOfAClick(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		payload string
		want    event.Installation
	}{
		"one workspace":      {`{"team":{"id":"T1"},"user":{"id":"U1","team_id":"T1"},"is_enterprise_install":false}`, event.Installation{Team: "T1"}},
		"organisation":       {`{"team":null,"enterprise":{"id":"E1"},"is_enterprise_install":true,"user":{"id":"U1","team_id":"T1"}}`, event.Installation{Team: "T1", Enterprise: "E1"}},
		"organisation, bare": {`{"team":null,"enterprise":{"id":"E1"},"is_enterprise_install":true,"user":{"id":"U1"}}`, event.Installation{Enterprise: "E1"}},
		"flag a text, true":  {`{"team":{"id":"T1"},"enterprise":{"id":"E1"},"is_enterprise_install":"true"}`, event.Installation{Team: "T1", Enterprise: "E1"}},
		"flag a text, false": {`{"team":{"id":"T1"},"enterprise":{"id":"E1"},"is_enterprise_install":"false"}`, event.Installation{Team: "T1"}},
		"user a text":        {`{"team":{"id":"T1"},"user":"U1"}`, event.Installation{Team: "T1"}},
		"nothing":            {`{}`, event.Installation{}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got := interaction(t, tt.payload).Installation; got != tt.want {
				t.Errorf("got %+v, want %+v", got, tt.want)
			}
		})
	}
}

// "state" has been a list, a text and nothing where an object is documented.
func TestStateOfAnyKind(t *testing.T) {
	t.Parallel()
	for _, state := range []string{`{"values":[]}`, `{"values":{}}`, `{"values":null}`, `{}`, `""`, `"x"`, `[]`, `null`, `7`, `{"values":{"b":[]}}`, `{"values":{"b":{"a":7}}}`} {
		i := interaction(t, `{"type":"block_actions","team":{"id":"T1"},"user":{"id":"U1"},"state":`+state+`,"view":{"id":"V1","state":`+state+`},"actions":[{"action_id":"a","value":"v"}]}`)
		if len(i.Actions) != 1 || i.Actions[0].ID != "a" || i.Actions[0].Value != "v" || i.View.ID != "V1" || len(i.View.Inputs) != 0 {
			t.Errorf("%s: got %+v", state, i)
		}
	}
}

func TestInputs(t *testing.T) {
	t.Parallel()
	i := interaction(t, `{"type":"view_submission","view":{"state":{"values":{"1":{"said":{"value":"hello"},"none":{"value":null}},"2":{"picked":{"selected_option":{"value":"x"}},"where":{"selected_conversation":"C1"}}}}}}`)
	want := map[string]string{"said": "hello", "picked": "x", "where": "C1"}
	if !reflect.DeepEqual(i.View.Inputs, want) {
		t.Errorf("got %v", i.View.Inputs)
	}
}

// Where a click was is told by its message, or where Slack sends none by its container.
func TestPlaceOfAClick(t *testing.T) {
	t.Parallel()
	for name, payload := range map[string]string{
		"message":   `{"channel":{"id":"C1"},"message":{"ts":"1.2","thread_ts":"1.1"}}`,
		"container": `{"container":{"channel_id":"C1","message_ts":"1.2","thread_ts":"1.1"}}`,
		"both":      `{"channel":{"id":"C1"},"container":{"channel_id":"C1","message_ts":"1.2","thread_ts":"1.1"},"message":{"ts":"1.2"}}`,
	} {
		if i := interaction(t, payload); i.Channel != "C1" || i.MessageTS != "1.2" || i.Thread != "1.1" {
			t.Errorf("%s: got %+v", name, i)
		}
	}
}

// A message without a text has that of its blocks, in Slack's notation, whatever
// else is among them.
func TestTextOfBlocks(t *testing.T) {
	t.Parallel()
	rich := func(elements string) string {
		return `{"type":"message","blocks":[{"type":"rich_text","elements":[` + elements + `]}]}`
	}
	for name, tt := range map[string]struct{ message, want string }{
		"text first":     {`{"text":"said","blocks":[{"type":"section","text":{"text":"shown"}}]}`, "said"},
		"section":        {`{"text":"","blocks":[{"type":"divider"},{"type":"section","text":{"type":"mrkdwn","text":"*shown* &lt;"}},{"type":"header","text":{"text":"more"}}]}`, "*shown* &lt;\nmore"},
		"markdown":       {`{"blocks":[{"type":"markdown","text":"a < b"}]}`, "a &lt; b"},
		"mention":        {rich(`{"type":"rich_text_section","elements":[{"type":"user","user_id":"UBOT"},{"type":"text","text":" is 1 < 2 & 3?"}]}`), "<@UBOT> is 1 &lt; 2 &amp; 3?"},
		"others":         {rich(`{"type":"rich_text_section","elements":[{"type":"channel","channel_id":"C1"},{"type":"text","text":" "},{"type":"usergroup","usergroup_id":"S1"},{"type":"broadcast","range":"here"},{"type":"emoji","name":"eyes"},{"type":"date","fallback":"today"},{"type":"color","value":"#fff"}]}`), "<#C1> <!subteam^S1><!here>:eyes:today"},
		"links":          {rich(`{"type":"rich_text_section","elements":[{"type":"link","url":"https://e.com/a|b>c","text":"see <this>"},{"type":"text","text":" "},{"type":"link","url":"https://e.com"},{"type":"link","text":"bare"}]}`), "<https://e.com/a%7Cb%3Ec|see &lt;this&gt;> <https://e.com>bare"},
		"list":           {rich(`{"type":"rich_text_section","elements":[{"type":"text","text":"do"}]},{"type":"rich_text_list","elements":[{"type":"rich_text_section","elements":[{"type":"text","text":"one"}]},{"type":"rich_text_section","elements":[{"type":"text","text":"two"}]}]}`), "do\n• one\n• two"},
		"quote and code": {rich(`{"type":"rich_text_quote","elements":[{"type":"text","text":"said"}]},{"type":"rich_text_preformatted","elements":[{"type":"text","text":"x := 1"}]}`), "&gt; said\n```x := 1```"},
		"a later year":   {`{"text":"","blocks":[null,7,{"type":"from_2027"},{"type":"rich_text","elements":[{"type":"from_2027"},{"type":"rich_text_section","elements":[{"type":"from_2027"},{"type":"text","text":"hi"}]}]}]}`, "hi"},
		"attachment":     {`{"text":"","bot_id":"B1","attachments":[{"text":"disk full"},{"fallback":"a picture"}]}`, "disk full\na picture"},
		"forwarded":      {`{"text":"","user":"U1","attachments":[{"text":"somebody else's words"}]}`, ""},
		"nothing":        {`{"text":" ","blocks":[]}`, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got := callback(t, tt.message, "").Event.Message.Text; got != tt.want {
				t.Errorf("got  %q\nwant %q", got, tt.want)
			}
		})
	}
}

// However much a payload holds, and however deep, what is made of it is bounded.
func TestBoundedReading(t *testing.T) {
	t.Parallel()
	deep := strings.Repeat(`{"type":"rich_text_list","elements":[`, 500) + `{"type":"text","text":"deep"}` + strings.Repeat(`]}`, 500)
	if got := callback(t, `{"blocks":[{"type":"rich_text","elements":[`+deep+`]}]}`, "").Event.Message.Text; got != "" {
		t.Errorf("got %q", got)
	}
	long := `{"type":"rich_text","elements":[{"type":"rich_text_section","elements":[{"type":"text","text":"` + strings.Repeat("é", 30_000) + `"}]}]}`
	got := callback(t, `{"blocks":[`+long+`,`+long+`]}`, "").Event.Message.Text
	if len(got) > 40_000 || len(got) < 39_000 || !utf8.ValidString(got) {
		t.Errorf("%d bytes", len(got))
	}
	files := strings.Repeat(`{"id":"F1","name":"`+strings.Repeat("é", 500)+`"},`, 100) + `{"id":"F2"}`
	all := callback(t, `{"files":[`+files+`]}`, "").Event.Message.Files
	if len(all) != 20 || len(all[0].Name) > 255 || !utf8.ValidString(all[0].Name) {
		t.Errorf("%d files, the first named %d bytes", len(all), len(all[0].Name))
	}
}

// A list of files has holes, and what was deleted leaves a stone.
func TestFilesWithHoles(t *testing.T) {
	t.Parallel()
	m := callback(t, `{"files":[{"id":"F1","mode":"hosted","name":"a","mimetype":"text/plain","url_private":"https://files.slack.com/p"},{"id":"F2","mode":"tombstone"},null,{"mode":"hosted"},{"id":"F3","mode":"hidden_by_limit"},{"id":"F4","is_external":true}]}`, "").Event.Message
	want := []event.File{{ID: "F1", Name: "a", MIME: "text/plain", URL: "https://files.slack.com/p"}, {ID: "F4", External: true}}
	if !reflect.DeepEqual(m.Files, want) {
		t.Errorf("got %+v", m.Files)
	}
}

func TestPlain(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"a &lt;b&gt; &amp;amp; c":             "a <b> &amp; c",
		"<https://e.com/x>":                   "https://e.com/x",
		"<https://e.com/x|e.com/x>":           "https://e.com/x",
		"<https://e.com/x|the page>":          "the page (https://e.com/x)",
		"<https://e.com/?a=1&amp;b=2|q>":      "q (https://e.com/?a=1&b=2)",
		"<mailto:a@e.com|a@e.com>":            "a@e.com",
		"<@U1> and <@U2|bob>":                 "<@U1> and @bob",
		"<#C1> and <#C2|general>":             "#C1 and #general",
		"<!here> <!subteam^S1|@team>":         "@here @team",
		"<!subteam^S1>":                       "@subteam",
		"<!date^1700000000^{date}|yesterday>": "yesterday",
		"&lt;@U1&gt; is no mention":           "<@U1> is no mention",
		"never closed <https://e.com":         "never closed <https://e.com",
		"":                                    "",
	} {
		if got := event.Plain(text); got != want {
			t.Errorf("%q: got %q, want %q", text, got, want)
		}
	}
}

func TestCutMention(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ text, user, want string }{
		{"<@UBOT> hi", "UBOT", "hi"},
		{" <@UBOT|liaison>: hi ", "UBOT", "hi"},
		{"<@UBOT><@UBOT>, hi", "UBOT", "hi"},
		{"<@U2> hi <@UBOT>", "UBOT", "<@U2> hi <@UBOT>"},
		{"<@UBOTX> hi", "UBOT", "<@UBOTX> hi"},
		{"<@U2> <@U3> hi", "", "<@U3> hi"},
		{"hi", "", "hi"},
		{"<@UBOT", "UBOT", "<@UBOT"},
	} {
		if got := event.CutMention(tt.text, tt.user); got != tt.want {
			t.Errorf("%q without %q: got %q, want %q", tt.text, tt.user, got, tt.want)
		}
	}
	for text, want := range map[string]bool{"x <@UBOT> y": true, "<@UBOT|l>": true, "<@UBOTX>": false, "&lt;@UBOT&gt;": false, "": false} {
		if event.Mentions(text, "UBOT") != want || event.Mentions(text, "") {
			t.Errorf("%q", text)
		}
	}
}

func TestNamesOfSlacksKind(t *testing.T) {
	t.Parallel()
	for s, want := range map[string][3]bool{ // as an id, a word and a ts
		"C0123ABC":                {true, true, false},
		"T_OTHER":                 {true, true, false},
		"1700000000.000100":       {false, true, true},
		"1700000000":              {true, true, true},
		"1.1.1":                   {false, true, false},
		".1":                      {false, true, false},
		"1e9":                     {true, true, false},
		"-1.1":                    {false, true, false},
		"a:b":                     {false, false, false},
		"a b":                     {false, false, false},
		"<!here>":                 {false, false, false},
		"é":                       {false, false, false},
		strings.Repeat("1", 65):   {false, false, false},
		"app_home_opened/v2-beta": {false, true, false},
	} {
		if got := [3]bool{event.ID(s) == s, event.Word(s) == s, event.TS(s) == s}; got != want {
			t.Errorf("%q: got %v, want %v", s, got, want)
		}
	}
}

// FuzzRead holds that what is read of any payload is bounded, and made of clean ids.
func FuzzRead(f *testing.F) {
	f.Add(jsonType, []byte(`{"type":"event_callback","team_id":"T1","authorizations":[{"team_id":"T1","is_bot":true,"user_id":"U1"}],"event":{"type":"message","text":"","files":[null,{"id":"F1"}],"blocks":[{"type":"rich_text","elements":[{"type":"rich_text_section","elements":[{"type":"text","text":"x"}]}]}]}}`))
	f.Add(jsonType, []byte(`{"type":"event_callback","event":{"type":"message","subtype":"message_changed","message":{"ts":1.5},"previous_message":{}}}`))
	f.Add(formType, []byte("payload="+url.QueryEscape(`{"type":"block_actions","team":null,"state":{"values":[]},"actions":[{"action_id":"a"}]}`)))
	f.Add(formType, []byte("command=%2Fliaison&team_id=T1&text=a"))
	f.Fuzz(func(t *testing.T, contentType string, body []byte) {
		d, err := event.Read(contentType, body)
		if err != nil {
			return
		}
		if d.Name == "" || len(d.Name) > 200 {
			t.Errorf("named %q", d.Name)
		}
		ids := func(ids ...string) {
			for _, id := range ids {
				if event.ID(id) != id {
					t.Errorf("id %q", id)
				}
			}
		}
		switch {
		case d.Callback != nil:
			c := d.Callback
			ids(c.Team, c.Enterprise, c.App, c.BotUser, c.Event.Message.Channel, c.Event.Message.User)
			if event.TS(c.Event.Message.TS) != c.Event.Message.TS || len(c.Event.Message.Files) > 20 {
				t.Errorf("got %+v", c.Event)
			}
		case d.Interaction != nil:
			i := d.Interaction
			ids(i.Team, i.Enterprise, i.User, i.Channel)
			if event.TS(i.MessageTS) != i.MessageTS || len(i.Actions) > 25 {
				t.Errorf("got %+v", i)
			}
		case d.Command != nil:
			ids(d.Command.Team, d.Command.User, d.Command.Channel)
		}
		if _, err := json.Marshal(d); err != nil {
			t.Error(err)
		}
	})
}

// FuzzPlain holds that a text grows by no more than the words for what stood in
// brackets, and that one without any is unchanged.
func FuzzPlain(f *testing.F) {
	f.Add("<@U1> &lt;x&gt; <https://e.com|l> <!here>")
	f.Add("<<<>>>|<|>")
	f.Fuzz(func(t *testing.T, text string) {
		got := event.Plain(text)
		if len(got) > 2*len(text)+len("@") {
			t.Errorf("%d bytes of %d", len(got), len(text))
		}
		if !strings.ContainsAny(text, "<>&") && got != text {
			t.Errorf("%q became %q", text, got)
		}
	})
}
