// Package command runs the executable of a tool's folder: with the call's input on
// its standard input, in a clean environment and a process group of its own, within
// limits of time, output, memory and file size. What it prints becomes the answer.
//
// Such a tool is trusted code of the agent's author. The limits keep its accidents
// from the rest of the machine; they are no jail.
package command
