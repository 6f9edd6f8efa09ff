package record

import (
	"fmt"
	"io"
	"log/slog"
	"math"
	"os"
	"sync/atomic"

	"github.com/schollz/progressbar/v3"
	"golang.org/x/term"
)

// Progress is a Recorder that shows, too, what a run would keep if it were killed.
type Progress interface {
	Recorder
	Saved(pass int) // the state after a pass was written
}

// NewProgress returns the Recorder that shows progress on a console, usually standard error: on a terminal a bar with
// the remaining time, otherwise one log line per pass. The run ends after pass number passes; a resumed run has done
// some already. Runs with one log share explained, which says whether the log says what a gap is.
func NewProgress(console *os.File, log *slog.Logger, passes, done int, explained *atomic.Bool) Progress {
	if !term.IsTerminal(int(console.Fd())) {
		return &progressLog{log: log, explained: explained}
	}
	return newProgressBar(console, passes, done, func() int {
		columns, _, err := term.GetSize(int(console.Fd()))
		if err != nil {
			return 80
		}
		return columns
	})
}

const barWidth = 12

type progressBar struct {
	bar     *progressbar.ProgressBar
	console io.Writer
	passes  int        // in the whole run
	done    int        // passes done before this run
	saved   int        // the last one in a checkpoint
	columns func() int // width of the console
}

func newProgressBar(console io.Writer, passes, done int, columns func() int) *progressBar {
	bar := progressbar.NewOptions(max(1, passes-done),
		progressbar.OptionSetWriter(console),
		progressbar.OptionSetDescription("training"),
		progressbar.OptionSetWidth(barWidth),
		progressbar.OptionSetElapsedTime(true),
		progressbar.OptionSetPredictTime(true),
		progressbar.OptionSetTheme(progressbar.Theme{Saucer: "━", SaucerPadding: "─"}),
		progressbar.OptionShowDescriptionAtLineEnd(),
		progressbar.OptionSetRenderBlankState(true),
	)
	return &progressBar{bar, console, passes, done, done, columns}
}

// Record implements Recorder. It truncates text to a single line, because a second line could not be redrawn.
func (p *progressBar) Record(r Record) error {
	text := []rune(fmt.Sprintf("%d/%d (%d saved) %s", r.Pass, p.passes, p.saved, summary(r)))
	room := p.columns() - barWidth - 24 // percentage and times
	p.bar.Describe(string(text[:max(0, min(len(text), room))]))
	return p.bar.Set(min(r.Pass-p.done, p.bar.GetMax()))
}

func (p *progressBar) Saved(pass int) { p.saved = pass }

// Close implements Recorder. It moves to a new line.
func (p *progressBar) Close() error {
	_, err := fmt.Fprintln(p.console)
	return err
}

// summary describes a record in a few words.
func summary(r Record) string {
	s := "objective not computed"
	if !math.IsNaN(float64(r.Objective)) {
		s = fmt.Sprintf("objective %.4g", float64(r.Objective))
	}
	if r.Relaxed {
		s = "relaxed " + s
	}
	if _, e := r.DevError(); !math.IsNaN(e) {
		s += fmt.Sprintf(", error %.3g %%", 100*e)
	}
	if gap := r.RelativeEstimate(); !math.IsNaN(gap) {
		s += fmt.Sprintf(", gap about %.2g", gap)
	} else if gap := r.RelativeGap(); !math.IsNaN(gap) {
		s += fmt.Sprintf(", gap %.2g", gap)
	}
	return s
}

type progressLog struct {
	log       *slog.Logger
	explained *atomic.Bool // what a gap is
}

// Record implements Recorder. The first record with a gap comes with a line that says what gaps are.
func (p *progressLog) Record(r Record) error {
	if !math.IsNaN(r.RelativeGap()) && p.explained.CompareAndSwap(false, true) {
		p.log.Info("relative_gap is a proven bound on how far the objective is above its optimum, as a share of itself (1: nothing is proven yet); estimated_gap is a guess at that, made more often")
	}
	args := []any{"pass", r.Pass, "seconds", round(r.Seconds, 3)}
	if !math.IsNaN(float64(r.Objective)) {
		args = append(args, "objective", round(float64(r.Objective), 6))
	}
	if r.Relaxed {
		args = append(args, "relaxed", true)
	}
	if r.Truncated > 0 {
		args = append(args, "truncated_edges", r.Truncated)
	}
	estimate := r.RelativeEstimate()
	if gap := r.RelativeGap(); !math.IsNaN(gap) && (gap < 1 || math.IsNaN(estimate)) { // a gap of 1 beside an estimate only says that nothing is certified yet
		args = append(args, "relative_gap", round(gap, 3))
	}
	if !math.IsNaN(estimate) {
		args = append(args, "estimated_gap", round(estimate, 3))
	}
	if g := float64(r.ProxGradient); !math.IsNaN(g) {
		args = append(args, "prox_gradient", round(g, 3))
	}
	if r.Dev != nil {
		args = append(args, "dev", r.Dev.String())
	}
	p.log.Info("trained", args...)
	return nil
}

func (p *progressLog) Saved(pass int) { p.log.Info("checkpoint saved", "pass", pass) }

// Close implements Recorder; it does nothing.
func (p *progressLog) Close() error { return nil }

// round keeps the given number of significant digits.
func round(x float64, digits int) float64 {
	if x == 0 || math.IsNaN(x) || math.IsInf(x, 0) {
		return x
	}
	scale := math.Pow(10, float64(digits-1)-math.Floor(math.Log10(math.Abs(x))))
	return math.Round(x*scale) / scale
}
