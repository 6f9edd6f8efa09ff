package devicebench

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"

	"github.com/dsp-go/dsp/cuda/accelerator"
	"github.com/dsp-go/dsp/models/config"
	"github.com/dsp-go/dsp/models/settings"
	"github.com/dsp-go/dsp/models/training"
	"github.com/dsp-go/dsp/nets"
	"github.com/dsp-go/dsp/nets/graph"
	"github.com/dsp-go/dsp/oracles"
	"github.com/dsp-go/dsp/structured"
	"github.com/dsp-go/dsp/train/engine"
)

// step measures an SGD step on the CRF loss of an mlp 300→200→25 over all 65,536 positions: potentials,
// forward-backward, pullback and weight update, including the host's work.
func (b *bench) step() error {
	count, length, in, hidden, labels := b.pick(1024, 6), b.pick(64, 5), b.pick(300, 12), b.pick(200, 9), b.pick(25, 4)
	r := rand.New(rand.NewPCG(4, 4))
	data := &structured.Dataset{Name: "random", Dim: in, Alphabet: structured.NewAlphabet(), Offsets: make([]int, count+1)}
	for l := range labels {
		data.Alphabet.Add(fmt.Sprint(l))
	}
	all := make([]int, count)
	for i := range all {
		all[i], data.Offsets[i+1] = i, (i+1)*length
	}
	data.Features, data.Labels = make([]float32, data.Positions()*in), make([]int32, data.Positions())
	draw(r, data.Features)
	for t := range data.Labels {
		data.Labels[t] = r.Int32N(int32(labels))
	}
	net, err := nets.New(nets.Config{Net: "mlp", Hidden: []int{hidden}, Activation: graph.ReLU}, graph.Input{Dim: in}, labels)
	if err != nil {
		return err
	}
	for _, tf32 := range []bool{false, true} {
		a, err := accelerator.NewAccelerator(b.Device, &engine.Objective{Scorer: net, Data: data, Loss: engine.CRF}, oracles.Smoothing{}, tf32)
		if err != nil {
			return err
		}
		a.Open(net.Init(1), nil, nil)
		gibbs := oracles.Smoothing{Kind: oracles.Entropy, Mu: 1}
		milliseconds, repeats, err := b.time(func(int) {
			if err == nil {
				err = a.Step(b.ctx, engine.Iterate, all, gibbs, nil, 0)
			}
			a.Advance(engine.Stride{Rho: 1, C: -1e-3 / float64(count)})
		})
		a.Close()
		if err != nil {
			return err
		}
		what := "mlp step with a CRF, SGD"
		if tf32 {
			what += ", TF32"
		}
		n := float64(data.Positions())
		products := 2 * n * float64(2*in*hidden+3*hidden*labels)
		b.add(Row{What: what, Sizes: fmt.Sprintf("%d→%d→%d, %d positions", in, hidden, labels, data.Positions()), Milliseconds: milliseconds, Repeats: repeats},
			work{bytes: 4 * n * float64(2*in+4*hidden+4*labels), flops: products + 6*n*float64(labels*labels), fused: true, tensor: tf32})
	}
	return nil
}

// proxLinear measures passes of dsp train --method prox-linear on drawn words, on the device and, if the options say
// so, on the CPU.
func (b *bench) proxLinear() error {
	pass := func(device string) (milliseconds float64, passes int, err error) {
		dir, err := os.MkdirTemp("", "dsp-bench-")
		if err != nil {
			return 0, 0, err
		}
		defer os.RemoveAll(dir)
		c := config.Default()
		c.Method, c.Baselines, c.Gap, c.WarmUp, c.Eta = "prox-linear", "off", 0, -1, 1
		c.Examples = settings.Sizes{b.pick(2000, 4), 1, 1}
		c.Passes, c.Device, c.Out = b.pick(5, 2), device, filepath.Join(dir, "run")
		if b.report.Small {
			c.Net, c.Channels, c.Hidden = "cnn-image", settings.Sizes{2}, settings.Sizes{3}
		}
		if _, err := training.Train(b.ctx, c, training.TrainOptions{}); err != nil {
			return 0, 0, err
		}
		times, err := passTimes(filepath.Join(c.Out, "metrics.jsonl"))
		if err != nil {
			return 0, 0, err
		}
		times = times[1:] // the first pass includes loading and allocation
		slices.Sort(times)
		return 1e3 * times[len(times)/2], len(times), nil
	}
	milliseconds, passes, err := pass(fmt.Sprintf("cuda:%d", b.Info().Ordinal))
	if err != nil {
		return err
	}
	cpu := 0.
	if b.withCPU {
		if cpu, _, err = pass("cpu"); err != nil {
			return err
		}
	}
	b.add(Row{What: "prox-linear pass", Sizes: fmt.Sprintf("cnn-image, %d words", b.pick(2000, 4)), Milliseconds: milliseconds, Repeats: passes, CPU: cpu}, work{})
	return nil
}

// passTimes returns the duration of each pass of a run in seconds.
func passTimes(metrics string) ([]float64, error) {
	text, err := os.ReadFile(metrics)
	if err != nil {
		return nil, err
	}
	var times []float64
	before := 0.0
	for lines := bufio.NewScanner(bytes.NewReader(text)); lines.Scan(); {
		var record struct{ Seconds float64 }
		if err := json.Unmarshal(lines.Bytes(), &record); err != nil {
			return nil, err
		}
		times = append(times, record.Seconds-before)
		before = record.Seconds
	}
	if len(times) < 2 {
		return nil, fmt.Errorf("%s has %d passes, expected 2 or more", metrics, len(times))
	}
	return times, nil
}
