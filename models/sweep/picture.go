package sweep

import (
	"cmp"
	"fmt"
	"math"
	"reflect"
	"slices"
	"strings"

	"github.com/dsp-go/dsp/models/config"
	"github.com/dsp-go/dsp/models/pictures/curves"
	"github.com/dsp-go/dsp/models/settings"
)

// mostSeries is how many lines a picture can show distinctly.
const mostSeries = 12

// varied is one varying setting as a picture shows it.
type varied struct {
	name   string
	index  int       // among what varies
	values []string  // different ones, in the order of the axis
	x      []float64 // where they are on it
	number bool      // otherwise a choice, and x counts the values
	whole  bool      // whole numbers
	drawn  bool      // from an interval, whose scale is that of the axis
	log    bool
}

// axes returns what varies, in the order of the grid.
func (s *sweep) axes() []varied {
	all := make([]varied, len(s.trials[0].names))
	drawn, _ := parseAxes(s.Grid) // it was parsed before
	for k, name := range s.trials[0].names {
		v := varied{name: name, index: k, number: true, whole: true}
		if k < len(drawn) && drawn[k].values == nil {
			v.drawn, v.log = true, drawn[k].log
		}
		for _, t := range s.trials {
			if slices.Contains(v.values, t.values[k]) {
				continue
			}
			x, ok := numberOf(t.config, name)
			v.number, v.whole = v.number && ok, v.whole && x == math.Trunc(x)
			v.values, v.x = append(v.values, t.values[k]), append(v.x, x)
		}
		v.arrange()
		all[k] = v
	}
	return all
}

// numberOf returns a setting's value if it is a number.
func numberOf(c config.Config, name string) (float64, bool) {
	s, _ := settings.Named(config.Settings(&c), name)
	switch v := s.Value; v.Kind() {
	case reflect.Float64:
		return v.Float(), true
	case reflect.Int:
		count, ok := v.Interface().(settings.Count)
		return float64(v.Int()), !ok || count > 0 // 0 is auto
	case reflect.Uint64:
		return float64(v.Uint()), true
	}
	return 0, false
}

// arrange sorts numbers and chooses their axis. Equal factors between them make it logarithmic; with a 0 among those,
// it shows them as choices, in their order.
func (v *varied) arrange() {
	if v.number {
		order := make([]int, len(v.x))
		for k := range order {
			order[k] = k
		}
		slices.SortFunc(order, func(a, b int) int { return cmp.Compare(v.x[a], v.x[b]) })
		values, x := slices.Clone(v.values), slices.Clone(v.x)
		for k, from := range order {
			v.values[k], v.x[k] = values[from], x[from]
		}
		if v.drawn {
			return
		}
		positive := slices.DeleteFunc(slices.Clone(v.x), func(x float64) bool { return x <= 0 })
		v.log = spacedByFactors(positive)
		v.number = !v.log || len(positive) == len(v.x)
	}
	if !v.number {
		v.log = false
		for k := range v.x {
			v.x[k] = float64(k)
		}
	}
}

// spacedByFactors reports whether increasing numbers above 0 are more even in their logarithms.
func spacedByFactors(x []float64) bool {
	switch len(x) {
	case 0, 1:
		return false
	case 2:
		return x[1] >= 10*x[0]
	}
	logs := make([]float64, len(x))
	for k := range x {
		logs[k] = math.Log(x[k])
	}
	return unevenness(logs) < unevenness(x)
}

// unevenness is the variance of the steps over the square of their mean.
func unevenness(x []float64) float64 {
	n := float64(len(x) - 1)
	mean, sum := (x[len(x)-1]-x[0])/n, 0.0
	for k := 1; k < len(x); k++ {
		d := (x[k]-x[k-1])/mean - 1
		sum += d * d
	}
	return sum / n
}

// finding says which setting is best, and where a better one may lie.
func (s *sweep) finding(best *trial) string {
	text := fmt.Sprintf("best is %s: %s", best.name(), best.outcome(s.metric))
	switch {
	case s.Folds > 0:
		text += fmt.Sprintf(" over %d folds", s.Folds)
	case s.metric.Of != nil:
		text += " on dev"
	}
	for _, v := range s.axes() {
		if !v.number || len(v.values) < 3 || !s.matters(v) {
			continue
		}
		switch best.values[v.index] {
		case v.values[0]:
			text += fmt.Sprintf("; no smaller %s was tried", v.name)
		case v.values[len(v.values)-1]:
			text += fmt.Sprintf("; no larger %s was tried", v.name)
		}
	}
	return text
}

// matters reports whether settings that differ in v have different metrics.
func (s *sweep) matters(v varied) bool {
	best := s.bestOf(s.trials, v)
	for _, t := range best {
		if t != nil && best[0] != nil && t.Metric != best[0].Metric {
			return true
		}
	}
	return false
}

// bestOf returns, for each value of v, the best of the trials that have it; nil if all of them failed.
func (s *sweep) bestOf(trials []*trial, v varied) []*trial {
	best := make([]*trial, len(v.values))
	for _, t := range trials {
		k := slices.Index(v.values, t.values[v.index])
		if t.Error == "" && (best[k] == nil || s.metric.better(float64(t.Metric), float64(best[k].Metric))) {
			best[k] = t
		}
	}
	return best
}

// picture shows the metric against what varies. A grid has the number with the most values along the axis and a line
// for each value of another setting; settings other than those two are at their best. For settings drawn at random, and
// grids with too many lines, see scatter.
func (s *sweep) picture(best *trial) *curves.Comparison {
	c := &curves.Comparison{Value: s.metric.Label, Title: s.finding(best)}
	switch {
	case s.metric.Of != nil && s.Folds > 0:
		c.Value += " on what is held out, %"
	case s.metric.Of != nil:
		c.Value += " on dev, %"
	}
	c.Title = strings.ToUpper(c.Title[:1]) + c.Title[1:]
	failed := 0
	for _, t := range s.trials {
		if t.Error != "" {
			failed++
		}
	}
	c.Caption = fmt.Sprintf("%d settings", len(s.trials))
	if failed > 0 {
		c.Caption += fmt.Sprintf(", %d of which failed", failed)
	}
	if s.Folds > 0 {
		c.Caption += fmt.Sprintf("; means over %d folds with standard deviations", s.Folds)
	}
	if slices.ContainsFunc(s.trials, func(t *trial) bool { return t.Behind != nil }) {
		c.Caption += "; bars are standard deviations of the difference to the best, over data like dev"
	}
	axes := s.axes()
	along := slices.MaxFunc(axes, func(a, b varied) int {
		if a.number != b.number {
			return map[bool]int{true: 1, false: -1}[a.number]
		}
		return cmp.Compare(len(a.values), len(b.values))
	})
	rest := slices.DeleteFunc(slices.Clone(axes), func(v varied) bool { return v.name == along.name || len(v.values) < 2 })
	if s.Random > 0 || len(rest) > 0 && len(rest[0].values) > mostSeries {
		s.scatter(c, axes)
		return c
	}
	if len(rest) == 0 {
		c.Panels = []curves.Panel{along.panel(s.line("", s.trials, along))}
		return c
	}
	by := rest[0]
	c.Legend = by.name
	var lines []curves.Series
	for _, value := range by.values {
		lines = append(lines, s.line(value, s.with(by, value), along))
	}
	for _, v := range rest[1:] {
		c.Caption += "; the best " + v.name + " at each point"
	}
	c.Panels = []curves.Panel{along.panel(lines...)}
	return c
}

// scatter shows every trial as a point, in a panel for each setting that varies; one that is a choice may be the colour
// instead.
func (s *sweep) scatter(c *curves.Comparison, axes []varied) {
	colour := slices.IndexFunc(axes, func(v varied) bool {
		return !v.number && len(v.values) > 1 && len(v.values) <= mostSeries
	})
	if colour >= 0 && len(axes) > 1 {
		c.Legend = axes[colour].name
	}
	for k, v := range axes {
		switch {
		case c.Legend == "":
			c.Panels = append(c.Panels, v.panel(curves.Series{Points: s.points(s.trials, v)}))
		case k != colour:
			var groups []curves.Series
			for _, value := range axes[colour].values {
				groups = append(groups, curves.Series{Name: value, Points: s.points(s.with(axes[colour], value), v)})
			}
			c.Panels = append(c.Panels, v.panel(groups...))
		}
	}
}

// with returns the trials that have that value of v.
func (s *sweep) with(v varied, value string) []*trial {
	return slices.DeleteFunc(slices.Clone(s.trials), func(t *trial) bool { return t.values[v.index] != value })
}

func (v varied) panel(series ...curves.Series) curves.Panel {
	p := curves.Panel{Label: v.name, Log: v.log, Whole: v.whole, Series: series}
	if !v.number {
		p.Names = v.values
	}
	return p
}

// line is the best of the trials at each value of v.
func (s *sweep) line(name string, trials []*trial, v varied) curves.Series {
	best := slices.DeleteFunc(s.bestOf(trials, v), func(t *trial) bool { return t == nil })
	return curves.Series{Name: name, Points: s.points(best, v), Joined: v.number}
}

// points places trials that did not fail by their value of v.
func (s *sweep) points(trials []*trial, v varied) []curves.Point {
	unit := 1.0
	if s.metric.Of != nil {
		unit = 100
	}
	var all []curves.Point
	for _, t := range trials {
		if t.Error == "" {
			x := v.x[slices.Index(v.values, t.values[v.index])]
			all = append(all, curves.Point{X: x, Y: unit * float64(t.Metric), Deviation: unit * t.bar()})
		}
	}
	return all
}

// bar is the half length of the error bar of t: the deviation of its difference to the best setting, or over folds. The
// best setting on development data has none.
func (t *trial) bar() float64 {
	switch {
	case t.Behind != nil:
		return t.Behind.Deviation
	case t.Folds != nil:
		return float64(t.Deviation)
	}
	return 0
}
