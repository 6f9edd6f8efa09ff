package encoders

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"math"
	"strconv"
	"strings"
	"sync"

	"gorgonia.org/gorgonia"

	"github.com/dsp-go/dsp/nets/graph"
	"github.com/dsp-go/dsp/nets/kernels"
	"github.com/dsp-go/dsp/structured"
)

// Encoder is a pretrained encoder. Goroutines may share it.
type Encoder struct {
	dir     string
	config  *config
	family  *family
	layout  graph.Layout
	w       []float32
	factors map[Precision]*graph.Factors

	fingerprint func() string

	mu       sync.Mutex
	programs map[programKey]*graph.Program
}

type programKey struct {
	layers Layers
	rows   int
}

// Open reads the encoder of a folder. A folder that is not one, or does not fit together, is bad input.
func Open(dir string) (*Encoder, error) {
	c, fam, err := readConfig(dir)
	if err != nil {
		return nil, err
	}
	d := &declaration{config: c}
	fam.params(d)
	layout, err := graph.NewLayout(d.list)
	if err != nil {
		return nil, structured.BadInput("%s: config.json: %w", dir, err)
	}
	w, err := readWeights(dir, fam, c, layout)
	if err != nil {
		return nil, err
	}
	return newEncoder(dir, c, fam, layout, w), nil
}

func newEncoder(dir string, c *config, fam *family, layout graph.Layout, w []float32) *Encoder {
	e := &Encoder{dir: dir, config: c, family: fam, layout: layout, w: w, programs: map[programKey]*graph.Program{}}
	e.factors = map[Precision]*graph.Factors{Float32: {}, Int8: {Int8: true}}
	e.fingerprint = sync.OnceValue(e.hash)
	return e
}

// Family returns the model_type of config.json.
func (e *Encoder) Family() string { return e.config.Family }

// Width returns how many numbers the row of a piece has.
func (e *Encoder) Width() int { return e.config.Width }

// Depth returns the number of layers; hidden states are numbered 0, the embeddings, to Depth.
func (e *Encoder) Depth() int { return e.config.Layers }

// Positions returns how many pieces, special tokens included, the longest sequence has that the encoder can read.
func (e *Encoder) Positions() int { return e.config.Longest }

// Vocabulary returns the number of different pieces. Ids are less.
func (e *Encoder) Vocabulary() int { return e.config.Vocab }

// Layout returns where the parameters are in Weights. They have the names of the file, without the prefix that all
// share.
func (e *Encoder) Layout() graph.Layout { return e.layout }

// Weights returns the parameters, which the caller must not change.
func (e *Encoder) Weights() []float32 { return e.w }

// Fingerprint identifies what the encoder computes: it is a hash of its sizes and weights in hexadecimal. The precision
// in which the file stores the same weights does not matter.
func (e *Encoder) Fingerprint() string { return e.fingerprint() }

func (e *Encoder) hash() string {
	h := sha256.New()
	plain := *e.config // dropout is for training
	plain.Dropout, plain.OutDropout, plain.AttentionDropout = 0, 0, 0
	text, err := json.Marshal(plain)
	if err != nil {
		panic(err) // the type has nothing that JSON cannot hold
	}
	h.Write(text)
	buf := make([]byte, 0, 1<<16)
	for i, x := range e.w {
		buf = binary.LittleEndian.AppendUint32(buf, math.Float32bits(x))
		if len(buf) == cap(buf) || i == len(e.w)-1 {
			h.Write(buf)
			buf = buf[:0]
		}
	}
	return hex.EncodeToString(h.Sum(nil))
}

// Precision is that of products with weights. Everything else is in float32.
type Precision string

const (
	Float32 Precision = "float32"
	// Int8 rounds weights to 7 bits, row by row, and what they are multiplied by to 8 bits, position by position
	// (kernels.Int8Factor).
	Int8 Precision = "int8"
)

// Supports returns an error if the encoder cannot be computed in a precision.
func (e *Encoder) Supports(p Precision) error {
	if _, ok := e.factors[p]; !ok {
		return structured.BadInput("precision %q of the encoder %s; expected %s or %s", p, e.dir, Float32, Int8)
	}
	for _, a := range e.layout {
		if p == Int8 && len(a.Shape) == 2 && a.Shape[1] > kernels.WidestInt8 {
			return structured.BadInput("encoder %s: %s has rows of %d numbers; in %s they have up to %d",
				e.dir, a.Name, a.Shape[1], p,
				kernels.WidestInt8)
		}
	}
	return nil
}

// UsualLayers is how many hidden states "auto" reads of an encoder that has as many.
const UsualLayers = 4

// Layers are the hidden states that are read: the mean of numbers From to To.
type Layers struct{ From, To int }

// Len returns how many hidden states they are.
func (l Layers) Len() int { return l.To - l.From + 1 }

// String says which hidden states are read.
func (l Layers) String() string {
	if l.From == l.To {
		return fmt.Sprintf("hidden state %d", l.To)
	}
	return fmt.Sprintf("the mean of hidden states %d to %d", l.From, l.To)
}

// Layers reads "last" (the last hidden state), "meanK" such as "mean4" (the mean of the last K), "auto" (mean4, or the
// mean of all hidden states if they are fewer), or the number of a hidden state, 0 for the embeddings.
func (e *Encoder) Layers(text string) (Layers, error) {
	depth := e.Depth()
	switch text {
	case "last":
		return Layers{depth, depth}, nil
	case "auto":
		return Layers{max(0, depth+1-UsualLayers), depth}, nil
	}
	if last, ok := strings.CutPrefix(text, "mean"); ok {
		if n, err := strconv.Atoi(last); err == nil && n >= 1 && n <= depth+1 {
			return Layers{depth + 1 - n, depth}, nil
		}
	} else if n, err := strconv.Atoi(text); err == nil && n >= 0 && n <= depth {
		return Layers{n, n}, nil
	}
	return Layers{}, structured.BadInput("layers %q of the encoder %s; expected auto, last, mean1 to mean%d, "+
		"or a number from 0 to %d", text, e.dir, depth+1, depth)
}

// Build adds the encoder to a graph whose positions are pieces and whose first discrete input are their ids, and
// returns the mean of the layers [Rows×Width]. The graph's parameters include those of Layout.
func (e *Encoder) Build(g *graph.Graph, layers Layers) *gorgonia.Node {
	b := &building{Graph: g, c: e.config, has: map[string]bool{}}
	for _, a := range e.layout {
		b.has[a.Name] = true
	}
	return mean(e.family.states(b, layers.To+1)[layers.From:])
}

// spec is the network of the pieces.
func (e *Encoder) spec(layers Layers) *graph.Spec {
	return &graph.Spec{Name: "encoder", Build: func(g *graph.Graph) (*gorgonia.Node, *gorgonia.Node, error) {
		return e.Build(g, layers), nil, nil
	}}
}

func (e *Encoder) input() graph.Input { return graph.Input{Vocab: []int{e.config.Vocab}} }

// Flow returns the network of the pieces, op by op, with parameters of Layout.
func (e *Encoder) Flow(layers Layers) (*graph.Flow, error) {
	return graph.NewFlow(e.spec(layers), e.layout, e.input(), graph.OpenSize)
}

// program returns the program for a number of rows.
func (e *Encoder) program(layers Layers, rows int) (*graph.Program, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	key := programKey{layers, rows}
	if p := e.programs[key]; p != nil {
		return p, nil
	}
	p, err := graph.CompileForward(e.spec(layers), e.layout, e.input(), graph.Size{Rows: rows})
	if err != nil {
		return nil, err
	}
	e.programs[key] = p
	return p, nil
}
