package cli

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"sync"
	"time"

	"golang.org/x/term"

	"github.com/dsp-go/dsp/oracles/query"
)

// inferProgress tells how a search gets on: decisions, better answers and stages as lines of the log; on a terminal
// also a last line that is redrawn.
type inferProgress struct {
	mu       sync.Mutex
	console  *os.File
	start    time.Time
	terminal bool
	latest   *query.Answer
	logged   query.Answer
	loggedAt time.Time
	drawn    bool
	stop     chan struct{} // nil where nothing is told
	stopped  chan struct{}
}

// How often a line is redrawn, and the least time between lines of the log.
const (
	redraw = 200 * time.Millisecond
	pause  = 500 * time.Millisecond
)

func newInferProgress(console *os.File, start time.Time) *inferProgress {
	p := &inferProgress{console: console, start: start, terminal: term.IsTerminal(int(console.Fd()))}
	if !slog.Default().Enabled(context.Background(), slog.LevelInfo) {
		return p
	}
	p.stop, p.stopped = make(chan struct{}), make(chan struct{})
	go func() {
		defer close(p.stopped)
		tick := time.NewTicker(redraw)
		defer tick.Stop()
		for {
			select {
			case <-tick.C:
				p.tick()
			case <-p.stop:
				return
			}
		}
	}()
	return p
}

// decide logs a decision.
func (p *inferProgress) decide(what string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.clear()
	slog.Info(what)
}

// report takes an answer, and logs it where it is better than the last one or begins a stage, once the last line is old
// enough.
func (p *inferProgress) report(a *query.Answer) {
	p.mu.Lock()
	defer p.mu.Unlock()
	b := *a
	p.latest = &b
	p.log()
}

func (p *inferProgress) log() {
	a, now := p.latest, time.Now()
	if a == nil || a.Doing == p.logged.Doing && a.Value == p.logged.Value || now.Sub(p.loggedAt) < pause {
		return
	}
	p.clear()
	p.logged, p.loggedAt = *a, now
	slog.Info(a.Doing, "value", digits(a.Value), "bound", digits(a.Bound), "gap", fmt.Sprintf("%.2g", a.Gap()), "seconds", fmt.Sprintf("%.1f", now.Sub(p.start).Seconds()))
}

// tick logs what was too early for it, and redraws the line.
func (p *inferProgress) tick() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.log(); p.latest == nil || !p.terminal {
		return
	}
	a := p.latest
	line := []rune(fmt.Sprintf("%4.0fs  gap %.3g: %.8g to %.8g  %s", time.Since(p.start).Seconds(), a.Gap(), a.Value, a.Bound, a.Doing))
	if a.Nodes > 0 {
		line = append(line, []rune(fmt.Sprintf(", %d nodes", a.Nodes))...)
	}
	columns, _, err := term.GetSize(int(p.console.Fd()))
	if err != nil {
		columns = 80
	}
	p.clear()
	fmt.Fprintf(p.console, "%s", string(line[:max(0, min(len(line), columns-1))]))
	p.drawn = true
}

// clear removes the line that is redrawn.
func (p *inferProgress) clear() {
	if p.drawn {
		fmt.Fprint(p.console, "\r\x1b[K")
		p.drawn = false
	}
}

// end stops redrawing.
func (p *inferProgress) end() {
	if p.stop != nil {
		close(p.stop)
		<-p.stopped
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.clear()
}
