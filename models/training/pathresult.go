package training

import (
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"path/filepath"

	"github.com/dsp-go/dsp/models"
	"github.com/dsp-go/dsp/models/pictures/curves"
	"github.com/dsp-go/dsp/models/settings"
	"github.com/dsp-go/dsp/train/record"
	"github.com/dsp-go/dsp/train/regpath"
)

// end keeps the best model and draws the picture.
func (p *pathRun) end() (*Result, error) {
	c := &p.config
	best := 0
	for k, x := range p.points {
		_, now := x.Dev.Error()
		_, least := p.points[best].Dev.Error()
		if now <= least || math.IsNaN(now) && math.Abs(math.Log(x.Reg)) < math.Abs(math.Log(p.points[best].Reg)) {
			best = k
		}
	}
	x := p.points[best]
	if w, err := p.weights(x.Reg); err == nil {
		m := p.ModelWith(w)
		m.Config.Reg = settings.Strength(x.Reg)
		if err := m.Save(filepath.Join(c.Out, models.ModelFile)); err != nil {
			return nil, err
		}
	} else if _, there := os.Stat(filepath.Join(c.Out, models.ModelFile)); there != nil { // it was not finished before
		return nil, err
	}
	for _, x := range p.points {
		if err := os.Remove(p.raw(x.Reg)); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil, err
		}
	}
	result := &Result{
		Task: c.Task, Net: c.Net, Edges: c.Edges, Method: c.Method, Oracle: oracleOf(p.model),
		Certificate: x.Certificate, Nonzero: x.Nonzero, Relaxed: p.problem.Relaxed() != "", Dev: x.Dev, Test: x.Test,
		Model: filepath.Join(c.Out, models.ModelFile),
		Path:  &Path{Error: record.Number(regpath.Error(p.known())), Points: p.points, Best: bestOf(x)},
	}
	for _, x := range p.points {
		result.Passes += x.Passes
		result.Seconds += x.Seconds
	}
	result.Reason = fmt.Sprintf("for every C from %v to %v, one of %d models is certified to be within %.3g %% of the "+
		"optimum", c.PathLow, c.PathHigh, len(p.points), 100*float64(result.Path.Error))
	if float64(result.Path.Error) > c.PathError {
		p.o.Log.Warn("the path is further from the optimum than asked for; allow more passes per breakpoint",
			"passes", c.Passes, "path-error", c.PathError, "reached", p.reached())
	}
	about := []any{"kept_reg", x.Reg}
	if by := result.Path.Best; by.Metric != "" {
		about = append(about, "dev_"+by.Metric, fmt.Sprintf("%.2f %%", 100*float64(by.Error)))
		if f1 := x.Dev.Get("f1"); !math.IsNaN(f1) {
			about = append(about, "dev_f1", fmt.Sprintf("%.2f %%", 100*f1))
		}
	} else {
		about = append(about, "why", "no development data: C is nearest to 1")
	}
	p.o.Log.Info(record.Certified(result.Reason, result.Relaxed), append(about, "model", result.Model)...)
	return result, p.draw(best)
}

// bestOf returns a breakpoint as the best one.
func bestOf(x Breakpoint) Best {
	best := Best{Reg: x.Reg, Model: x.Model, Error: record.Number(math.NaN())}
	if name, e := x.Dev.Error(); !math.IsNaN(e) {
		best.Metric, best.Error = name, record.Number(e)
	}
	return best
}

// reached says for which strengths the path is as good as asked for, as far as they reach from its upper end.
func (p *pathRun) reached() string {
	known, ε := p.known(), p.config.PathError
	k := len(known) - 1
	if known[k].Gap() > ε {
		return "nowhere"
	}
	for k > 0 {
		if _, e := regpath.Worst(known[k-1], known[k]); e > ε {
			break
		}
		k--
	}
	return fmt.Sprintf("from C = %v", p.points[k].Reg)
}

// draw draws the error on development data, or without such data the objective, against C.
func (p *pathRun) draw(best int) error {
	name, e := p.points[best].Dev.Error()
	picture := &curves.Comparison{Value: name + " on dev, %", Caption: fmt.Sprintf(
		"%d models; between them, the nearer one is certified to be close to the optimum", len(p.points))}
	line := curves.Series{Joined: true}
	for _, x := range p.points {
		_, y := x.Dev.Error()
		y *= 100
		if math.IsNaN(e) {
			y = float64(x.Objective)
		}
		line.Points = append(line.Points, curves.Point{X: x.Reg, Y: y})
	}
	picture.Title = fmt.Sprintf("The least %s is at C = %v", name, p.points[best].Reg)
	if math.IsNaN(e) {
		picture.Value, picture.Title = "objective", "The objective rises with C"
	}
	picture.Panels = []curves.Panel{{Label: "regulariser C", Log: true, Series: []curves.Series{line}}}
	path := filepath.Join(p.config.Out, pathPicture)
	return errors.Join(picture.Write(path), picture.Write(filepath.Join(p.config.Out, "path.svg")))
}
