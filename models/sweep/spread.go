package sweep

import (
	"context"
	"fmt"

	"github.com/dsp-go/dsp/models"
	"github.com/dsp-go/dsp/models/predictions"
	"github.com/dsp-go/dsp/models/review/intervals"
	"github.com/dsp-go/dsp/models/training"
)

// keptNumbers bounds the counts in a line of sweep.jsonl.
const keptNumbers = 30000

// count returns what the metric of weights on the development data is made of; nil if the outputs do not have it.
func (s *sweep) count(ctx context.Context, r *training.Problem, w []float32, data *models.Data,
	threads int) (intervals.Counts, error) {
	m := r.ModelWith(w)
	sample := intervals.New(&m.Config, m.Labels, data.Dev, false)
	if _, err := m.Compare(ctx, data.Dev, false, predictions.Options{Threads: threads}, sample.Keep); err != nil {
		return nil, err
	}
	return sample.Counts(s.metric.Name).Condensed(keptNumbers), nil
}

// compareWithBest sets how far each setting is behind the best one; ranked are all settings, the best first. Without
// counts of both, such as those of a sweep of an older version, nothing is known of that. The best one was chosen on
// these data, so that the tests are some of those between all pairs of settings, for whose number they are corrected.
func compareWithBest(ranked []*trial) {
	if len(ranked) == 0 || ranked[0].Error != "" {
		return
	}
	best := ranked[0]
	var compared []*trial
	var all []*intervals.Difference
	for _, t := range ranked[1:] {
		if n := len(best.Counts); n > 0 && len(t.Counts) == n && len(t.Counts[0]) == len(best.Counts[0]) && t.Error == "" {
			d := intervals.Compare(best.Counts, t.Counts)
			compared, all = append(compared, t), append(all, &d)
		}
	}
	n := 1 + len(compared)
	intervals.Correct(all, n*(n-1)/2)
	for k, d := range all {
		t := compared[k]
		t.Behind = &Behind{float64(best.Metric - t.Metric), d.Deviation, d.Low, d.High, d.Adjusted}
	}
}

// decided reports whether the data tell the setting apart from the best one.
func (b *Behind) decided() bool { return b.P <= intervals.Significant }

// Explain says in a sentence what the intervals and tests of settings behind the best one are; it is empty without any.
func Explain(all []Trial) string {
	n := 1
	for k := range all {
		if all[k].Behind != nil {
			n++
		}
	}
	if n == 1 {
		return ""
	}
	return intervals.ExplainDifferences(n * (n - 1) / 2)
}

// toldApart says whether the data tell the best setting apart from the others; ranked are all settings, the best first.
// It is empty where nothing is known of that.
func toldApart(ranked []*trial) string {
	known, near := 0, 0
	var second *trial
	for _, t := range ranked[1:] {
		if t.Behind == nil {
			continue
		}
		if known++; second == nil {
			second = t
		}
		if !t.Behind.decided() {
			near++
		}
	}
	if second == nil {
		return ""
	}
	b := second.Behind
	text := fmt.Sprintf("%s is %.2f points behind (95 %% interval %.2f to %.2f, p = %.2g)", second.name(),
		100*b.Difference, 100*b.Low, 100*b.High, b.P)
	switch {
	case near == 0:
		return text + ": the best is told apart from all others"
	case near == 1 && !b.decided():
		return text + ": dev cannot tell the two apart"
	}
	return fmt.Sprintf("%s; dev cannot tell the best from %d of the other %d settings", text, near, known)
}
