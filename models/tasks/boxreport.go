package tasks

import (
	"fmt"
	"strings"

	"github.com/dsp-go/dsp/models/data/annotations"
	"github.com/dsp-go/dsp/models/data/localisation"
	"github.com/dsp-go/dsp/models/predictions"
	"github.com/dsp-go/dsp/structured"
	"github.com/dsp-go/dsp/structured/boxes"
)

// describeBoxes says which images are used, and what the candidates or windows allow.
func describeBoxes(d *structured.Dataset) *Change {
	s := localisation.Of(d)
	values := []any{"data", d.Name, "images", len(s.Images)}
	if s.Counts != nil {
		values = append(values, "counts", s.Counts.Describe(s.Class))
	}
	if w := s.Sliding; w != nil && s.Slides {
		values = append(values, "windows", fmt.Sprintf("%d per image, of %d sizes and shapes learned from the training boxes",
			d.Positions()/max(1, d.Len()), len(w.Shapes)))
	}
	iou, corLoc := s.Allowed()
	values = append(values, "best_possible_iou", fmt.Sprintf("%.3f", iou), "best_possible_corloc",
		fmt.Sprintf("%.1f %%", 100*corLoc))
	if d.Source != nil {
		values = append(values, "features",
			fmt.Sprintf("%.2f GiB as float32 stay out of memory: every pass reads or computes them anew",
				4*float64(d.Positions())*float64(d.Dim)/(1<<30)))
	}
	return &Change{"boxes", values}
}

func compareBoxes(_ *structured.Alphabet, d *structured.Dataset, _ bool) Comparison {
	s := localisation.Of(d)
	iou, corLoc := s.Allowed()
	best := &bestBoxes{iou, corLoc, "candidates", "the best candidates"}
	if s.Boxes == nil {
		best.shape, best.what = fmt.Sprintf("%d×%d cells", s.Grid, s.Grid), "the best windows"
	}
	return &boxComparison{set: s, report: BoxReport{best: best, class: s.Class, used: len(s.Images), counts: s.Counts}}
}

// boxComparison compares boxes.
type boxComparison struct {
	set       *localisation.Set
	evaluator boxes.Evaluator
	report    BoxReport
}

// Add implements Comparison for boxes without scores.
func (c *boxComparison) Add(d *structured.Dataset, i int, y []int32) {
	c.AddScored(d, i, &predictions.Prediction{Output: predictions.Output{Labels: y}})
}

// AddScored implements ScoredComparison: AP ranks the boxes of all images by their scores.
func (c *boxComparison) AddScored(_ *structured.Dataset, i int, p *predictions.Prediction) {
	var truths []boxes.Truth
	if t := c.set.Images[i].Gold; t != nil {
		truths = []boxes.Truth{*t}
	}
	c.evaluator.Add(truths, []boxes.Detection{{Box: c.set.Box(i, p.Labels), Score: p.Score}})
}

// Again implements Repeatable: what the candidates allow stays the same.
func (c *boxComparison) Again() Comparison { return &boxComparison{set: c.set, report: c.report} }

func (c *boxComparison) Report() Report {
	r := c.report
	r.metrics = c.evaluator.Metrics()
	r.metrics.Measures = append(r.metrics.Measures,
		structured.Measure{Name: "oracle_iou", Value: r.best.iou},
		structured.Measure{Name: "oracle_corloc", Value: r.best.corLoc})
	return &r
}

type BoxReport struct {
	metrics structured.Metrics
	best    *bestBoxes // nil: nobody knows
	class   string
	used    int
	counts  *annotations.Counts // nil: all images are used
}

// bestBoxes are the boxes among which a model chooses that overlap most with the objects.
type bestBoxes struct {
	iou, corLoc float64
	shape, what string // what they are, for a table
}

func (r *BoxReport) General() structured.Metrics { return r.metrics }

// MarshalJSON implements json.Marshaler: the metrics, and how many images were used and not used.
func (r *BoxReport) MarshalJSON() ([]byte, error) {
	m := r.metrics
	if c := r.counts; c != nil {
		m.Measures = append(m.Measures[:len(m.Measures):len(m.Measures)],
			structured.Measure{Name: "images_used", Value: float64(c.Used)},
			structured.Measure{Name: "images_without", Value: float64(c.None)},
			structured.Measure{Name: "images_with_several", Value: float64(c.Several)},
			structured.Measure{Name: "images_difficult", Value: float64(c.Difficult)},
			structured.Measure{Name: "images_crowd", Value: float64(c.Crowd)})
	}
	return m.MarshalJSON()
}

func (r *BoxReport) Text(ReportOptions) string {
	var b strings.Builder
	if c := r.counts; c != nil {
		fmt.Fprintf(&b, "%s\n\n", c.Describe(r.class))
	} else {
		fmt.Fprintf(&b, "%d images\n\n", r.used)
	}
	best := bestBoxes{}
	if r.best != nil {
		best = *r.best
	}
	line := func(name, value, best string) {
		b.WriteString(strings.TrimRight(fmt.Sprintf("%-36s %9s  %s", name, value, best), " ") + "\n")
	}
	row := func(name string, value float64, best string) { line(name, fmt.Sprintf("%.2f %%", 100*value), best) }
	line("", "predicted", best.what)
	corLoc, iou := "", ""
	if r.best != nil {
		corLoc, iou = fmt.Sprintf("%.2f %% (%s)", 100*best.corLoc, best.shape), fmt.Sprintf("%.2f %%", 100*best.iou)
	}
	row("CorLoc (share with an IoU above 0.5)", r.metrics.Get("corloc"), corLoc)
	row("mean IoU", r.metrics.Get("mean_iou"), iou)
	row("AP, mean over IoU .50:.05:.95", r.metrics.Get("ap"), "")
	row("AP at IoU .50", r.metrics.Get("ap50"), "")
	row("AP at IoU .75", r.metrics.Get("ap75"), "")
	return b.String()
}
