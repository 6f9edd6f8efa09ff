package reproduce

import (
	"context"
	"fmt"
	"log/slog"
	"math"
	"slices"

	"github.com/dsp-go/dsp/models/training"
)

type figureResults struct {
	*Figure
	seeds int
	parts []partResults
	tuned []TunedSetting
	quick bool
}

type partResults struct {
	*Part
	curves []curveResults
	bound  float64 // best certified lower bound of the first curve's objective; 0 for none
}

// relaxed reports whether the oracle of some run answers with bounds, so that certificates are about a relaxed
// objective.
func (p *partResults) relaxed() bool {
	for _, c := range p.curves {
		for _, run := range c.runs {
			if n := len(run.Records); n > 0 && run.Records[n-1].Relaxed {
				return true
			}
		}
	}
	return false
}

// curveResults are the runs of a curve, one for each seed; none if no tuned value could be trained with.
type curveResults struct {
	name string
	runs []*Run
}

// TunedSetting is what was chosen for a curve.
type TunedSetting struct {
	Part   string            `json:"part"`
	Curve  string            `json:"curve"`
	Values map[string]string `json:"values"` // nil if training diverged with all of them
	Edge   bool              `json:"edge"`   // a value is the first or last of at least three: a better one may lie beyond
}

// combinations returns all combinations of the values of c's tuned settings; one that is empty where nothing is tuned.
// A quick run takes the middle ones.
func (p *planner) combinations(c Curve) []map[string]string {
	all := []map[string]string{{}}
	for _, g := range c.Tune {
		values := g.values
		if p.o.Quick {
			values = values[len(values)/2:][:1]
		}
		var more []map[string]string
		for _, head := range all {
			for _, value := range values {
				one := map[string]string{g.name: value}
				for name, v := range head {
					one[name] = v
				}
				more = append(more, one)
			}
		}
		all = more
	}
	return all
}

// check makes sure that every curve of f can be trained, as far as it shows without training.
func (p *planner) check(ctx context.Context, f *Figure) error {
	for i := range f.Parts {
		part := &f.Parts[i]
		all := part.Curves
		if part.Reference.node != nil {
			all = append(slices.Clone(all), Curve{Name: reference, Settings: part.Reference})
		}
		for _, c := range all {
			for k, tuned := range p.combinations(c) {
				u, err := p.unit(f, part, c.Name, c.Settings, tuned, 1)
				if err == nil && k == 0 {
					err = p.prepare(f, u)
				}
				if err != nil {
					return err
				}
				if err := ctx.Err(); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// prepare makes the run of a unit and drops it, which refuses settings that only the data show to be wrong.
func (p *planner) prepare(f *Figure, u *unit) error {
	data, err := p.read(f, u)
	if err == nil {
		_, err = training.NewProblem(u.config, data, training.TrainOptions{Log: slog.New(slog.DiscardHandler)})
	}
	return u.locate(err)
}

// reference is the name of the run whose dual is only used for suboptimality.
const reference = "reference"

// figure trains all runs of f: first those that choose tuned settings and the references, then those of all seeds.
func (p *planner) figure(ctx context.Context, f *Figure, log *runLog) (*figureResults, error) {
	r := &figureResults{Figure: f, seeds: p.seeds(f), quick: p.o.Quick}
	var first []*unit
	for i := range f.Parts {
		part := &f.Parts[i]
		if part.Reference.node != nil {
			u, err := p.unit(f, part, reference, part.Reference, nil, 1)
			if err != nil {
				return nil, err
			}
			first = append(first, u)
		}
		for _, c := range part.Curves {
			combinations := p.combinations(c)
			if len(combinations) == 1 {
				continue
			}
			for _, tuned := range combinations {
				u, err := p.unit(f, part, c.Name, c.Settings, tuned, 1)
				if err != nil {
					return nil, err
				}
				first = append(first, u)
			}
		}
	}
	if n := len(missing(first, log)); n > 0 {
		p.o.Log.Info(fmt.Sprintf("figure %s: %s to choose settings", f.Name, plural(n, "run")), "kept", len(first)-n)
	}
	if err := p.trainAll(ctx, f, first, log); err != nil {
		return nil, err
	}
	all, byCurve, err := p.seeded(f, r, log)
	if err != nil {
		return nil, err
	}
	if n := len(missing(all, log)); n > 0 {
		p.o.Log.Info(fmt.Sprintf("figure %s: %s", f.Name, plural(n, "run")), "kept", len(all)-n)
	}
	if err := p.trainAll(ctx, f, all, log); err != nil {
		return nil, err
	}
	p.collect(f, r, first, all, byCurve, log)
	return r, nil
}

func (p *planner) seeds(f *Figure) int {
	switch {
	case p.o.Seeds > 0:
		return p.o.Seeds
	case p.o.Quick && f.Quick.Seeds > 0:
		return f.Quick.Seeds
	}
	return f.Seeds
}

// curveID is a curve by the index of its part and its own.
type curveID struct{ part, curve int }

// seeded chooses tuned settings and plans the runs of all seeds.
func (p *planner) seeded(f *Figure, r *figureResults,
	log *runLog) (all []*unit, byCurve map[curveID][]*unit, err error) {
	byCurve = map[curveID][]*unit{}
	for i := range f.Parts {
		part := &f.Parts[i]
		for k, c := range part.Curves {
			tuned, err := p.choose(f, part, c, r, log)
			if err != nil {
				return nil, nil, err
			}
			if tuned == nil {
				continue
			}
			for seed := range r.seeds {
				u, err := p.unit(f, part, c.Name, c.Settings, tuned, uint64(seed+1))
				if err != nil {
					return nil, nil, err
				}
				all = append(all, u)
				byCurve[curveID{i, k}] = append(byCurve[curveID{i, k}], u)
			}
		}
	}
	return all, byCurve, nil
}

// choose returns the tuned settings of a curve, by its runs with the first seed; nil if all of them diverged.
func (p *planner) choose(f *Figure, part *Part, c Curve, r *figureResults, log *runLog) (map[string]string, error) {
	combinations := p.combinations(c)
	if len(combinations) == 1 {
		return combinations[0], nil
	}
	var runs []*Run
	for _, tuned := range combinations {
		u, err := p.unit(f, part, c.Name, c.Settings, tuned, 1)
		if err != nil {
			return nil, err
		}
		runs = append(runs, log.runs[u.key])
	}
	chosen := TunedSetting{Part: part.Name, Curve: c.Name}
	if best := c.Choose.best(runs); best >= 0 {
		chosen.Values = combinations[best]
		for _, g := range c.Tune {
			value := chosen.Values[g.name]
			if n := len(g.values); n > 2 && (value == g.values[0] || value == g.values[n-1]) {
				chosen.Edge = true
			}
		}
	}
	r.tuned = append(r.tuned, chosen)
	return chosen.Values, nil
}

// collect gives each curve its runs, and each run the best bound of its objective.
func (p *planner) collect(f *Figure, r *figureResults, first, all []*unit, byCurve map[curveID][]*unit, log *runLog) {
	bounds := map[string]float64{}
	for _, units := range [][]*unit{first, all} {
		for _, u := range units {
			for _, at := range log.runs[u.key].Records {
				if d := float64(at.Dual); !math.IsNaN(d) && !math.IsInf(d, 0) {
					bounds[u.objective] = math.Max(bounds[u.objective], d)
				}
			}
		}
	}
	for i := range f.Parts {
		part := partResults{Part: &f.Parts[i]}
		for k, c := range f.Parts[i].Curves {
			curve := curveResults{name: c.Name}
			for _, u := range byCurve[curveID{i, k}] {
				run := *log.runs[u.key]
				run.bound = bounds[u.objective]
				if part.bound == 0 {
					part.bound = run.bound
				}
				curve.runs = append(curve.runs, &run)
			}
			part.curves = append(part.curves, curve)
		}
		r.parts = append(r.parts, part)
	}
}
