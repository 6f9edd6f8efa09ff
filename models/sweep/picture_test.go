package sweep

import (
	"fmt"
	"math"
	"reflect"
	"testing"

	"github.com/dsp-go/dsp/models/config"
	"github.com/dsp-go/dsp/models/pictures/curves"
	"github.com/dsp-go/dsp/models/settings"
	"github.com/dsp-go/dsp/models/tasks"
	"github.com/dsp-go/dsp/structured"
	"github.com/dsp-go/dsp/train/record"
)

// tried is a sweep of settings whose metrics are known, the first ones of the names vary last; NaN: training failed.
func tried(t *testing.T, names []string, values [][]string, of func(d *structured.Metrics) float64,
	metrics ...float64) *sweep {
	t.Helper()
	s := &sweep{metric: metric{tasks.Metric{Label: "accuracy", Of: of}}}
	for k, m := range metrics {
		x := &trial{Trial: Trial{Number: k + 1, Metric: record.Number(m), Deviation: record.Number(math.NaN())},
			config: config.Default(), names: names}
		if math.IsNaN(m) {
			x.Error = "diverged"
		}
		at := k
		for i := len(names) - 1; i >= 0; i-- {
			x.values = append([]string{values[i][at%len(values[i])]}, x.values...)
			at /= len(values[i])
		}
		for i, name := range names {
			set, ok := settings.Named(config.Settings(&x.config), name)
			if !ok {
				t.Fatal(name)
			}
			if err := set.Set(x.values[i]); err != nil {
				t.Fatal(err)
			}
		}
		s.trials = append(s.trials, x)
	}
	return s
}

func share(*structured.Metrics) float64 { return 0 }

// Numbers increase along the axis, which is logarithmic where factors between them are more even than steps; a 0 among
// such makes them choices.
func TestArrangedAxes(t *testing.T) {
	for _, c := range []struct {
		values      []string
		order       []string
		x           []float64
		number, log bool
	}{
		{[]string{"10", "1", "0.1"}, []string{"0.1", "1", "10"}, []float64{0.1, 1, 10}, true, true},
		{[]string{"1", "2", "3"}, []string{"1", "2", "3"}, []float64{1, 2, 3}, true, false},
		{[]string{"1", "10"}, []string{"1", "10"}, []float64{1, 10}, true, true},
		{[]string{"1", "9"}, []string{"1", "9"}, []float64{1, 9}, true, false},
		{[]string{"5"}, []string{"5"}, []float64{5}, true, false},
		{[]string{"100", "0", "1", "10"}, []string{"0", "1", "10", "100"}, []float64{0, 1, 2, 3}, false, false},
		{[]string{"2", "1", "0"}, []string{"0", "1", "2"}, []float64{0, 1, 2}, true, false},
	} {
		v := varied{number: true, values: c.values}
		for _, text := range c.values {
			x := 0.0
			fmt.Sscan(text, &x)
			v.x = append(v.x, x)
		}
		v.arrange()
		if !reflect.DeepEqual(v.values, c.order) || !reflect.DeepEqual(v.x, c.x) || v.number != c.number || v.log != c.log {
			t.Errorf("%v: %+v", c.order, v)
		}
	}
	names := varied{values: []string{"b", "a"}, x: []float64{0, 0}, log: true}
	if names.arrange(); names.values[0] != "b" || !reflect.DeepEqual(names.x, []float64{0, 1}) || names.log {
		t.Errorf("choices: %+v", names)
	}
	drawn := varied{number: true, drawn: true, values: []string{"10", "1", "0.1"}, x: []float64{10, 1, 0.1}}
	if drawn.arrange(); drawn.values[0] != "0.1" || drawn.log {
		t.Errorf("drawn from an interval: %+v", drawn)
	}
}

// The picture of a grid has a line for each value of the other setting, at the best of what else varies; failures have
// no point.
func TestPictureOfGrid(t *testing.T) {
	nan := math.NaN()
	s := tried(t, []string{"method", "reg", "batch"}, [][]string{{"bcfw", "svrg"}, {"10", "0.1", "1"}, {"1", "2"}}, share,
		.5, .6, .7, .65, .8, .1, nan, nan, .9, .2, .3, .4)
	s.trials[0].Behind = &Behind{Deviation: 0.01}
	s.trials[1].Behind = &Behind{Deviation: 0.02}
	got := s.picture(s.trials[8])
	want := &curves.Comparison{
		Value: "accuracy on dev, %", Legend: "method",
		Title: "Best is method=svrg, reg=0.1, batch=1: accuracy 90.00 % on dev; no smaller reg was tried",
		Caption: "12 settings, 2 of which failed; bars are standard deviations of the difference to the best, over data " +
			"like dev; the best batch at each point",
		Panels: []curves.Panel{{Label: "reg", Log: true, Series: []curves.Series{
			{Name: "bcfw", Joined: true, Points: []curves.Point{{X: 0.1, Y: 70}, {X: 1, Y: 80}, {X: 10, Y: 60, Deviation: 2}}},
			{Name: "svrg", Joined: true, Points: []curves.Point{{X: 0.1, Y: 90}, {X: 1, Y: 40}}},
		}}},
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("%+v\nexpected\n%+v", got, want)
	}
}

// One setting is one line without a legend; objectives are as they are, and less is better.
func TestPictureOfOneSetting(t *testing.T) {
	s := tried(t, []string{"method"}, [][]string{{"bcfw", "svrg", "sdca"}}, nil, 3, 2, 4)
	want := &curves.Comparison{Value: "accuracy", Title: "Best is method=svrg: accuracy 2",
		Caption: "3 settings", Panels: []curves.Panel{{
			Label: "method", Whole: true, Names: []string{"bcfw", "svrg", "sdca"},
			Series: []curves.Series{{Points: []curves.Point{{X: 0, Y: 3}, {X: 1, Y: 2}, {X: 2, Y: 4}}}},
		}}}
	if got := s.picture(s.trials[1]); !reflect.DeepEqual(got, want) {
		t.Errorf("%+v\nexpected\n%+v", got, want)
	}
	s = tried(t, []string{"batch"}, [][]string{{"1", "2", "3"}}, share, .1, .2, .3)
	s.Folds = 5
	for k := range s.trials {
		s.trials[k].Folds, s.trials[k].Deviation = make([]record.Number, 5), record.Number(k)/100
	}
	want = &curves.Comparison{Value: "accuracy on what is held out, %", Title: "Best is batch=3: accuracy 30.00 % ± " +
		"2.00 % over 5 folds; no larger batch was tried",
		Caption: "3 settings; means over 5 folds with standard deviations", Panels: []curves.Panel{{
			Label: "batch", Whole: true,
			Series: []curves.Series{
				{Joined: true, Points: []curves.Point{{X: 1, Y: 10}, {X: 2, Y: 20, Deviation: 1}, {X: 3, Y: 30, Deviation: 2}}}},
		}}}
	if got := s.picture(s.trials[2]); !reflect.DeepEqual(got, want) {
		t.Errorf("%+v\nexpected\n%+v", got, want)
	}
	s = tried(t, []string{"batch"}, [][]string{{"1", "2", "3"}}, share, .3, .3, .3)
	if got := s.picture(s.trials[0]).Title; got != "Best is batch=1: accuracy 30.00 % on dev" {
		t.Errorf("a setting that does not matter: %s", got)
	}
}

// Settings drawn at random are points, in a panel for each number; a choice is their colour.
func TestPictureOfDraws(t *testing.T) {
	s := tried(t, []string{"method", "reg"}, [][]string{{"bcfw", "svrg"}, {"1", "10", "0.1"}}, share, .5,
		.6, .7, .4, .3, math.NaN())
	s.Random = 6
	s.Grid = settings.Ranges{"method=bcfw,svrg", "reg=log:0.1..10"}
	got := s.picture(s.trials[2])
	want := []curves.Panel{{Label: "reg", Log: true, Series: []curves.Series{
		{Name: "bcfw", Points: []curves.Point{{X: 1, Y: 50}, {X: 10, Y: 60}, {X: 0.1, Y: 70}}},
		{Name: "svrg", Points: []curves.Point{{X: 1, Y: 40}, {X: 10, Y: 30}}},
	}}}
	if got.Legend != "method" || !reflect.DeepEqual(got.Panels, want) {
		t.Errorf("%+v\nexpected\n%+v", got, want)
	}
	s = tried(t, []string{"batch", "reg"}, [][]string{{"1", "2"}, {"1", "3"}}, share, .5, .6, .7, .4)
	s.Random = 4
	got = s.picture(s.trials[2])
	want = []curves.Panel{
		{Label: "batch", Whole: true,
			Series: []curves.Series{{Points: []curves.Point{{X: 1, Y: 50}, {X: 1, Y: 60}, {X: 2, Y: 70}, {X: 2, Y: 40}}}}},
		{Label: "reg", Whole: true,
			Series: []curves.Series{{Points: []curves.Point{{X: 1, Y: 50}, {X: 3, Y: 60}, {X: 1, Y: 70}, {X: 3, Y: 40}}}}},
	}
	if got.Legend != "" || !reflect.DeepEqual(got.Panels, want) {
		t.Errorf("%+v\nexpected\n%+v", got, want)
	}
}

// A setting of more values than a picture has colours for is drawn as points, in panels.
func TestPictureOfManySettings(t *testing.T) {
	values, metrics := make([]string, mostSeries+1), make([]float64, 2*(mostSeries+1))
	for k := range values {
		values[k] = fmt.Sprint(k + 1)
	}
	many := tried(t, []string{"batch", "reg"}, [][]string{values, values}, share,
		make([]float64, len(values)*len(values))...)
	if got := many.picture(many.trials[0]); len(got.Panels) != 2 || got.Legend != "" {
		t.Errorf("%d panels, legend %q, expected a panel for each setting", len(got.Panels), got.Legend)
	}
	few := tried(t, []string{"method", "reg"}, [][]string{{"bcfw", "svrg"}, values}, share, metrics...)
	if got := few.picture(few.trials[0]); len(got.Panels) != 1 || got.Legend != "method" ||
		len(got.Panels[0].Series) != 2 {
		t.Errorf("%+v, expected a line for each method", got)
	}
	most := tried(t, []string{"batch", "reg"}, [][]string{values[:mostSeries], values}, share,
		make([]float64, mostSeries*len(values))...)
	if got := most.picture(most.trials[0]); len(got.Panels) != 1 || len(got.Panels[0].Series) != mostSeries {
		t.Errorf("%d panels, expected one with %d lines", len(got.Panels), mostSeries)
	}
}
