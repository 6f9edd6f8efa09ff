package selftest

import (
	"context"
	"fmt"
	"math/rand/v2"
	"runtime"
	"slices"

	"github.com/dsp-go/dsp/models/drawn/ocr"
	"github.com/dsp-go/dsp/nets"
	"github.com/dsp-go/dsp/nets/graph"
	"github.com/dsp-go/dsp/oracles"
	"github.com/dsp-go/dsp/train"
	"github.com/dsp-go/dsp/train/engine"
	"github.com/dsp-go/dsp/train/methods"
)

var trainingChecks = []Check{
	{"training: certificates of bcfw, svrg, casimir", checkCertificates},
	{"training: same model for any number of threads", checkThreads},
}

// wordProblem is the hinge loss of a linear network on a few drawn words, strongly regularised.
func wordProblem(r *rand.Rand, threads int) (*train.Problem, error) {
	words := ocr.OCRWords{Train: 60, Difficulty: 1, Seed: r.Uint64()}
	data, _, _ := words.Generate()
	net, err := nets.New(nets.Config{Net: "linear"}, graph.Input{Dim: data.Dim}, data.Alphabet.Len())
	if err != nil {
		return nil, err
	}
	objective := &engine.Objective{Scorer: net, Data: data, Loss: engine.Hinge, Lambda: 10 / float64(data.Len())}
	return &train.Problem{
		Engine: engine.NewEngine(objective, threads),
		Seed:   r.Uint64(),
	}, objective.Check()
}

// fit runs passes of a method, starting at zero.
func fit(ctx context.Context, m train.Method, p *train.Problem, passes int) (*train.State, error) {
	s := train.NewState(make([]float32, p.Scorer.Dim()))
	if err := m.Start(ctx, p, s); err != nil {
		return nil, err
	}
	for range passes {
		if err := m.Pass(ctx, p, s); err != nil {
			return nil, err
		}
	}
	return s, nil
}

// checkCertificates trains by several methods: every dual value must be a lower bound of every objective.
func checkCertificates(ctx context.Context, r *rand.Rand, _ *worst) (string, error) {
	p, err := wordProblem(r, runtime.GOMAXPROCS(0))
	if err != nil {
		return "", err
	}
	var primals, duals []float64
	for _, by := range []struct {
		method    train.Method
		smoothing oracles.Kind
	}{{&methods.BCFW{}, oracles.None}, {&methods.SVRG{}, oracles.Entropy}, {&methods.Casimir{}, oracles.Entropy}} {
		p.Smoothing = oracles.Smoothing{Kind: by.smoothing}
		s, err := fit(ctx, by.method, p, 30)
		if err != nil {
			return "", err
		}
		primals, duals = append(primals, s.Primal), append(duals, s.Dual)
	}
	low, high := slices.Max(duals), slices.Min(primals)
	if !(low <= high*(1+1e-6)) {
		return "", fmt.Errorf("dual value %v exceeds objective %v", low, high)
	}
	if gap := (high - low) / high; gap > 0.2 {
		return "", fmt.Errorf("the optimum lies in [%.4g, %.4g]: training made no progress", low, high)
	}
	return fmt.Sprintf("optimum in [%.4f, %.4f]", low, high), nil
}

// checkThreads trains with different numbers of threads and compares the weights bit by bit.
func checkThreads(ctx context.Context, r *rand.Rand, _ *worst) (string, error) {
	seed := r.Uint64()
	var first []float32
	for _, threads := range []int{1, 2, 5} {
		p, err := wordProblem(rand.New(rand.NewPCG(seed, 0)), threads)
		if err != nil {
			return "", err
		}
		p.Batch = 20
		s, err := fit(ctx, &methods.SGD{}, p, 3)
		if err != nil {
			return "", err
		}
		if first == nil {
			first = s.W
		}
		if !slices.Equal(first, s.W) {
			return "", fmt.Errorf("%d threads give other weights than 1", threads)
		}
	}
	return fmt.Sprintf("%d weights, equal bits with 1, 2 and 5 threads", len(first)), nil
}
