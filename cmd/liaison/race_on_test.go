//go:build race

package main_test

// raceFlag builds the binary under test with the race detector, as the tests are.
const raceFlag = "-race"
