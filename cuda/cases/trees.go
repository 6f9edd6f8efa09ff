package cases

import (
	"slices"

	"github.com/dsp-go/dsp/cuda/cudaoracles"
	"github.com/dsp-go/dsp/cuda/device"
	"github.com/dsp-go/dsp/structured"
	"github.com/dsp-go/dsp/structured/trees"
)

// DrawTrees draws potentials of sentences of the given lengths.
func DrawTrees(of trees.SpanningTree, relations int, lengths []int, draw func() float32) *structured.Potentials {
	outputs, rows := []int{0}, []int{0}
	for k, n := range lengths {
		outputs, rows = append(outputs, outputs[k]+2*n), append(rows, rows[k]+n*n)
	}
	θ := new(structured.Potentials)
	θ.Reshape(of.Form(relations), outputs, func(string) []int { return rows })
	for k := range θ.Parts {
		for i := range θ.Parts[k].Values {
			θ.Parts[k].Values[i] = draw()
		}
	}
	return θ
}

// TreesOn uploads potentials of trees to arrays with capacity for spare more sentences, words, pairs.
func TreesOn(d *device.Device, θ *structured.Potentials, spare int) *cudaoracles.Trees {
	of, rows := θ.Structure.(trees.SpanningTree), θ.Parts[0].Offsets
	on := &cudaoracles.Trees{
		B: θ.Len() + spare, N: θ.OutputSize()/2 + spare, P: rows[len(rows)-1] + spare, R: θ.Parts[1].Width,
		NonProjective: of.NonProjective,
	}
	offsets, pairs := make([]int32, on.B+1), make([]int32, on.B+1)
	for b := range offsets {
		last := min(b, θ.Len())
		offsets[b], pairs[b] = int32(θ.Outputs[last]/2), int32(rows[last])
		if b > 0 {
			on.Longest = max(on.Longest, int(offsets[b]-offsets[b-1]))
		}
	}
	padded := func(x []float32, n int) device.Array[float32] {
		return device.NewFrom(d, append(slices.Clone(x), make([]float32, n-len(x))...), "potentials")
	}
	on.Offsets, on.Pairs = device.NewFrom(d, offsets, "offsets"), device.NewFrom(d, pairs, "pairs")
	on.Arc, on.Label = padded(θ.Parts[0].Values, on.P), padded(θ.Parts[1].Values, on.P*on.R)
	return on
}

// FreeTrees frees the device's arrays.
func FreeTrees(d *device.Device, on *cudaoracles.Trees) {
	device.Free(d, on.Offsets)
	device.Free(d, on.Pairs)
	device.Free(d, on.Arc)
	device.Free(d, on.Label)
}
