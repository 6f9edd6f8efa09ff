package cli

import (
	"bytes"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/dsp-go/dsp/oracles/query"
)

// Answers that an oracle reports while the line is looked at are logged: the first at once, others when there was time
// to read it.
func TestInferProgress(t *testing.T) {
	var log bytes.Buffer // which the handler locks
	was := slog.Default()
	slog.SetDefault(slog.New(slog.NewTextHandler(&log, nil)))
	t.Cleanup(func() { slog.SetDefault(was) })
	console, err := os.Create(filepath.Join(t.TempDir(), "console"))
	if err != nil {
		t.Fatal(err)
	}
	defer console.Close()
	start := time.Now()
	p := newInferProgress(console, start)
	reported := make(chan struct{})
	go func() { // as an oracle does
		defer close(reported)
		for k := range 1000 {
			p.report(&query.Answer{Doing: "searching", Value: float64(k), Bound: 2000})
		}
	}()
	p.decide("auto passes over junction")
	for more := true; more; p.tick() { // as its own goroutine does, more seldom
		select {
		case <-reported:
			more = false
		default:
		}
	}
	p.end()
	text := log.String()
	if !strings.Contains(text, "auto passes over junction") || !strings.Contains(text, "msg=searching value=0 bound=2000") {
		t.Errorf("the log lacks a decision or the first answer:\n%s", text)
	}
	if n, took := strings.Count(text, "searching"), time.Since(start); n > 1+int(took/pause) {
		t.Errorf("%d lines in %v:\n%s", n, took, text)
	}
	if about, err := console.Stat(); err != nil || about.Size() > 0 {
		t.Errorf("a file that is no terminal has a line to redraw: %v, %v", about, err)
	}
}
