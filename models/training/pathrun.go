package training

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"

	"github.com/dsp-go/dsp/models/config"
	"github.com/dsp-go/dsp/models/settings"
	"github.com/dsp-go/dsp/structured"
	"github.com/dsp-go/dsp/structured/sys/host"
	"github.com/dsp-go/dsp/structured/sys/safetensors"
	"github.com/dsp-go/dsp/train"
	"github.com/dsp-go/dsp/train/engine"
	"github.com/dsp-go/dsp/train/regpath"
)

// trainPath trains for strengths between the ends until the path is as good as asked for everywhere. Each begins at the
// weights of the nearest strength before. A finished breakpoint is kept; the one that an interrupt ends is lost.
func (r *Run) trainPath(ctx context.Context) (*Result, error) {
	defer r.close()
	c, by := &r.config, r.problem.Objective
	if d, ok := c.Optimiser(); !ok || !d.Certified || by.Partial() {
		return nil, structured.BadInput("--path needs a certificate, which --method %s does not give here; use --net "+
			"linear, known labels and a convex method", c.Method)
	}
	p := &pathRun{Run: r, n: float64(max(1, by.Data.Len()))}
	if err := p.begin(); err != nil {
		return nil, err
	}
	for {
		C, ok := p.next()
		if !ok {
			break
		}
		if err := p.solve(ctx, C); err != nil {
			return nil, r.advise(err)
		}
	}
	return p.end()
}

// pathRun is a path in progress.
type pathRun struct {
	*Run
	n      float64 // λ = C/n
	points []Breakpoint
}

// begin reads what an interrupted run has finished.
func (p *pathRun) begin() error {
	c := &p.config
	if err := writeConfig(c); err != nil {
		return err
	}
	for _, dir := range []string{pathFolder, checkpointFolder} {
		if err := os.MkdirAll(filepath.Join(c.Out, dir), 0o777); err != nil {
			return err
		}
	}
	if err := p.identify(); err != nil {
		return err
	}
	path := filepath.Join(c.Out, pathFile)
	text, err := os.ReadFile(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return err
	}
	if err := json.Unmarshal(text, &p.points); err != nil {
		return structured.BadInput("%s: expected a list of breakpoints: %w", path, err)
	}
	p.o.Log.Info("the path goes on", "breakpoints", len(p.points))
	return nil
}

// identify refuses to go on with a path of other data: its breakpoints would bound another objective.
func (p *pathRun) identify() error {
	path, now, was := filepath.Join(p.config.Out, checkpointFolder, identityFile), p.identity(), map[string]string{}
	text, err := os.ReadFile(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return host.WriteFile(path, func(w io.Writer) error { return json.NewEncoder(w).Encode(now) })
	case err != nil:
		return err
	}
	if err := json.Unmarshal(text, &was); err != nil {
		return structured.BadInput("%s: expected what the path was trained on: %w", path, err)
	}
	for _, name := range slices.Sorted(maps.Keys(now)) {
		if was[name] != now[name] && !slices.Contains(config.PathSettings, name) {
			return structured.BadInput("--resume %s: its path is of another %s: %s, not %s; start a new run",
				p.config.Out, name, cmp.Or(was[name], "none"), now[name])
		}
	}
	return nil
}

// known returns what bounds the path.
func (p *pathRun) known() []regpath.Point {
	points := make([]regpath.Point, len(p.points))
	for k, x := range p.points {
		points[k] = regpath.Point{Lambda: x.Reg / p.n, Primal: float64(x.Objective), Dual: float64(x.Dual),
			Square: x.Square}
	}
	return points
}

// next returns the C to train for next: first the ends, the larger before, then wherever the path is worst.
func (p *pathRun) next() (C float64, ok bool) {
	c := &p.config
	switch len(p.points) {
	case 0:
		return c.PathHigh, true
	case 1:
		return c.PathLow, true
	}
	λ, ok := regpath.Next(p.known(), c.PathError)
	if !ok {
		return 0, false
	}
	C, _ = strconv.ParseFloat(strconv.FormatFloat(λ*p.n, 'g', 3, 64), 64) // a short name
	_, taken := p.find(C)
	return C, !taken && C > c.PathLow && C < c.PathHigh
}

// find returns the place of a strength among the breakpoints.
func (p *pathRun) find(C float64) (int, bool) {
	return slices.BinarySearchFunc(p.points, C, func(x Breakpoint, C float64) int { return cmp.Compare(x.Reg, C) })
}

// raw is the file of the weights of a breakpoint, until the path is finished.
func (p *pathRun) raw(C float64) string {
	return filepath.Join(p.config.Out, checkpointFolder, fmt.Sprintf("reg-%v.safetensors", C))
}

func (p *pathRun) weights(C float64) ([]float32, error) {
	f, err := safetensors.Read(p.raw(C))
	if err != nil {
		return nil, err
	}
	return safetensors.Values[float32](f, "w", p.problem.Scorer.Dim())
}

// farthest is the largest ratio of two strengths of which one begins at the weights of the other: beyond, a start from
// nothing is nearer.
const farthest = 100

// solve trains for C, and saves what it finds.
func (p *pathRun) solve(ctx context.Context, C float64) error {
	c := p.config
	k, _ := p.find(C)
	w, run := slices.Clone(p.model.W), c.Run()
	if len(p.points) > 0 { // from the nearest
		near := min(k, len(p.points)-1)
		if k > 0 && (k == len(p.points) || C/p.points[k-1].Reg < p.points[k].Reg/C) {
			near = k - 1
		}
		if from := p.points[near].Reg; max(C/from, from/C) <= farthest {
			var err error
			if w, err = p.weights(from); err != nil {
				return err
			}
			run.Continues = true
		}
	}
	p.problem.Lambda = C / p.n
	d, _ := c.Optimiser()
	method, err := d.New(run)
	if err != nil {
		return err
	}
	trainer := &train.Trainer{Problem: p.problem, Method: method, Passes: c.Passes, Gap: float64(c.Gap), Lazy: c.Lazy()}
	out, err := trainer.Run(ctx, newState(w))
	if err != nil {
		return err
	}
	at := Breakpoint{
		Reg: C, Certificate: certificateOf(out.Last), Square: p.square(out.W), Passes: out.Last.Pass,
		Seconds: out.Last.Seconds,
		Nonzero: engine.Nonzeros(out.W), Model: filepath.Join(c.Out, pathFolder, fmt.Sprintf("reg-%v.safetensors", C)),
	}
	if at.Dev, at.Test, err = p.evaluate(ctx, out.W); err != nil {
		return err
	}
	m := p.ModelWith(out.W)
	m.Config.Reg = settings.Strength(C)
	if err := m.Save(at.Model); err != nil {
		return err
	}
	f := &safetensors.File{Tensors: map[string]safetensors.Tensor{}}
	safetensors.Add(f, "w", out.W, len(out.W))
	if err := safetensors.Write(p.raw(C), f); err != nil {
		return err
	}
	p.points = slices.Insert(p.points, k, at)
	known := p.known()
	for k := range p.points {
		from, to := regpath.Ends(known, k)
		p.points[k].From, p.points[k].To = from*p.n, to*p.n
	}
	about := []any{"reg", C, "passes", at.Passes, "objective",
		fmt.Sprintf("%.5g", float64(at.Objective)), "gap", fmt.Sprintf("%.2g", float64(at.RelativeGap)),
		"error_of_path", fmt.Sprintf("%.2g", regpath.Error(known))}
	if name, e := at.Dev.Error(); !math.IsNaN(e) {
		about = append(about, "dev_"+name, fmt.Sprintf("%.2f %%", 100*e))
	}
	p.o.Log.Info("breakpoint", about...)
	return host.WriteFile(filepath.Join(c.Out, pathFile), func(w io.Writer) error {
		e := json.NewEncoder(w)
		e.SetIndent("", " ")
		return e.Encode(p.points)
	})
}

// square returns ‖w − c‖².
func (p *pathRun) square(w []float32) float64 {
	s := 0.0
	for j, x := range w {
		d := float64(x)
		if p.problem.Center != nil {
			d -= float64(p.problem.Center[j])
		}
		s += d * d
	}
	return s
}
