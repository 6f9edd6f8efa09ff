package onnx

import (
	"slices"
	"strings"

	"github.com/dsp-go/dsp/models/exchange/onnx/format"
	fitted "github.com/dsp-go/dsp/models/inputs"
	"github.com/dsp-go/dsp/models/inputs/encoded"
	"github.com/dsp-go/dsp/structured"
)

// The names of the inputs. A graph has those that its network reads.
const (
	inputLengths    = "lengths"    // int64 [B]: positions of each example
	inputFeatures   = "features"   // float [B×T×D]
	inputWords      = "words"      // int64 [B×T×V]: the number of each discrete input
	inputCharacters = "characters" // int64 [B×T×W]: those of the word, padded with −1
	inputAttributes = "attributes" // int64 [B×T×A], padded with −1 or any other number that is none
	inputValues     = "values"     // float [B×T×A]: of the attributes
	inputSources    = "sources"    // int64 [B]: how many of the positions are source items
	inputEnds       = "ends"       // int64 [B×E×2]: the positions that each edge joins
	inputEdges      = "edge_features"

	// int64 [B×P]: the numbers of the pieces that an encoder reads, special ones included
	inputPieces       = "pieces"
	inputPieceLengths = "piece_lengths" // int64 [B]: how many of them count
	inputFirstPieces  = "first_pieces"  // int64 [B×T]: where the pieces of each word begin
	inputPieceCounts  = "piece_counts"  // int64 [B×T]: how many the word has
)

// inputs are the inputs of a graph, what follows from them, and the outputs, which have their sizes. Each input is made
// when it is first asked for.
type inputs struct {
	*builder
	declared []*format.Array
	sizes    map[string]string // by the name of a free dimension: the vector of how many entries the caller gave
	outputs  []*format.Array
	made     map[string]string

	standard       *fitted.Standard // of features, or nil
	encoder        *encoded.Reader  // whose rows are the last of the features, or nil
	encoderWeights []float32        // its weights
}

// newInputs keeps the names of all inputs free of other arrays.
func newInputs(b *builder) *inputs {
	b.reserve(inputLengths, inputFeatures, inputWords, inputCharacters, inputAttributes, inputValues,
		inputSources, inputEnds, inputEdges,
		inputPieces, inputPieceLengths, inputFirstPieces, inputPieceCounts,
		"edge_"+inputAttributes, "pair_"+inputAttributes, "edge_"+inputValues, "pair_"+inputValues)
	return &inputs{builder: b, sizes: map[string]string{}, made: map[string]string{}}
}

// input declares an input, and returns the array that stands for it. A dimension is a number or the name of a free one.
func (in *inputs) input(name string, kind format.DataType, dims ...any) string {
	return in.once(name, func() string {
		in.declared = append(in.declared, valueInfo(name, kind, dims...))
		return in.filled(name, kind, dims)
	})
}

// filled returns an input with an entry of padding along each free dimension of which the caller gives none:
// onnxruntime stops its whole process, or fails, where loops and divisions meet an array without entries. Outputs are
// cut to the sizes that the caller gave.
func (in *inputs) filled(name string, kind format.DataType, dims []any) string {
	least := make([]int, len(dims))
	for axis, d := range dims {
		if _, free := d.(string); free {
			least[axis] = 1
		}
	}
	if !slices.Contains(least, 1) {
		return name
	}
	shape := in.of("Shape", name)
	for axis, d := range dims {
		if d, free := d.(string); free && in.sizes[d] == "" {
			in.sizes[d] = in.slice(shape, 0, axis, axis+1)
		}
	}
	missing := in.of("Max", in.of("Sub", in.ints(least...), shape), in.int(0))
	pads := in.concat(0, in.ints(make([]int, len(dims))...), missing)
	return in.of("Pad", name, pads, in.padding(name, kind))
}

// padding returns what stands for nothing in an input.
func (in *inputs) padding(name string, kind format.DataType) string {
	switch {
	case kind == format.Bool:
		return in.bools([]bool{false})
	case kind == format.Float:
		return in.float(0)
	case name == inputCharacters || strings.HasSuffix(name, inputAttributes):
		return in.int(-1)
	}
	return in.int(0)
}

// output makes an array an output, cut to the sizes of the inputs.
func (in *inputs) output(name, x string, kind format.DataType, dims ...any) {
	var axes []int
	var ends []string
	for axis, d := range dims {
		if d, ok := d.(string); ok {
			axes, ends = append(axes, axis), append(ends, in.sizes[d])
		}
	}
	if len(axes) == 0 {
		in.addAs(name, "Identity", []string{x})
	} else {
		in.addAs(name, "Slice", []string{x, in.ints(make([]int, len(axes))...), in.concat(0, ends...), in.ints(axes...)})
	}
	in.outputs = append(in.outputs, valueInfo(name, kind, dims...))
}

// once makes what the key stands for the first time.
func (in *inputs) once(key string, do func() string) string {
	if at, ok := in.made[key]; ok {
		return at
	}
	at := do()
	in.made[key] = at
	return at
}

func valueInfo(name string, kind format.DataType, dims ...any) *format.Array {
	shape := &format.Shape{}
	for _, d := range dims {
		switch d := d.(type) {
		case int:
			shape.Dims = append(shape.Dims, &format.Dim{Size: int64(d)})
		case string:
			shape.Dims = append(shape.Dims, &format.Dim{Name: d})
		}
	}
	return &format.Array{Name: name, Type: &format.Type{Tensor: &format.TensorType{Elem: kind, Shape: shape}}}
}

// The names of the free dimensions.
const (
	dimBatch      = "batch"
	dimTime       = "time"
	dimCharacters = "character"
	dimEdges      = "edge"
	dimPieces     = "piece"
)

func (in *inputs) lengths() string {
	return in.input(inputLengths, format.Int64, dimBatch)
}

// perPosition declares an input [B×T×…].
func (in *inputs) perPosition(name string, kind format.DataType, last any) string {
	x := in.input(name, kind, dimBatch, dimTime, last)
	in.sized(x)
	return x
}

// sized notes that B and T are the first sizes of x, if nothing tells them yet.
func (in *inputs) sized(x string) {
	in.once("size", func() string { return in.slice(in.of("Shape", x), 0, 0, 2) })
}

// features returns the dense inputs of positions [B×T×dim]: an input, and the rows of the encoder if there is one.
func (in *inputs) features(dim int) string {
	return in.once("features and rows", func() string {
		var x string
		switch {
		case in.encoder == nil:
			x = in.perPosition(inputFeatures, format.Float, dim)
		case dim == in.encoder.Width():
			x = in.encoderRows()
		default:
			x = in.concat(2, in.perPosition(inputFeatures, format.Float, dim-in.encoder.Width()), in.encoderRows())
		}
		if in.standard == nil {
			return x
		}
		return in.of("Mul", in.of("Sub", x, in.floats("feature_mean", in.standard.Mean, dim)),
			in.floats("feature_scale", in.standard.Scale, dim))
	})
}

func (in *inputs) words(vocabularies int) string {
	return in.perPosition(inputWords, format.Int64, vocabularies)
}

func (in *inputs) characters() string {
	return in.perPosition(inputCharacters, format.Int64, dimCharacters)
}

// size returns the vector B, T of the batch's sizes. An input with positions has to be declared before.
func (in *inputs) size() string {
	return in.once("size", func() string {
		in.fail(structured.BadInput("the network reads nothing of its positions"))
		return ""
	})
}

// times returns T without dimensions.
func (in *inputs) times() string {
	return in.once("times", func() string { return in.gather(in.size(), in.int(1), 0) })
}

// range returns 0, …, T−1.
func (in *inputs) positions() string {
	return in.once("positions", func() string { return in.of("Range", in.int(0), in.times(), in.int(1)) })
}

// alive returns [B×T]: whether a position is in its example.
func (in *inputs) alive() string {
	return in.once("alive", func() string {
		return in.of("Less", in.positions(), in.of("Unsqueeze", in.lengths(), in.ints(1)))
	})
}

// firsts returns [1×T]: whether a position is the first one. Loops start there, since runtimes refuse those without a
// step.
func (in *inputs) firsts() string {
	return in.once("firsts", func() string {
		return in.of("Unsqueeze", in.of("Equal", in.positions(), in.int(0)), in.ints(0))
	})
}

// last returns [B×T]: whether a position is the last one of its example.
func (in *inputs) last() string {
	return in.once("last", func() string {
		end := in.of("Sub", in.lengths(), in.int(1))
		return in.of("Equal", in.positions(), in.of("Unsqueeze", end, in.ints(1)))
	})
}

// padded gives x, whose first axes are the positions of all examples, the shape [B×T×…].
func (in *inputs) padded(x string, rest ...int) string {
	return in.of("Reshape", x, in.concat(0, in.size(), in.ints(rest...)))
}

// keep replaces the rows of padding of x [B×T×C] by zeros.
func (in *inputs) keep(x string) string {
	mask := in.once("mask", func() string { return in.of("Unsqueeze", in.alive(), in.ints(2)) })
	return in.of("Where", mask, x, in.float(0))
}

// zeros returns [B×cols] zeros.
func (in *inputs) zeros(cols int) string {
	return in.of("Expand", in.float(0), in.concat(0, in.slice(in.size(), 0, 0, 1), in.ints(cols)))
}

// shifted returns x [B×T×…] with dims axes whose entry t is entry t+by of x, or the value where there is none.
func (in *inputs) shifted(x string, by, dims int, value string) string {
	if by == 0 {
		return x
	}
	pads := make([]int, 2*dims)
	lo, hi := by, open
	if by > 0 {
		pads[dims+1] = by
	} else {
		pads[1], lo, hi = -by, 0, by
	}
	return in.slice(in.of("Pad", x, in.ints(pads...), value), 1, lo, hi)
}
