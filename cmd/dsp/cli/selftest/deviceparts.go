package selftest

import (
	"context"
	"math/rand/v2"

	"github.com/dsp-go/dsp/cuda/cudanets"
	"github.com/dsp-go/dsp/cuda/device"
	"github.com/dsp-go/dsp/cuda/resident"
	"github.com/dsp-go/dsp/nets"
	"github.com/dsp-go/dsp/structured"
)

// parts compares scores, pullback, push-forward and the linearised network with the CPU's, on two batches of six
// examples. It takes networks of any structure: their parts may have a row per position, per row of another table or
// per example, or be tied.
func (g *rig) parts(seed uint64, draw func(*rand.Rand) (*nets.Net, *structured.Dataset, error)) func(context.Context, *rand.Rand, *worst) (string, error) {
	return func(ctx context.Context, r *rand.Rand, w *worst) (string, error) {
		net, data, err := draw(r)
		if err != nil {
			return "", err
		}
		for _, examples := range [][]int{{3, 0, 1, 2, 5, 4}, {4, 1}} {
			if err := ctx.Err(); err != nil {
				return "", err
			}
			if err := g.partBatch(r, w, net, data, examples, seed); err != nil {
				return "", err
			}
			if err := g.Sync(); err != nil {
				return "", err
			}
		}
		return "", nil
	}
}

// partBatch does the comparison on one batch.
func (g *rig) partBatch(r *rand.Rand, w *worst, net *nets.Net, set *structured.Dataset, examples []int, seed uint64) error {
	var batch structured.Batch
	batch.Reset(set, examples)
	data := resident.NewData(g.Device, set)
	defer data.Free()
	on := data.NewBatch(data.StepCapacity(data.All()))
	defer on.Free()
	on.Set(examples)
	on.SetSeed(seed)
	s := device.NewBLAS(g.Device, false)
	defer s.Close()
	e := cudanets.NewExecutor(g.Device, net, s)
	defer e.Free()
	if err := e.Reserve(on); err != nil {
		return err
	}
	at, from, direction := scaled(r, net.Dim(), 0.5), scaled(r, net.Dim(), 0.5), normals(r, net.Dim())
	v := &structured.Marginals{}
	v.Resize(&batch, net.Form())
	var θ, cotangent cudanets.Parts
	for k, part := range net.Form().Parts {
		values, padded := v.Parts[k].Values, make([]float32, on.RowsOf(part.Rows)*part.Width)
		copy(values, normals(r, len(values)))
		for i, x := range values {
			if part.Rows == structured.Tied {
				i %= part.Width // the device pulls back the sum over examples
			}
			padded[i] += x
		}
		cotangent = append(cotangent, upload(g, padded))
		θ = append(θ, poisoned[float32](g, len(padded)))
	}
	same := func(what string, want *structured.Potentials) error {
		for k := range want.Parts {
			values := want.Parts[k].Values
			if err := w.nearScaled(what+" "+want.Parts[k].Name, download(g, θ[k])[:len(values)], values, single); err != nil {
				return err
			}
		}
		return nil
	}
	var want, push structured.Potentials
	worker, grad := net.NewNetWorker(), scaled(r, net.Dim(), 0.1)
	onGrad := upload(g, grad)
	if err := worker.ScoreDropout(at, seed, &batch, &want); err != nil {
		return err
	}
	if err := worker.Pullback(v, grad); err != nil {
		return err
	}
	if err := worker.PushForward(direction, &push); err != nil {
		return err
	}
	e.Score(upload(g, at), on, θ)
	if err := same("score", &want); err != nil {
		return err
	}
	e.PushForward(upload(g, direction), θ)
	if err := same("tangent", &push); err != nil {
		return err
	}
	e.Pullback(cotangent, onGrad)
	if err := w.nearScaled("gradient", download(g, onGrad), grad, single); err != nil {
		return err
	}
	model := nets.Linearise(net, from).NewLinearisedWorker()
	if err := model.ScoreDropout(at, seed, &batch, &want); err != nil {
		return err
	}
	linear := cudanets.NewLinearised(e)
	linear.MoveTo(upload(g, from))
	linear.Score(upload(g, at), on, θ)
	return same("linearised score", &want)
}
