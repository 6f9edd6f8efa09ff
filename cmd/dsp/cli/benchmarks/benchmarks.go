// Package benchmarks measures the oracles, a network's step and a training pass on the CPU, for dsp bench.
package benchmarks

import (
	"context"
	"log/slog"
	"regexp"
	"slices"
	"time"

	"github.com/dsp-go/dsp/structured"
	"github.com/dsp-go/dsp/structured/sys/host"
)

// Speed is one measurement.
type Speed struct {
	Part      string  `json:"part"`
	What      string  `json:"what"`
	Sequences float64 `json:"sequences_per_second"`
	GFLOPs    float64 `json:"gflops"` // 0 where operations are not counted
}

// measure is one function to time; each call handles the given number of sequences and of floating-point operations.
type measure struct {
	part, what string
	sequences  int
	flops      float64
	run        func() error
	asked      *structured.Potentials // that an oracle is asked about; nil of networks
}

func (m measure) name() string { return m.part + ": " + m.what }

// Run repeats every measurement whose name, "part: what", matches a pattern, for the given number of seconds. With an
// error, it returns those that it had made.
func Run(ctx context.Context, seconds float64, only *regexp.Regexp) ([]Speed, error) {
	step, err := netMeasure()
	if err != nil {
		return nil, err
	}
	pass, err := passMeasure(ctx)
	if err != nil {
		return nil, err
	}
	var chosen []measure
	for _, m := range slices.Concat(chainMeasures(), secondMeasures(), segmentMeasures(), transcriptMeasures(), treeMeasures(), constituentMeasures(), grammarMeasures(), graphMeasures(), choiceMeasures(), windowMeasures(), matchingMeasures(), alignmentMeasures(),
		[]measure{step, pass}) {
		if only.MatchString(m.name()) {
			chosen = append(chosen, m)
		}
	}
	return repeatAll(ctx, chosen, seconds)
}

// repeatAll repeats one measurement after the other.
func repeatAll(ctx context.Context, all []measure, seconds float64) ([]Speed, error) {
	shown := host.NewProgress(len(all), func(done int, rest time.Duration) {
		slog.Info("measuring", "done", done, "of", len(all), "rest", rest.Round(time.Second))
	})
	var speeds []Speed
	for _, m := range all {
		s, err := m.repeat(ctx, seconds)
		if err != nil {
			return speeds, err
		}
		speeds = append(speeds, s)
		shown.Add(1)
	}
	return speeds, nil
}

// repeat runs m for the given number of seconds, at least once, after one warm-up run, and returns its mean speed.
func (m measure) repeat(ctx context.Context, seconds float64) (Speed, error) {
	if err := m.run(); err != nil {
		return Speed{}, err
	}
	start, times := time.Now(), 0
	for ; times == 0 || time.Since(start).Seconds() < seconds; times++ { // once, even if the time is over before
		if err := ctx.Err(); err != nil {
			return Speed{}, err
		}
		if err := m.run(); err != nil {
			return Speed{}, err
		}
	}
	each := time.Since(start).Seconds() / float64(times)
	return Speed{m.part, m.what, float64(m.sequences) / each, m.flops / each / 1e9}, nil
}
