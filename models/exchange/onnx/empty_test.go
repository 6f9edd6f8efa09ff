package onnx

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/dsp-go/dsp/models/config"
	"github.com/dsp-go/dsp/models/exchange/onnx/format"
	"github.com/dsp-go/dsp/models/exchange/onnx/onnxtest"
	"github.com/dsp-go/dsp/models/inputs/encoded/encodedtest"
)

// shapeOf returns the shape of an array whose free dimensions have those sizes.
func shapeOf(a *format.Array, sizes map[string]int) (shape []int) {
	for _, d := range a.Type.Tensor.Shape.Dims {
		if d.Name != "" {
			shape = append(shape, sizes[d.Name])
		} else {
			shape = append(shape, int(d.Size))
		}
	}
	return shape
}

// Without examples, or without positions, edges, characters and attributes, a graph has outputs of the sizes of its
// inputs, and no loop without a step, which the evaluator has no more than onnxruntime.
func TestEmptyBatches(t *testing.T) {
	files := map[string]*format.Model{}
	for _, g := range graphs {
		files[g.name] = built(t, model(t, g.change), Options{Marginals: g.marginals})
	}
	files["encoder"] = built(t, model(t, func(c *config.Config) {
		c.Net, c.Encoder, c.Pieces, c.EncoderCache = "linear", encodedtest.Folder(t, "deberta-v2"), "mean", "none"
		c.Train = trainFile(t, strings.Repeat(sentences, 3))
	}), Options{})
	for name, d := range map[string]Decoder{"decoder": {Labels: 2},
		"decoder of steps": {Labels: 2, PerPosition: true, Marginals: true}} {
		content, err := d.Encode()
		if err != nil {
			t.Fatal(err)
		}
		if files[name], err = onnxtest.Read(content); err != nil {
			t.Fatal(err)
		}
	}
	for name, file := range files {
		for _, sizes := range []map[string]int{
			{},
			{dimTime: 3, dimEdges: 3, dimPieces: 4, "arc": 2, "label": 4, dimCharacters: 2, "attribute": 2},
			{dimBatch: 2},
			{dimBatch: 2, dimTime: 3},
		} {
			if name == "windows" {
				if sizes = maps.Clone(sizes); sizes[dimBatch] > 0 {
					continue // the positions are the cells of a grid of that size
				}
				sizes[dimTime] = 256
			}
			in := map[string]tensor{}
			for _, x := range file.Graph.Inputs {
				in[x.Name] = zerosOf(shapeOf(x, sizes)...)
			}
			got := run(t, file.Graph, in)
			for _, x := range file.Graph.Outputs {
				if want := shapeOf(x, sizes); !slices.Equal(got[x.Name].shape, want) || len(got[x.Name].x) != product(want) {
					t.Errorf("%s, sizes %v: %s of shape %v, want %v", name, sizes, x.Name, got[x.Name].shape, want)
				}
			}
		}
	}
}

// An array without attributes, or characters, says what one of padding alone says.
func TestInputsWithoutEntries(t *testing.T) {
	for _, c := range []struct {
		name, input string
		change      func(c *config.Config)
	}{
		{"attributes", inputAttributes, net("auto")},
		{"characters", inputCharacters, net("deep")},
		{"attributes beside", inputAttributes, net("deep")},
	} {
		m, d := modelAndData(t, func(to *config.Config) {
			c.change(to)
			to.Train = trainFile(t, strings.Repeat(sentences, 5))
		})
		g, in := built(t, m, Options{Marginals: true}).Graph, batch(d)
		shape := in[c.input].shape
		none := zerosOf(shape...)
		for i := range none.x {
			none.x[i] = -1
		}
		in[c.input] = none
		want := run(t, g, in)
		in[c.input] = zerosOf(shape[0], shape[1], 0)
		for name, got := range run(t, g, in) {
			if !slices.Equal(got.x, want[name].x) || !slices.Equal(got.shape, want[name].shape) {
				t.Errorf("%s: %s is %v, want %v", c.name, name, got, want[name])
			}
		}
	}
}
