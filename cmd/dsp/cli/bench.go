package cli

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"runtime"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"github.com/dsp-go/dsp/models/config"
	"github.com/dsp-go/dsp/nets"
	"github.com/dsp-go/dsp/nets/graph"
	"github.com/dsp-go/dsp/nets/kernels"
	"github.com/dsp-go/dsp/oracles"
	"github.com/dsp-go/dsp/structured"
	"github.com/dsp-go/dsp/structured/synthetic/ocr"
	"github.com/dsp-go/dsp/train/engine"
)

// speed is one measurement.
type speed struct {
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
}

func benchCommand() *cobra.Command {
	var seconds float64
	var device string
	cmd := &cobra.Command{
		Use:   "bench",
		Short: "Measure the oracles, a network's step and a training pass on this machine",
		Long: `bench reports sequences per second, and floating-point operations per second where it can count them. On one thread it
measures the chain oracles on 50 positions (max takes 2TY² operations, exp 6TY²), the dependency tree oracles on 25 words with
1 and with 50 relations, and forward and pullback of an mlp on 4096 positions. On all cores it measures training passes over
built-in data.

With --device cuda it measures the GPU's kernels, a training step and a pass of prox-linear, and shows the lower bound of each
time: the bytes it must move at this GPU's copy bandwidth, or its arithmetic at the float32 peak, whichever takes longer.`,
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if !(seconds > 0) {
				return structured.BadInput("--seconds %v: expected a number above 0", seconds)
			}
			d, err := config.OpenDevice(device)
			if err != nil {
				return err
			}
			if d != nil {
				return errors.Join(benchDevice(cmd, d, seconds), closeDevice(d))
			}
			var speeds []speed
			table := [][]string{{"what", "sequences/s", "GFLOP/s"}}
			step, err := netMeasure()
			if err != nil {
				return err
			}
			pass, err := passMeasure(cmd.Context())
			if err != nil {
				return err
			}
			for _, m := range slices.Concat(chainMeasures(), treeMeasures(), graphMeasures(), choiceMeasures(), windowMeasures(), matchingMeasures(),
				[]measure{step, pass}) {
				s, err := m.repeat(cmd.Context(), seconds)
				if err != nil {
					return err
				}
				speeds = append(speeds, s)
				row := []string{s.Part + ": " + s.What, fmt.Sprintf("%.0f", s.Sequences), ""}
				if s.GFLOPs > 0 {
					row[2] = fmt.Sprintf("%.1f", s.GFLOPs)
				}
				table = append(table, row)
			}
			if isSet(cmd, "json") {
				return printJSON(os.Stdout, map[string]any{"machine": thisMachine(), "speeds": speeds})
			}
			return printTable(os.Stdout, table)
		},
	}
	cmd.Flags().Float64Var(&seconds, "seconds", 1, "how long to repeat each measurement, in `seconds`")
	deviceFlag(cmd, &device)
	return cmd
}

// repeat runs m for the given number of seconds, after one warm-up run, and returns its mean speed.
func (m measure) repeat(ctx context.Context, seconds float64) (speed, error) {
	if err := m.run(); err != nil {
		return speed{}, err
	}
	start, times := time.Now(), 0
	for ; time.Since(start).Seconds() < seconds; times++ {
		if err := ctx.Err(); err != nil {
			return speed{}, err
		}
		if err := m.run(); err != nil {
			return speed{}, err
		}
	}
	each := time.Since(start).Seconds() / float64(times)
	return speed{m.part, m.what, float64(m.sequences) / each, m.flops / each / 1e9}, nil
}

// netMeasure measures forward and pullback of an mlp 300→200→25 on 4096 positions, on one thread.
func netMeasure() (measure, error) {
	const sequences, length, in, hidden, labels = 128, 32, 300, 200, 25
	data := &structured.Dataset{Name: "random", Dim: in, Offsets: make([]int, sequences+1)}
	for i := range data.Offsets {
		data.Offsets[i] = i * length
	}
	r := rand.New(rand.NewPCG(1, 1))
	data.Features = make([]float32, sequences*length*in)
	for i := range data.Features {
		data.Features[i] = float32(r.NormFloat64())
	}
	net, err := nets.New(nets.Config{Net: "mlp", Hidden: []int{hidden}}, graph.Input{Dim: in}, labels)
	if err != nil {
		return measure{}, err
	}
	var batch structured.Batch
	all := make([]int, sequences)
	for i := range all {
		all[i] = i
	}
	batch.Reset(data, all)
	w, grad := net.Init(1), make([]float32, net.Dim())
	worker, θ, v := net.NewWorker(), &structured.Potentials{}, &structured.Marginals{}
	step := func() error {
		if err := worker.Score(w, &batch, θ); err != nil {
			return err
		}
		v.Like(θ)
		copy(v.Parts[0].Values, θ.Parts[0].Values)
		return worker.Pullback(v, grad)
	}
	// Forward is one product per layer; backward is one for the weights of each layer and one for the hidden units.
	flops := 2. * sequences * length * (2*in*hidden + 3*hidden*labels)
	return measure{"net, " + kernels.CurrentBLAS().Name(), "mlp step", sequences, flops, step}, nil
}

// passMeasure measures a full pass of the hinge, value and gradient, for the default network on drawn words, on all cores.
func passMeasure(ctx context.Context) (measure, error) {
	words := ocr.DefaultOCRWords()
	words.Dev, words.Test = 0, 0
	data, _, _ := words.Generate()
	net, err := nets.New(nets.Config{Net: "cnn-image"}, graph.Input{Dim: data.Dim}, data.Alphabet.Len())
	if err != nil {
		return measure{}, err
	}
	threads, w := runtime.GOMAXPROCS(0), net.Init(1)
	engine := engine.NewEngine(&engine.Objective{Scorer: net, Data: data, Loss: engine.Hinge}, threads)
	pass := func() error {
		_, err := engine.FullPass(ctx, w, oracles.Smoothing{}, nil)
		return err
	}
	return measure{"training", fmt.Sprintf("pass over drawn words, %d threads", threads), data.Len(), 0, pass}, nil
}
