package cli

import (
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/dsp-go/dsp/structured/machine/host"
)

// The log breaks a silence of ten seconds, with what is known of the work, and no shorter one.
func TestStillAtWork(t *testing.T) {
	before := slog.Default()
	defer slog.SetDefault(before)
	var out strings.Builder
	slog.SetDefault(slog.New(newLog(&out, slog.LevelInfo)))
	begun := time.Now()
	slog.Info("a word")
	stillAtWork(begun, begun.Add(8*time.Second), nil)
	if out.String() != "a word\n" {
		t.Fatalf("%q", out.String())
	}
	err := host.Parallel(1, 3, host.None, func(_ struct{}, k int) error {
		if k == 1 {
			stillAtWork(begun, begun.Add(20*time.Second), host.Underway())
		}
		return nil
	})
	if err != nil || !strings.HasPrefix(out.String(), "a word\nstill at work seconds=20 steps=1 of=3 rest=") {
		t.Errorf("%v, %q", err, out.String())
	}
	stillAtWork(begun, time.Now().Add(8*time.Second), nil)
	if strings.Count(out.String(), "\n") != 2 {
		t.Errorf("a word after eight seconds: %q", out.String())
	}
}
