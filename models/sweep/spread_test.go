package sweep

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/dsp-go/dsp/models/config"
	"github.com/dsp-go/dsp/models/settings"
	"github.com/dsp-go/dsp/models/training"
	"github.com/dsp-go/dsp/train/record"
)

// On development data every setting has the spread of its metric, and all but the best that of their difference to the
// best. A sweep that is resumed from its file comes to the same finding.
func TestSpreadOnDevelopmentData(t *testing.T) {
	s := smallSweep(t)
	r := mustSweep(t, s)
	for k, x := range r.Trials {
		if !(x.Deviation > 0) || x.Counts != nil || (x.Behind == nil) != (k == 0) {
			t.Errorf("trial %d: %+v", k, x)
		}
		if b := x.Behind; b != nil &&
			(b.Difference < 0 || b.Low > b.High || b.Difference != float64(r.Trials[0].Metric-x.Metric)) {
			t.Errorf("trial %d: %+v", k, *b)
		}
	}
	if !strings.Contains(r.Finding, "points behind (95 % interval") {
		t.Error(r.Finding)
	}
	if svg, err := os.ReadFile(filepath.Join(s.Out, "sweep.svg")); err != nil ||
		!bytes.Contains(svg, []byte("over data like dev")) {
		t.Errorf("sweep.svg: %v", err)
	}

	resumed, err := Read(s.Out)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.RemoveAll(filepath.Join(s.Out, bestFolder)); err != nil {
		t.Fatal(err)
	}
	again, err := Run(context.Background(), resumed, training.TrainOptions{})
	if err != nil || again.Finding != r.Finding || *again.Trials[1].Behind != *r.Trials[1].Behind {
		t.Errorf("resumed: %v, %+v", err, again)
	}
}

// What a metric is made of in sweep.jsonl gives that metric, with entities that begin with I, too, which strict rules
// leave out: the model has seen towns only within entities.
func TestCountsAreOfTheMetric(t *testing.T) {
	var train, dev strings.Builder
	for k := range 12 {
		fmt.Fprintf(&train, "in O\nnew B-LOC\ntown%d I-LOC\nmet O\n\nmet O\ntown%[1]d I-LOC\n\n", k%5)
		fmt.Fprintf(&dev, "in O\nmet O\ntown%d B-LOC\n\nin O\nnew B-LOC\n\n", k%5)
	}
	files := [2]string{filepath.Join(t.TempDir(), "train.conll"), filepath.Join(t.TempDir(), "dev.conll")}
	for k, text := range []string{train.String(), dev.String()} {
		if err := os.WriteFile(files[k], []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	s := smallSweep(t)
	s.Config = config.Default()
	s.Method, s.Out = "bcfw", t.TempDir()
	s.Task, s.Train, s.Dev, s.Passes, s.Grid = "tag", files[0], files[1], 2, settings.Ranges{"reg=0.1,1"}
	mustSweep(t, s)
	lines, err := os.ReadFile(filepath.Join(s.Out, "sweep.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	for line := range strings.Lines(string(lines)) {
		var x Trial
		if err := json.Unmarshal([]byte(line), &x); err != nil {
			t.Fatal(err)
		}
		if n++; !(x.Metric > 0) || math.Abs(x.Counts.Value()-float64(x.Metric)) > 1e-9 {
			t.Errorf("the counts give %v, and the metric is %v", x.Counts.Value(), x.Metric)
		}
	}
	if n != 2 {
		t.Errorf("%d settings in\n%s", n, lines)
	}
}

func TestToldApart(t *testing.T) {
	trialOf := func(name string, right ...float64) *trial { // tokens of 10, sentence by sentence
		x := &trial{names: []string{"reg"}, values: []string{name}}
		for k := range 200 {
			x.Counts = append(x.Counts, []float64{right[k%len(right)], 10})
		}
		x.Metric = record.Number(x.Counts.Value())
		return x
	}
	best, near, far := trialOf("1", 9, 10, 9, 8), trialOf("2", 9, 9, 9, 8, 10), trialOf("3", 8, 8, 9, 7)
	none := &trial{}
	for text, ranked := range map[string][]*trial{
		"reg=2 is 0.00 points behind*: dev cannot tell the two apart":                           {best, near, far},
		"reg=3 is 10.00 points behind*, p = 0.0001): the best is told apart from all others":    {best, far},
		"reg=2 is 0.00 points behind*; dev cannot tell the best from 2 of the other 2 settings": {best, near, near},
		"": {best, none},
	} {
		for _, x := range ranked {
			x.Behind = nil
		}
		compareWithBest(ranked)
		start, end, _ := strings.Cut(text, "*")
		if got := toldApart(ranked); !strings.HasPrefix(got, start) || !strings.HasSuffix(got, end) ||
			(got == "") != (text == "") {
			t.Errorf("%q, expected %q", got, text)
		}
	}
	if best.Behind != nil {
		t.Errorf("%+v", best.Behind)
	}
}

// The best of many settings that are all alike is hardly ever told apart from any other, although it was chosen on the
// same data.
func TestAlikeSettingsAreNotToldApart(t *testing.T) {
	const sweeps, alternatives, sentences = 150, 5, 30
	random := rand.New(rand.NewPCG(11, 1))
	claims := 0
	for range sweeps {
		var ranked []*trial
		for range alternatives {
			x := &trial{}
			for range sentences {
				right := 0.0
				for range 10 {
					if random.Float64() < 0.9 {
						right++
					}
				}
				x.Counts = append(x.Counts, []float64{right, 10})
			}
			x.Metric = record.Number(x.Counts.Value())
			ranked = append(ranked, x)
		}
		slices.SortFunc(ranked, func(a, b *trial) int { return cmp.Compare(b.Metric, a.Metric) })
		compareWithBest(ranked)
		if slices.ContainsFunc(ranked[1:], func(x *trial) bool { return x.Behind.decided() }) {
			claims++
		}
	}
	if claims > 22 { // at a rate of 5 % more than 22 of 150 come with a chance of 1e-6
		t.Errorf("%d of %d sweeps claim a difference", claims, sweeps)
	}
}

// Trials whose oracle answers with bounds say that their objective is relaxed, and those with exact answers do not.
func TestTrialsSayRelaxed(t *testing.T) {
	s := Default()
	s.Task, s.Examples, s.Passes, s.Out, s.Device, s.Method = "graph", settings.Sizes{4, 2, 2}, 2,
		filepath.Join(t.TempDir(), "sweep"), "cpu", "casimir"
	s.Grid = settings.Ranges{"oracle=exact,relaxed"}
	for _, x := range mustSweep(t, s).Trials {
		if x.Relaxed != (x.Settings["oracle"] == "relaxed") {
			t.Errorf("%v: %+v", x.Settings, x)
		}
	}
}
