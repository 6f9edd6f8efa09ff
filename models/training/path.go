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

	"github.com/dsp-go/dsp/models"
	"github.com/dsp-go/dsp/models/config"
	"github.com/dsp-go/dsp/models/pictures/curves"
	"github.com/dsp-go/dsp/models/settings"
	"github.com/dsp-go/dsp/structured"
	"github.com/dsp-go/dsp/structured/sys/host"
	"github.com/dsp-go/dsp/structured/sys/safetensors"
	"github.com/dsp-go/dsp/train"
	"github.com/dsp-go/dsp/train/engine"
	"github.com/dsp-go/dsp/train/record"
	"github.com/dsp-go/dsp/train/regpath"
)

// The files of a regularisation path in a run folder.
const (
	pathFolder  = "path"      // a model per breakpoint
	pathFile    = "path.json" // the breakpoints, after each
	pathPicture = "path.png"  // and path.svg

	identityFile = "path-identity.json" // what its breakpoints belong to, beside their weights
)

// Path is a regularisation path.
type Path struct {
	Error  record.Number `json:"error"` // for every C between the ends, the certified relative distance to the optimum of the model for it
	Points []Breakpoint  `json:"points"`
	Best   Best          `json:"best"`
}

// Best is the breakpoint whose model is that of the run: the one with the least error on development data or, without
// such data, the one with C nearest to 1.
type Best struct {
	Reg    float64       `json:"reg"`
	Model  string        `json:"model"`            // path of the model file of the breakpoint
	Metric string        `json:"metric,omitempty"` // of which the development data have the error; empty without such data
	Error  record.Number `json:"error"`            // null without such data
}

// Breakpoint is a model of a path: that for all strengths between From and To.
type Breakpoint struct {
	Reg         float64 `json:"reg"`  // C for which it was trained
	From        float64 `json:"from"` // least C for which it is the best of the path
	To          float64 `json:"to"`   // largest
	Certificate         // at Reg
	Square      float64 `json:"square"` // ‖w − w0‖²
	Passes      int     `json:"passes"`
	Seconds     float64 `json:"seconds"`
	Nonzero     int     `json:"nonzero"`

	Dev   *structured.Metrics `json:"dev"`
	Test  *structured.Metrics `json:"test"`
	Model string              `json:"model"` // path of the model file
}

// checkPath refuses settings that do not go with a path.
func checkPath(c *config.Config) error {
	if !c.Path {
		return nil
	}
	kind, _, err := config.ParseDevice(c.Device)
	if err != nil {
		return err
	}
	switch {
	case !(c.PathLow > 0) || !(c.PathHigh > c.PathLow) || math.IsInf(c.PathHigh, 0):
		return structured.BadInput("--path-low %v and --path-high %v: expected two numbers above 0, the second larger", c.PathLow, c.PathHigh)
	case !(c.PathError > 0 && c.PathError < 1):
		return structured.BadInput("--path-error %v: expected a number between 0 and 1", c.PathError)
	case c.Given.Has("reg"):
		return structured.BadInput("--reg %v has no effect with --path, which goes from --path-low to --path-high", c.Reg)
	case c.Baselines == "on":
		return structured.BadInput("--baselines on: a path has no baselines")
	case c.Patience > 0:
		return structured.BadInput("--patience %d: with --path, every breakpoint is solved until its gap is certified", c.Patience)
	case kind == config.CUDA:
		return structured.BadInput("--device %s: a path runs on the CPU", c.Device)
	}
	if c.Resume != "" {
		was, err := ReadRun(c.Resume)
		if err != nil {
			return err
		}
		if !was.Path || was.PathLow != c.PathLow || was.PathHigh != c.PathHigh || was.PathError != c.PathError {
			return structured.BadInput("--resume %s: its path has other ends or another error; leave them out, or start a new run", c.Resume)
		}
	}
	return nil
}

// resolvePath returns c with the device and the gap of a path's breakpoints.
func resolvePath(c config.Config) config.Config {
	c.Device = config.CPU
	if c.Gap <= 0 { // auto, or never
		c.Gap = settings.Gap(c.PathError / 4)
	}
	return c
}

// trainPath trains for strengths between the ends until the path is as good as asked for everywhere. Each begins at the
// weights of the nearest strength before. A finished breakpoint is kept; the one that an interrupt ends is lost.
func (r *Run) trainPath(ctx context.Context) (*Result, error) {
	defer r.close()
	c, by := &r.config, r.problem.Objective
	if d, ok := c.Optimiser(); !ok || !d.Certified || by.Partial() {
		return nil, structured.BadInput("--path needs a certificate, which --method %s does not give here; use --net linear, known labels and a convex method", c.Method)
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
			return structured.BadInput("--resume %s: its path is of another %s: %s, not %s; start a new run", p.config.Out, name, cmp.Or(was[name], "none"), now[name])
		}
	}
	return nil
}

// known returns what bounds the path.
func (p *pathRun) known() []regpath.Point {
	points := make([]regpath.Point, len(p.points))
	for k, x := range p.points {
		points[k] = regpath.Point{Lambda: x.Reg / p.n, Primal: float64(x.Objective), Dual: float64(x.Dual), Square: x.Square}
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
		Reg: C, Certificate: certificateOf(out.Last), Square: p.square(out.W), Passes: out.Last.Pass, Seconds: out.Last.Seconds,
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
	about := []any{"reg", C, "passes", at.Passes, "objective", fmt.Sprintf("%.5g", float64(at.Objective)), "gap", fmt.Sprintf("%.2g", float64(at.RelativeGap)),
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
		Model: filepath.Join(c.Out, models.ModelFile), Path: &Path{Error: record.Number(regpath.Error(p.known())), Points: p.points, Best: bestOf(x)},
	}
	for _, x := range p.points {
		result.Passes += x.Passes
		result.Seconds += x.Seconds
	}
	result.Reason = fmt.Sprintf("for every C from %v to %v, one of %d models is certified to be within %.3g %% of the optimum", c.PathLow, c.PathHigh, len(p.points),
		100*float64(result.Path.Error))
	if float64(result.Path.Error) > c.PathError {
		p.o.Log.Warn("the path is further from the optimum than asked for; allow more passes per breakpoint", "passes", c.Passes, "path-error", c.PathError,
			"reached", p.reached())
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
	picture := &curves.Comparison{Value: name + " on dev, %", Caption: fmt.Sprintf("%d models; between them, the nearer one is certified to be close to the optimum", len(p.points))}
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
