package encoders

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"gorgonia.org/gorgonia"
	"gorgonia.org/tensor"

	"github.com/dsp-go/dsp/nets/graph"
)

// family is an architecture with its names of tensors.
type family struct {
	read   func(c *config, f *fields)
	params func(d *declaration)
	// states adds the hidden states to the graph, the embeddings first, until n of them are there.
	states func(b *building, n int) []*gorgonia.Node
	// embeddings is the name of the table of pieces, by which the prefix of all names is found; the tensors under roots
	// have to be known.
	embeddings string
	roots      []string
	adapted    []string // the products of a layer that may have adapters (Adapter)
}

var families = map[string]*family{
	"bert":        bertFamily(readBERT),
	"electra":     bertFamily(readELECTRA),
	"roberta":     bertFamily(readRoBERTa),
	"xlm-roberta": bertFamily(readRoBERTa),
	"camembert":   bertFamily(readRoBERTa),
	"distilbert":  postNormFamily(distilNames, readDistilBERT),
	"mpnet":       postNormFamily(mpnetNames, readMPNet),
	"deberta-v2":  postNormFamily(debertaNames, readDeBERTa),
	"modernbert":  modernbertFamily,
}

func familyNames() []string { return slices.Sorted(maps.Keys(families)) }

// declaration lists the parameters of an encoder.
type declaration struct {
	*config
	list []graph.Param
}

func (d *declaration) add(name string, shape ...int) {
	d.list = append(d.list, graph.Param{Name: name, Shape: shape})
}

// linear declares a dense layer as PyTorch has it: weight [out×in] and bias [out].
func (d *declaration) linear(name string, in, out int, bias bool) {
	d.add(name+".weight", out, in)
	if bias {
		d.add(name+".bias", out)
	}
}

func (d *declaration) norm(name string, width int, bias bool) {
	d.add(name+".weight", width)
	if bias {
		d.add(name+".bias", width)
	}
}

// building is an encoder's graph under construction. Its methods panic with errors of Gorgonia, which those who compile
// a graph recover.
type building struct {
	*graph.Graph
	c   *config
	has map[string]bool // the parameters

	below    bool // hidden state number from is the graph's input (Graph.Encoded), instead of the pieces
	from     int
	training bool // with dropout

	adapter Adapter
	adapted map[string]bool // the products that have one
}

// chain returns the first n hidden states, of which those below b.from are nil: embed makes the first, and block number
// i the one after state i.
func (b *building) chain(n int, embed func(*building) *gorgonia.Node,
	block func(b *building, x *gorgonia.Node, i int) *gorgonia.Node) []*gorgonia.Node {
	states := make([]*gorgonia.Node, n)
	if b.below {
		states[b.from] = b.Encoded()
	} else {
		states[0] = embed(b)
	}
	for i := b.from; i < n-1; i++ {
		states[i+1] = block(b, states[i], i)
	}
	return states
}

// drop is dropout while training.
func (b *building) drop(x *gorgonia.Node, rate float64) *gorgonia.Node {
	if !b.training {
		return x
	}
	return node(b.Dropout(x, rate))
}

// node is short for what nested calls need.
var node = gorgonia.Must

// linear is x·weightᵀ + bias, without bias if there is none.
func (b *building) linear(x *gorgonia.Node, name string) *gorgonia.Node {
	y := node(gorgonia.Mul(x, node(gorgonia.Transpose(b.Param(name+".weight"), 1, 0))))
	if b.adapted[name] {
		y = node(gorgonia.Add(y, b.low(x, name)))
	}
	if !b.has[name+".bias"] {
		return y
	}
	return node(b.AddBias(y, b.Param(name+".bias")))
}

func (b *building) norm(x *gorgonia.Node, name string) *gorgonia.Node {
	var bias *gorgonia.Node
	if b.has[name+".bias"] {
		bias = b.Param(name + ".bias")
	}
	return node(b.LayerNormAbove(x, b.Param(name+".weight"), bias, b.c.Floor))
}

// embed looks up the pieces in a table [V×E].
func (b *building) embed(name string) *gorgonia.Node { return node(b.Embed(b.Param(name), 0)) }

// mean is the mean of hidden states.
func mean(states []*gorgonia.Node) *gorgonia.Node {
	if len(states) == 1 {
		return states[0]
	}
	sum := states[0]
	for _, s := range states[1:] {
		sum = node(gorgonia.Add(sum, s))
	}
	by := gorgonia.NewConstant(float32(1) / float32(len(states)))
	if sum.Dtype() == tensor.Float64 {
		by = gorgonia.NewConstant(1 / float64(len(states)))
	}
	return node(gorgonia.HadamardProd(sum, by))
}

// layer fills the number of a layer into a name.
func layer(name string, i int) string { return strings.Replace(name, "#", fmt.Sprint(i), 1) }
