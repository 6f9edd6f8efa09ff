package chart_test

import (
	"flag"
	"os"
	"testing"
)

// Seven references take the contract, whose samples cost most: fewer repetitions than of a kernel's own test show as
// much.
func TestMain(m *testing.M) {
	flag.Parse()
	if os.Getenv("RAPID_CHECKS") == "" {
		flag.Set("rapid.checks", "30")
	}
	os.Exit(m.Run())
}
