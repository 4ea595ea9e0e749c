//go:build !race

package main_test

// raceFlag builds the binary under test without the race detector.
const raceFlag = "-race=false"
