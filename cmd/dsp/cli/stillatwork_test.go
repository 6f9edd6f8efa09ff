package cli

import (
	"context"
	"log/slog"
	"os"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/dsp-go/dsp/structured/sys/host"
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
			defer host.AtStage("lemma")()
			stillAtWork(begun, begun.Add(20*time.Second), host.Underway())
		}
		return nil
	})
	if err != nil || !strings.HasPrefix(out.String(), "a word\nstill at work seconds=20 stage=lemma steps=1 of=3 rest=") {
		t.Errorf("%v, %q", err, out.String())
	}
	var next [2]bool // of two items: the second is asked for when the first was used
	err = host.InOrder(t.Context(), 1, func() (int, bool, error) {
		switch {
		case !next[0]:
			next[0] = true
			return 1, true, nil
		case !next[1]:
			next[1] = true
			for w := host.Underway(); !w.Idle(); {
				time.Sleep(time.Millisecond)
			}
			stillAtWork(begun, begun.Add(40*time.Second), host.Underway())
		}
		return 0, false, nil
	}, host.None, func(struct{}, int) (int, error) { return 0, nil }, func(int) error { return nil })
	if err != nil || strings.Count(out.String(), "\n") != 2 {
		t.Errorf("while it waits for input: %v, %q", err, out.String())
	}
	stillAtWork(begun, time.Now().Add(8*time.Second), nil)
	if strings.Count(out.String(), "\n") != 2 {
		t.Errorf("a word after eight seconds: %q", out.String())
	}
}

// A verb says that it is at work every ten seconds, until what it waits for, such as a server's models, is there.
func TestBreakSilence(t *testing.T) {
	nowhere, err := os.Open(os.DevNull) // no terminal
	if err != nil {
		t.Fatal(err)
	}
	defer nowhere.Close()
	log, console := slog.Default(), os.Stderr
	defer func() { slog.SetDefault(log); os.Stderr = console }()
	os.Stderr = nowhere
	synctest.Test(t, func(t *testing.T) {
		var out strings.Builder
		slog.SetDefault(slog.New(newLog(&out, slog.LevelInfo)))
		ctx, ready := context.WithCancel(t.Context())
		breakSilence(ctx)
		time.Sleep(35 * time.Second)
		ready()
		time.Sleep(time.Minute)
		synctest.Wait()
		if n := strings.Count(out.String(), "still at work seconds="); n != 3 || strings.Count(out.String(), "\n") != n {
			t.Errorf("%d times in 35 seconds, expected 3: %q", n, out.String())
		}
	})
}
