package reproduce

import (
	"fmt"
	"math"
	"slices"

	"github.com/dsp-go/dsp/models/pictures/curves"
	"github.com/dsp-go/dsp/train/record"
)

// picture draws the curves of r: a row for each part, a column for each y axis.
func (r *figureResults) picture(claims []ClaimResult) *curves.Bands {
	counts := map[string]int{}
	for _, c := range claims {
		counts[c.Verdict]++
	}
	title := "Figure " + r.Name
	if r.Title != "" {
		title += ": " + r.Title
	}
	if len(claims) > 0 {
		title += " (claims: " + summary(counts) + ")"
	}
	b := &curves.Bands{Title: title, Caption: "One run."}
	if r.seeds > 1 {
		b.Caption = fmt.Sprintf("Medians over %d seeds, with quartiles.", r.seeds)
	}
	for i, p := range r.parts {
		row := curves.BandRow{Title: p.Name}
		for _, q := range r.Y {
			panel := curves.BandPanel{Y: record.Certified(q.label(), q.certificate() && p.relaxed()),
				Log: q.name == "suboptimality" || q.name == "gap" || q.name == "prox-gradient"}
			if i == len(r.parts)-1 {
				panel.X = r.X.label()
			}
			for _, c := range p.curves {
				panel.Series = append(panel.Series, c.band(r.X, q))
			}
			row.Panels = append(row.Panels, panel)
		}
		b.Rows = append(b.Rows, row)
	}
	return b
}

// band is the median of y over the runs that still go on at each pass, with the quartiles.
func (c *curveResults) band(x, y quantity) curves.Band {
	out := curves.Band{Name: c.name}
	unit := 1.0
	if y.percent() {
		unit = 100
	}
	passes := 0
	for _, run := range c.runs {
		passes = max(passes, len(run.Records))
	}
	for k := range passes {
		var xs, ys []float64
		for _, run := range c.runs {
			if k < len(run.Records) {
				xs = append(xs, x.of(run, run.Records[k]))
				ys = append(ys, unit*y.of(run, run.Records[k]))
			}
		}
		if 2*len(xs) < len(c.runs) { // most have diverged or ended
			break
		}
		if slices.ContainsFunc(ys, math.IsNaN) {
			continue
		}
		out.Points = append(out.Points, curves.BandPoint{
			X: quantile(xs, 0.5), Low: quantile(ys, 0.25), Middle: quantile(ys, 0.5), High: quantile(ys, 0.75),
		})
	}
	return out
}
