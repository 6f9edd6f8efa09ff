package sweep

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/dsp-go/dsp/models/review/bootstrap"
	"github.com/dsp-go/dsp/models/training"
	"github.com/dsp-go/dsp/train/record"
)

// On development data every setting has the spread of its metric, and all but the best that of their difference to the best. A sweep that is
// resumed from its file comes to the same finding.
func TestSpreadOnDevelopmentData(t *testing.T) {
	s := smallSweep(t)
	r := mustSweep(t, s)
	for k, x := range r.Trials {
		if !(x.Deviation > 0) || x.Replicates != nil || (x.Behind == nil) != (k == 0) {
			t.Errorf("trial %d: %+v", k, x)
		}
		if b := x.Behind; b != nil && (b.Difference < 0 || b.Low > b.High || b.Difference != float64(r.Trials[0].Metric-x.Metric)) {
			t.Errorf("trial %d: %+v", k, *b)
		}
	}
	if !strings.Contains(r.Finding, "points behind (95 % interval") {
		t.Error(r.Finding)
	}
	if svg, err := os.ReadFile(filepath.Join(s.Out, "sweep.svg")); err != nil || !bytes.Contains(svg, []byte("over resamples of dev")) {
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

func TestToldApart(t *testing.T) {
	trialOf := func(name string, metric float64, shift ...float64) *trial {
		x := &trial{names: []string{"reg"}, values: []string{name}}
		x.Metric = record.Number(metric)
		for k := range 200 {
			x.Replicates = append(x.Replicates, record.Number(metric+shift[k%len(shift)]))
		}
		return x
	}
	best, near, far := trialOf("1", 0.9, 0, 0.01), trialOf("2", 0.895, 0.01, 0), trialOf("3", 0.8, 0, 0.01)
	none := &trial{}
	for text, ranked := range map[string][]*trial{
		"reg=2 is 0.50 points behind (95 % interval -0.50 to 1.50): dev cannot tell the two apart":                           {best, near, far},
		"reg=3 is 10.00 points behind (95 % interval 10.00 to 10.00): the best is told apart from all others":                {best, far},
		"reg=2 is 0.50 points behind (95 % interval -0.50 to 1.50); dev cannot tell the best from 2 of the other 2 settings": {best, near, near},
		"": {best, none},
	} {
		for _, x := range ranked {
			x.compareWith(best)
		}
		if got := toldApart(ranked); got != text {
			t.Errorf("%q, expected %q", got, text)
		}
	}
	if best.Behind != nil || bootstrap.IntervalOf(floats(best.Replicates)).Resamples != 200 {
		t.Errorf("%+v", best.Behind)
	}
}
