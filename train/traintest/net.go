package traintest

import (
	"fmt"
	"math"
	"math/rand/v2"

	"github.com/dsp-go/dsp/nets"
	"github.com/dsp-go/dsp/structured"
	"github.com/dsp-go/dsp/structured/chains"
	"github.com/dsp-go/dsp/train/engine"
)

// Net scores chains with dense features x: node potentials x·W (hidden 0, affine) or tanh(x·W₁)·W₂, and a shared
// transition matrix. Its weights are W (or W₁, W₂) by rows, then the transitions. Linearise gives its linearisation.
type Net struct {
	Inputs, hidden, Labels int
	at                     []float32 // w_k of the linearisation; nil for the network itself
}

func (n *Net) Dim() int {
	y := n.Labels
	if n.hidden == 0 {
		return n.Inputs*y + y*y
	}
	return n.Inputs*n.hidden + n.hidden*y + y*y
}
func (n *Net) Form() structured.Form  { return chains.Form(n.Labels, false) }
func (n *Net) Affine() bool           { return n.hidden == 0 || n.at != nil }
func (n *Net) NewWorker() nets.Worker { return &worker{net: n} }
func (n *Net) MoveTo(w []float32)     { copy(n.at, w) }
func (n *Net) Linearise() engine.Linearised {
	l := *n
	l.at = make([]float32, n.Dim())
	return &l
}

// Glorot draws initial weights.
func (n *Net) Glorot(seed uint64) []float32 {
	r := rand.New(rand.NewPCG(seed, 77))
	w := make([]float32, n.Dim())
	if n.hidden == 0 {
		return w
	}
	draw := func(w []float32, in, out int) {
		a := math.Sqrt(6 / float64(in+out))
		for j := range w {
			w[j] = float32(a * (2*r.Float64() - 1))
		}
	}
	draw(w[:n.Inputs*n.hidden], n.Inputs, n.hidden)
	draw(w[n.Inputs*n.hidden:n.Inputs*n.hidden+n.hidden*n.Labels], n.hidden, n.Labels)
	return w
}

type worker struct {
	net   *Net
	w     []float32 // the point at which J is taken
	batch *structured.Batch
	h     []float32 // [N×hidden]
}

func (k *worker) Score(w []float32, batch *structured.Batch, θ *structured.Potentials) error {
	n := k.net
	y, h, d := n.Labels, n.hidden, n.Inputs
	if d != batch.Data.Dim {
		return fmt.Errorf("%d features, expected %d", batch.Data.Dim, d)
	}
	θ.Resize(batch, n.Form())
	node, edge := θ.Parts[0].Values, θ.Parts[1].Values
	clear(node)
	k.batch, k.w = batch, w
	if n.at != nil {
		k.w = n.at
	}
	if need := batch.Positions() * h; len(k.h) < need {
		k.h = make([]float32, need)
	}
	copy(edge, w[n.Dim()-y*y:])
	k.each(func(t int, x []float32) {
		out := node[t*y : (t+1)*y]
		if h == 0 {
			mulAdd(out, x, w)
			return
		}
		hid := k.h[t*h : (t+1)*h]
		clear(hid)
		mulAdd(hid, x, k.w)
		for j, v := range hid {
			hid[j] = float32(math.Tanh(float64(v)))
		}
		mulAdd(out, hid, w[d*h:]) // also the tangent in W₂, since θ is linear in W₂
		if n.at == nil {
			return
		}
		dh := make([]float32, h)
		mulAdd(dh, x, w)
		mulAddSign(dh, x, k.w, -1)
		for j, v := range hid {
			dh[j] *= 1 - v*v
		}
		mulAdd(out, dh, k.w[d*h:])
	})
	return nil
}

func (k *worker) Pullback(v *structured.Marginals, grad []float32) error {
	n := k.net
	y, h, d := n.Labels, n.hidden, n.Inputs
	edge := grad[n.Dim()-y*y:]
	for b := range v.Len() {
		for j, e := range v.Parts[1].Of(b) {
			edge[j] += e
		}
	}
	k.each(func(t int, x []float32) {
		u := v.Parts[0].Values[t*y : (t+1)*y]
		if h == 0 {
			outer(grad, x, u)
			return
		}
		hid := k.h[t*h : (t+1)*h]
		outer(grad[d*h:], hid, u)
		dh := make([]float32, h)
		for j := range dh {
			for l, g := range u {
				dh[j] += g * k.w[d*h+j*y+l]
			}
			dh[j] *= 1 - hid[j]*hid[j]
		}
		outer(grad, x, dh)
	})
	return nil
}

func (k *worker) each(do func(t int, x []float32)) {
	t, data := 0, k.batch.Data
	for _, i := range k.batch.Examples {
		for s := data.Offsets[i]; s < data.Offsets[i+1]; s++ {
			do(t, data.Features[s*data.Dim:(s+1)*data.Dim])
			t++
		}
	}
}

// mulAdd adds x·W to out. W is stored by rows.
func mulAdd(out, x, w []float32) { mulAddSign(out, x, w, 1) }

func mulAddSign(out, x, w []float32, sign float32) {
	for i, v := range x {
		for j := range out {
			out[j] += sign * v * w[i*len(out)+j]
		}
	}
}

// outer adds x uᵀ to grad.
func outer(grad, x, u []float32) {
	for i, v := range x {
		for j, g := range u {
			grad[i*len(u)+j] += v * g
		}
	}
}
