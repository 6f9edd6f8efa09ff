package encoders

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"

	"gorgonia.org/gorgonia"

	"github.com/dsp-go/dsp/nets/graph"
	"github.com/dsp-go/dsp/structured"
)

// Tuning says how an encoder is trained.
type Tuning struct {
	Read Layers // the hidden states that are read

	// Frozen is how many layers stay as they are, counted from below, with the embeddings; −1 leaves the embeddings
	// free, too. What stays is no weight of the network: it costs no gradient.
	Frozen int

	// Adapter trains adapters in the layers that are not frozen, instead of their weights. The embeddings then stay as
	// they are.
	Adapter Adapter

	// Dropout is the rate of dropout of all kinds; negative takes the rates of config.json.
	Dropout float64

	// Recompute keeps one hidden state of each layer for the pullback, which computes the rest again, layer by layer: a
	// step takes a third more time and the memory of one layer.
	Recompute bool
}

// Tuned is an encoder whose weights are trained, as a part of a network (graph.Encoder): the row of a position is the
// mean of the rows of its word's pieces. Goroutines may share it.
type Tuned struct {
	*Encoder
	Tuning
	config  config // with the rates of dropout
	layout  graph.Layout
	params  []graph.Param
	first   map[string]int  // hidden state that depends on a parameter
	bottom  *graph.Program  // that computes the embeddings, if they are trained
	adapted map[string]bool // the products with adapters

	mu       sync.Mutex
	programs map[stageKey]*graph.Program
}

// Prefix begins the names of the parameters of a Tuned.
const Prefix = "encoder."

// stageKey is a stage, by the hidden state that it computes, for a number of rows.
type stageKey struct{ state, rows int }

// NewTuned makes a trained encoder of a pretrained one.
func NewTuned(e *Encoder, how Tuning) (*Tuned, error) {
	if how.Adapter.Rank > 0 {
		how.Frozen = max(0, how.Frozen)
	}
	if how.Frozen >= how.Read.To {
		return nil, structured.BadInput("the first %d layers of the encoder %s stay as they are, and %d are read: "+
			"nothing is left to train", how.Frozen, e.dir, how.Read.To)
	}
	if how.Dropout >= 1 {
		return nil, structured.BadInput("dropout %g of the encoder, expected a rate below 1", how.Dropout)
	}
	t := &Tuned{Encoder: e, Tuning: how, config: *e.config, programs: map[stageKey]*graph.Program{}}
	if how.Dropout >= 0 {
		t.config.Dropout, t.config.AttentionDropout = how.Dropout, how.Dropout
		t.config.OutDropout = min(t.config.OutDropout, how.Dropout)
		if e.config.OutDropout > 0 {
			t.config.OutDropout = how.Dropout
		}
	}
	if how.Adapter.Rank > 0 {
		return t, t.chooseAdapters()
	}
	return t, t.choose()
}

// choose lists the parameters that are trained: those of the stages above the frozen layers.
func (t *Tuned) choose() error {
	t.layout = t.Encoder.layout // to begin with
	trained, constant := map[string]bool{}, map[string]bool{}
	t.first = map[string]int{}
	for state := range t.Read.To + 1 {
		to := trained
		if state <= t.Frozen {
			to = constant
		}
		p, err := t.stage(state, graph.Bucket(0))
		if err != nil {
			return err
		}
		for _, name := range p.Params {
			to[name] = true
			if _, ok := t.first[name]; !ok {
				t.first[name] = state
			}
		}
	}
	for i, a := range t.Encoder.layout {
		switch {
		case !trained[a.Name]:
		case constant[a.Name]:
			return structured.BadInput("encoder %s: all layers share %q, so that none can stay as they are "+
				"while others are trained", t.dir, a.Name)
		default:
			from := t.Encoder.layout[i].Of(t.Encoder.w)
			t.params = append(t.params,
				graph.Param{Name: Prefix + a.Name, Shape: a.Shape, Init: func(_ *rand.Rand, _ []int, w []float32) {
					copy(w, from)
				}})
		}
	}
	var err error
	t.layout, err = graph.NewLayout(t.named())
	clear(t.programs)
	if err == nil && t.Frozen < 0 {
		t.bottom, err = t.stage(0, graph.Bucket(0))
	}
	return err
}

// named returns the parameters by their names in the file.
func (t *Tuned) named() []graph.Param {
	list := slices.Clone(t.params)
	for i := range list {
		list[i].Name = strings.TrimPrefix(list[i].Name, Prefix)
	}
	return list
}

// Params implements graph.Encoder. The initial values are those of the pretrained encoder.
func (t *Tuned) Params() []graph.Param { return t.params }

func (t *Tuned) Tables() []graph.EncoderTable {
	if t.bottom == nil {
		return nil
	}
	var tables []graph.EncoderTable
	for _, w := range t.bottom.Tables {
		tables = append(tables, graph.EncoderTable{Offset: w.Offset, Rows: w.Rows, Cols: w.Cols})
	}
	return tables
}

func (t *Tuned) RowsRead(_ int, batch *structured.Batch, rows []int32) []int32 {
	p := batch.Data.Pieces
	if p == nil {
		return rows
	}
	for _, i := range batch.Examples {
		for _, id := range p.Ids[p.Offsets[p.First[i]]:p.Offsets[p.First[i+1]]] {
			if id >= 0 && int(id) < t.Vocabulary() {
				rows = append(rows, id)
			}
		}
	}
	return rows
}

// StateOf returns the first hidden state that depends on a parameter, 0 for those of the embeddings.
func (t *Tuned) StateOf(name string) int { return t.first[strings.TrimPrefix(name, Prefix)] }

// stage returns the program that computes a hidden state from the one before it; the first from the pieces.
func (t *Tuned) stage(state, rows int) (*graph.Program, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	key := stageKey{state, rows}
	if p := t.programs[key]; p != nil {
		return p, nil
	}
	spec := &graph.Spec{Name: "encoder", Build: func(g *graph.Graph) (*gorgonia.Node, *gorgonia.Node, error) {
		b := &building{Graph: g, c: &t.config, has: map[string]bool{}, below: state > 0,
			from: max(0, state-1), training: true, adapter: t.Adapter, adapted: t.adapted}
		for _, a := range t.Encoder.layout {
			b.has[a.Name] = true
		}
		return t.family.states(b, state+1)[state], nil, nil
	}}
	p, err := graph.Compile(spec, t.layout, t.stageInput(state), graph.Size{Rows: rows})
	if err != nil {
		return nil, err
	}
	t.programs[key] = p
	return p, nil
}

func (t *Tuned) stageInput(state int) graph.Input {
	in := t.Encoder.input()
	if state > 0 {
		in.Dim, in.Encoded = t.config.Width, t.config.Width
	}
	if t.Adapted() {
		in.Fixed = t.Encoder.layout
	}
	return in
}

// Draw implements graph.Encoder: words have up to three pieces, and long examples are read in several sequences.
func (t *Tuned) Draw(rng *rand.Rand, data *structured.Dataset) {
	most := min(8, t.Positions())
	p := &structured.Pieces{First: []int{0}, Offsets: []int{0}}
	for i := range data.Len() {
		length := 0
		end := func() {
			if length > 0 {
				p.Offsets = append(p.Offsets, len(p.Ids))
			}
			length = 0
		}
		for range data.Length(i) {
			n := rng.IntN(4)
			if length+n > most {
				end()
			}
			at := len(p.Ids)
			for range n {
				p.Ids = append(p.Ids, rng.Int32N(int32(t.Vocabulary())))
			}
			length += n
			p.Words = append(p.Words, [2]int{at, len(p.Ids)})
		}
		end()
		p.First = append(p.First, len(p.Offsets)-1)
	}
	data.Pieces = p
}

var _ graph.Encoder = (*Tuned)(nil)

// check refuses data whose pieces the encoder cannot read.
func (t *Tuned) check(data *structured.Dataset) error {
	p := data.Pieces
	if p == nil {
		return structured.BadInput("%s has no pieces of words, which the encoder reads", data.Name)
	}
	if err := p.Check(data.Offsets, t.Vocabulary()); err != nil {
		return fmt.Errorf("%s: %w", data.Name, err)
	}
	for s := range len(p.Offsets) - 1 {
		if n := p.Offsets[s+1] - p.Offsets[s]; n > t.Positions() {
			return structured.BadInput("%s: a sequence of %d pieces; the encoder reads up to %d", data.Name, n, t.Positions())
		}
	}
	return nil
}

// Dim returns the number of weights that are trained.
func (t *Tuned) Dim() int { return t.layout.Dim() }
