package sweep

import (
	"context"
	"fmt"
	"math"

	"github.com/dsp-go/dsp/models"
	"github.com/dsp-go/dsp/models/predictions"
	"github.com/dsp-go/dsp/models/review/bootstrap"
	"github.com/dsp-go/dsp/models/training"
	"github.com/dsp-go/dsp/train/record"
)

// resample measures weights on resamples of the development data, which are the same for all settings.
func (s *sweep) resample(ctx context.Context, r *training.Run, w []float32, data *models.Data, threads int) ([]record.Number, error) {
	m := r.ModelWith(w)
	sample := bootstrap.New(&m.Config, m.Labels, data.Dev, false)
	if _, err := m.Compare(ctx, data.Dev, false, predictions.Options{Threads: threads}, sample.Keep); err != nil {
		return nil, err
	}
	all, err := sample.Replicates(ctx, threads)
	if err != nil {
		return nil, err
	}
	for k := range all {
		if all[k].Metric.Name == s.metric.Name {
			return rounded(all[k].On), nil
		}
	}
	return nil, nil
}

// rounded keeps six digits after the point, so that lines of sweep.jsonl stay short.
func rounded(x []float64) []record.Number {
	short := make([]record.Number, len(x))
	for k, v := range x {
		short[k] = record.Number(math.Round(v*1e6) / 1e6)
	}
	return short
}

func floats(x []record.Number) []float64 {
	all := make([]float64, len(x))
	for k, v := range x {
		all[k] = float64(v)
	}
	return all
}

// compareWith sets how far t is behind the best setting. Without replicates of both, such as those of a sweep of an older version, nothing is
// known of that.
func (t *trial) compareWith(best *trial) {
	n := len(best.Replicates)
	if t == best || t.Error != "" || n == 0 || len(t.Replicates) != n {
		return
	}
	gains := make([]float64, n)
	for k := range gains {
		gains[k] = float64(best.Replicates[k] - t.Replicates[k])
	}
	spread := bootstrap.IntervalOf(gains)
	if math.IsNaN(spread.Deviation) {
		return
	}
	t.Behind = &Behind{float64(best.Metric - t.Metric), spread.Deviation, spread.Low, spread.High}
}

// toldApart says whether the data tell the best setting apart from the others; ranked are all settings, the best first. It is empty where
// nothing is known of that.
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
		if t.Behind.Low <= 0 {
			near++
		}
	}
	if second == nil {
		return ""
	}
	b := second.Behind
	text := fmt.Sprintf("%s is %.2f points behind (95 %% interval %.2f to %.2f)", second.name(), 100*b.Difference, 100*b.Low, 100*b.High)
	switch {
	case near == 0:
		return text + ": the best is told apart from all others"
	case near == 1 && b.Low <= 0:
		return text + ": dev cannot tell the two apart"
	}
	return fmt.Sprintf("%s; dev cannot tell the best from %d of the other %d settings", text, near, known)
}
