// Package socket receives what Slack sends over Socket Mode, for apps that no
// webhook can reach (https://docs.slack.dev/apis/events-api/using-socket-mode).
//
// A [Client] keeps one link open and replaces it before Slack closes it. Each
// frame is stored first and acknowledged then, by the id of its envelope and
// whatever its payload is: a frame that is not acknowledged comes again. What is
// stored looks as the same thing does when it comes by HTTP, see
// [Frame.Delivery], so that nobody else has to know about sockets.
package socket
