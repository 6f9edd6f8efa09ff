package reproduce

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/dsp-go/dsp/structured"
	"github.com/dsp-go/dsp/structured/sys/host"
	"github.com/dsp-go/dsp/train"
)

// Options are what Reproduce needs besides the figures.
type Options struct {
	Out     string // folder for all files; finished runs found there are not trained again
	Figures []string
	Seeds   int  // runs of each curve; 0: as many as the figure says
	Quick   bool // shrink the figures as they say
	Threads int  // runs at the same time; 0: one per core

	Train, Dev, Test, Columns string // files of tagged text for the figures that otherwise draw it

	Version string       // of this program
	Log     *slog.Logger // gets progress; nil: silence
}

// Result is the outcome: the last object that dsp reproduce --json prints.
type Result struct {
	Out     string           `json:"out"`
	Table   string           `json:"table"` // path of the Markdown table of claims
	Figures []FigureResult   `json:"figures"`
	Counts  map[string]int   `json:"verdicts"` // claims by verdict
	tables  []*figureResults // for the table
}

// FigureResult is the outcome of one figure.
type FigureResult struct {
	Figure  string         `json:"figure"`
	Title   string         `json:"title"`
	Picture string         `json:"picture"` // path
	Curves  string         `json:"curves"`  // path of the CSV
	Claims  []ClaimResult  `json:"claims"`
	Tuned   []TunedSetting `json:"tuned,omitempty"`
}

// The files in the folder of the output, besides those of each figure.
const (
	runsFile  = "runs.jsonl"
	tableFile = "claims.md"
)

// Reproduce trains all runs of the figures that are not in the folder o.Out yet, and writes there for each figure a
// picture, the curves as CSV and its YAML, and a table that says which claims agree.
//
// All figures are checked before any training. When ctx ends, finished runs are kept, and the error is
// train.ErrInterrupted; the same call continues.
func Reproduce(ctx context.Context, figures []*Figure, o Options) (*Result, error) {
	result, err := reproduce(ctx, figures, o)
	if errors.Is(err, train.ErrInterrupted) || errors.Is(err, context.Canceled) {
		err = fmt.Errorf("%w: finished runs are kept; the same command continues", train.ErrInterrupted)
	}
	return result, err
}

func reproduce(ctx context.Context, figures []*Figure, o Options) (*Result, error) {
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	figures, err := chosen(figures, o.Figures)
	if err != nil {
		return nil, err
	}
	if err := os.MkdirAll(o.Out, 0o777); err != nil {
		return nil, structured.BadInput("--out: %w", err)
	}
	p := newPlanner(o)
	for _, f := range figures {
		if err := p.check(ctx, f); err != nil {
			return nil, err
		}
	}
	log, err := openRuns(filepath.Join(o.Out, runsFile))
	if err != nil {
		return nil, err
	}
	if n := log.others(o.Version); n > 0 {
		o.Log.Warn(fmt.Sprintf("%d of the %d finished runs in %s are by another version of dsp; remove the "+
			"file to train them again", n, len(log.runs),
			log.Name()))
	}
	result := &Result{Out: o.Out, Table: filepath.Join(o.Out, tableFile), Counts: map[string]int{}}
	for _, f := range figures {
		r, err := p.figure(ctx, f, log)
		if err == nil {
			err = p.write(f, r, result)
		}
		if err != nil {
			return nil, errors.Join(err, log.Close())
		}
	}
	return result, log.Close()
}

// chosen returns the figures of those names, all without names.
func chosen(figures []*Figure, names []string) ([]*Figure, error) {
	if len(names) == 0 {
		return figures, nil
	}
	var all []*Figure
	var there []string
	for _, f := range figures {
		there = append(there, f.Name)
		if slices.Contains(names, f.Name) {
			all = append(all, f)
		}
	}
	for _, name := range names {
		if !slices.Contains(there, name) {
			return nil, structured.BadInput("--figure %s: there is no such figure; there are %s", name,
				strings.Join(there, ", "))
		}
	}
	return all, nil
}

// write writes the files of a figure, and the table of all figures so far.
func (p *planner) write(f *Figure, r *figureResults, to *Result) error {
	at := func(ending string) string { return filepath.Join(p.o.Out, "figure"+f.Name+ending) }
	out := FigureResult{Figure: f.Name, Title: f.Title, Picture: at(".png"), Curves: at(".csv"),
		Claims: r.claims(), Tuned: r.tuned}
	picture := r.picture(out.Claims)
	for _, path := range []string{out.Picture, at(".svg")} {
		if err := picture.Write(path); err != nil {
			return err
		}
	}
	if err := host.WriteFile(out.Curves, r.csv); err != nil {
		return err
	}
	if err := host.WriteFile(at(".yaml"), func(w io.Writer) error { _, err := w.Write(f.text); return err }); err != nil {
		return err
	}
	counts := map[string]int{}
	for _, c := range out.Claims {
		counts[c.Verdict]++
		to.Counts[c.Verdict]++
	}
	p.o.Log.Info(fmt.Sprintf("figure %s is done: %s", f.Name, summary(counts)), "picture", out.Picture)
	to.Figures = append(to.Figures, out)
	to.tables = append(to.tables, r)
	var table bytes.Buffer
	to.markdown(&table)
	return host.WriteFile(to.Table, func(w io.Writer) error { _, err := table.WriteTo(w); return err })
}
