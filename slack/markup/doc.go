// Package markup turns what an agent wrote in Markdown into what Slack takes:
// complete, readable and harmless.
//
// [Render] makes the messages of an answer: cleaned Markdown for a markdown
// block, and mrkdwn as the text that notifications show and that is left where
// blocks are refused. [Mrkdwn] and [Plain] make single texts, for cards,
// ephemeral answers and response URLs, which take no markdown blocks. [Split]
// cuts Markdown into parts that each stand for themselves.
//
// Nothing that is written in a text can call anybody: every function passes it
// through [Neutralise] first. A mention that the host wants is a value of its
// own, see [Options].
package markup
