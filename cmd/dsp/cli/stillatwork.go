package cli

import (
	"context"
	"log/slog"
	"os"
	"sync/atomic"
	"time"

	"golang.org/x/term"

	"github.com/dsp-go/dsp/structured/sys/host"
)

// lastWord is when the log said something last, in nanoseconds (time.Time.UnixNano).
var lastWord atomic.Int64

// silence is how long the log may be silent while a verb is at work.
const silence = 10 * time.Second

// breakSilence has the log say that a verb is still at work, and how far it is, whenever it has said nothing for that
// long, until ctx ends. A terminal shows progress otherwise.
func breakSilence(ctx context.Context) {
	if term.IsTerminal(int(os.Stderr.Fd())) || !slog.Default().Enabled(ctx, slog.LevelInfo) {
		return
	}
	begun := time.Now()
	lastWord.Store(begun.UnixNano())
	go func() {
		tick := time.NewTicker(time.Second)
		defer tick.Stop()
		for {
			select {
			case now := <-tick.C:
				stillAtWork(begun, now, host.Underway())
			case <-ctx.Done():
				return
			}
		}
	}()
}

// stillAtWork says it, if the log was silent for long enough; w is the loop that is under way, or nil. One that waits
// for input is not at work.
func stillAtWork(begun, now time.Time, w *host.Work) {
	if w != nil && w.Idle() {
		return
	}
	if now.UnixNano()-lastWord.Load() < int64(silence-time.Second/2) { // the next look may be too late
		return
	}
	about := []any{"seconds", int(now.Sub(begun).Seconds())}
	if stage := host.Stage(); stage != "" {
		about = append(about, "stage", stage)
	}
	if w != nil {
		done, total, rest := w.Progress(now)
		about = append(about, "steps", done)
		if total > 0 {
			about = append(about, "of", total)
		}
		if rest > 0 {
			about = append(about, "rest", rest.Round(time.Second))
		}
	}
	slog.Info("still at work", about...)
}
