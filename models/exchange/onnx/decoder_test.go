package onnx

import (
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/dsp-go/dsp/models/exchange/onnx/onnxtest"
)

// A decoder finds the best of all label sequences, and the marginals, of the positions where the mask is true.
func TestDecoder(t *testing.T) {
	masks := [][]bool{{true, true, true, true, true}, {true, true, false, false, false}, {false, true, false, true, true},
		{false, false, false, false, true}, make([]bool, 5)}
	const Y, T = 3, 5
	B := len(masks)
	for _, perPosition := range []bool{false, true} {
		content, err := Decoder{Labels: Y, PerPosition: perPosition, Marginals: true}.Encode()
		if err != nil {
			t.Fatal(err)
		}
		file, err := onnxtest.Read(content)
		if err != nil {
			t.Fatal(err)
		}
		r := rand.New(rand.NewPCG(1, 2))
		drawn := func(shape ...int) tensor {
			x := zerosOf(shape...)
			for i := range x.x {
				x.x[i] = float64(float32(r.NormFloat64()))
			}
			return x
		}
		node, start, end, edge := drawn(B, T, Y), drawn(Y), drawn(Y), drawn(Y, Y)
		if perPosition {
			edge = drawn(B, T, Y, Y)
		}
		mask := zerosOf(B, T)
		for b := range B {
			for i := range T {
				mask.x[b*T+i] = truth(masks[b][i])
			}
		}
		got := run(t, file.Graph, map[string]tensor{"dsp/node": node, "dsp/edge": edge, "dsp/start": start,
			"dsp/end": end, "dsp/mask": mask})
		for b := range B {
			var kept []int
			for i, here := range masks[b] {
				if here {
					kept = append(kept, i)
				}
			}
			best, top, all := []float64(nil), math.Inf(-1), 0.0
			u := make([]float64, T*Y)
			each(slices.Repeat([]int{Y}, len(kept)), func(y []int) {
				s := 0.0
				for k, i := range kept {
					s += node.x[(b*T+i)*Y+y[k]]
					if k == 0 {
						s += start.x[y[k]]
					} else if perPosition {
						s += edge.x[((b*T+i)*Y+y[k-1])*Y+y[k]]
					} else {
						s += edge.x[y[k-1]*Y+y[k]]
					}
					if k == len(kept)-1 {
						s += end.x[y[k]]
					}
				}
				all += math.Exp(s)
				for k, i := range kept {
					u[i*Y+y[k]] += math.Exp(s)
				}
				if s > top {
					top, best = s, slices.Repeat([]float64{-1}, T)
					for k, i := range kept {
						best[i] = float64(y[k])
					}
				}
			})
			if labels := got["labels"].x[b*T : (b+1)*T]; !slices.Equal(labels, best) {
				t.Errorf("example %d: labels %v, want %v", b, labels, best)
			}
			if s := got["score"].x[b]; math.Abs(s-top) > 1e-5 {
				t.Errorf("example %d: score %g, want %g", b, s, top)
			}
			for i, x := range got["marginals"].x[b*T*Y : (b+1)*T*Y] {
				if want := u[i] / all; math.Abs(x-want) > 1e-6 {
					t.Errorf("example %d, position %d, label %d: probability %g, want %g", b, i/Y, i%Y, x, want)
				}
			}
		}
		for _, n := range file.Graph.Nodes { // so that a network's names differ
			for _, name := range n.Outputs {
				if !strings.HasPrefix(name, DecoderPrefix) && !slices.Contains([]string{"labels", "score", "marginals"}, name) {
					t.Errorf("%s is a name that a network may have", name)
				}
			}
		}
	}
}
