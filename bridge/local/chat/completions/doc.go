// Package completions is a client of the chat completions protocol: POST
// /chat/completions, answered by a stream or in one piece, and GET /models
// (https://platform.openai.com/docs/api-reference/chat).
//
// It makes one request at a time and reads what comes, within [Limits]. It does
// not try again, wait, or decide what an [*Error] means; whoever runs an agent
// does. What endpoints send is read for what it is worth: a field of the wrong
// type counts as missing, and an answer is refused only when its shape is none.
package completions
