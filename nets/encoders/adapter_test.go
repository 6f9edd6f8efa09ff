package encoders

import (
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/dsp-go/dsp/nets/graph"
	"github.com/dsp-go/dsp/structured"
)

// rowsOfTuned returns the rows of pieces, each its own word, at weights w.
func rowsOfTuned(t *testing.T, tuned *Tuned, w []float32, want expectation) []float32 {
	t.Helper()
	return rowsOfWorker(t, tuned.NewWorker(), tuned.Width(), w, 0, want)
}

// rowsOfWorker is rowsOfTuned for a worker, and a seed of dropout.
func rowsOfWorker(t *testing.T, worker graph.EncoderWorker, width int, w []float32, seed uint64,
	want expectation) []float32 {
	t.Helper()
	data := &structured.Dataset{Name: "pieces", Offsets: want.offsets,
		Pieces: &structured.Pieces{Ids: want.ids, Offsets: want.offsets}}
	for i := range want.offsets {
		data.Pieces.First = append(data.Pieces.First, i)
	}
	for p := range want.ids {
		data.Pieces.Words = append(data.Pieces.Words, [2]int{p, p + 1})
	}
	all := make([]int, data.Len())
	for i := range all {
		all[i] = i
	}
	var batch structured.Batch
	batch.Reset(data, all)
	rows := make([]float32, len(want.ids)*width)
	must(t, worker.Encode(w, seed, &batch, rows))
	return rows
}

// weights returns the weights that training starts with.
func weights(tuned *Tuned) []float32 {
	rng, w := rand.New(rand.NewPCG(1, 2)), make([]float32, tuned.Dim())
	at := 0
	for _, p := range tuned.Params() {
		n := 1
		for _, d := range p.Shape {
			n *= d
		}
		if p.Init != nil {
			p.Init(rng, p.Shape, w[at:at+n])
		}
		at += n
	}
	return w
}

// A worker reads one data set after the other: training and development data have pieces of their own.
func TestTunedWorkerOfTwoDataSets(t *testing.T) {
	e, err := Open("testdata/bert")
	must(t, err)
	tuned, err := NewTuned(e, Tuning{Read: Layers{e.Depth(), e.Depth()}, Frozen: -1})
	must(t, err)
	one := expected(t, "testdata/bert")
	other := one
	other.ids = slices.Clone(one.ids)
	slices.Reverse(other.ids)
	worker := tuned.NewWorker()
	for k, of := range []expectation{one, other, one} {
		if got := rowsOfWorker(t, worker, tuned.Width(), weights(tuned), 0, of); !slices.Equal(got,
			rowsOfTuned(t, tuned, weights(tuned), of)) {
			t.Errorf("data set %d: a worker that has read another one computes other rows", k)
		}
	}
}

// Before training, encoders that are trained along give words the rows that frozen ones give: of one hidden state, and
// of the mean of several.
func TestTunedReadsWhatFrozenReads(t *testing.T) {
	e, err := Open("testdata/bert")
	must(t, err)
	want := expected(t, "testdata/bert")
	for _, layers := range []string{"last", "1", "mean2", "mean3"} {
		read, err := e.Layers(layers)
		must(t, err)
		tuned, err := NewTuned(e, Tuning{Read: read, Frozen: -1})
		must(t, err)
		if off := relative(rowsOfTuned(t, tuned, weights(tuned), want),
			encode(t, e, layers, want.ids, want.offsets)); off > 1e-5 {
			t.Errorf("%s: rows differ from the frozen encoder's by %.2g", layers, off)
		}
	}
}

// Where encoders are trained with dropout, it is that of their configurations: DistilBERT, unlike others, has none
// behind attention.
func TestDropoutOfFamilies(t *testing.T) {
	for family, out := range map[string]float64{"bert": 0.1, "distilbert": 0} {
		e, err := Open("testdata/" + family)
		must(t, err)
		if c := e.config; c.Dropout != 0.1 || c.AttentionDropout != 0.1 || c.OutDropout != out {
			t.Errorf("%s: dropout %g, of attention %g, behind attention %g, expected 0.1, 0.1 and %g", family, c.Dropout,
				c.AttentionDropout, c.OutDropout, out)
		}
		tuned, err := NewTuned(e, Tuning{Read: Layers{e.Depth(), e.Depth()}, Frozen: -1, Dropout: 0.5})
		must(t, err)
		if drops := tuned.config.OutDropout > 0; drops != (out > 0) {
			t.Errorf("%s with a dropout of 0.5: %g behind attention", family, tuned.config.OutDropout)
		}
	}
}

// Layers draw their dropout apart: with one seed for all, a unit that a layer drops would be dropped in each.
func TestLayersDropApart(t *testing.T) {
	e, err := Open("testdata/bert")
	must(t, err)
	tuned, err := NewTuned(e, Tuning{Read: Layers{e.Depth(), e.Depth()}, Frozen: -1, Dropout: 0.5})
	must(t, err)
	worker, seen := tuned.NewWorker().(*tunedWorker), map[uint64]int{}
	rowsOfWorker(t, worker, tuned.Width(), weights(tuned), 7, expected(t, "testdata/bert"))
	for k := range worker.stages {
		seed := worker.stages[k].m.Seed
		if before, twice := seen[seed]; twice || seed == 0 {
			t.Errorf("stages %d and %d drop by the seed %d", before, k, seed)
		}
		seen[seed] = k
	}
}

// Training of adapters starts with the pretrained encoder, whatever A is; and later the encoder with merged weights
// computes what the one with adapters computes.
func TestAdapters(t *testing.T) {
	for _, dir := range folders(t) {
		if filepath.Dir(dir) != "testdata" {
			continue
		}
		t.Run(filepath.Base(dir), func(t *testing.T) {
			e, err := Open(dir)
			must(t, err)
			tuned, err := NewTuned(e,
				Tuning{Read: Layers{e.Depth(), e.Depth()}, Frozen: -1, Adapter: Adapter{Rank: 2, Alpha: 5}})
			must(t, err)
			rng, w := rand.New(rand.NewPCG(1, 2)), make([]float32, tuned.Dim())
			at := 0
			for _, p := range tuned.Params() {
				n := p.Shape[0] * p.Shape[1]
				if p.Init != nil {
					p.Init(rng, p.Shape, w[at:at+n])
				}
				if isB := strings.HasSuffix(p.Name, adapterOut); isB != (p.Init == nil) {
					t.Errorf("%s: B starts at zero, and A does not", p.Name)
				}
				at += n
			}
			want := expected(t, dir)
			frozen := encode(t, e, "last", want.ids, want.offsets)
			if off := relative(rowsOfTuned(t, tuned, w, want), frozen); off > 1e-5 {
				t.Errorf("before training the rows differ from the pretrained encoder's by %.2g", off)
			}
			for i := range w {
				w[i] = float32(rng.NormFloat64()) / 4
			}
			got := rowsOfTuned(t, tuned, w, want)
			if off := relative(got, frozen); off < 1e-2 {
				t.Errorf("adapters change the rows by %.2g only", off)
			}
			merged := newEncoder(dir, e.config, e.family, e.layout, tuned.Merged(w))
			if off := relative(encode(t, merged, "last", want.ids, want.offsets), got); off > 1e-4 {
				t.Errorf("the encoder with merged weights differs from the one with adapters by %.2g", off)
			}
		})
	}
}

func TestParseAdapter(t *testing.T) {
	for text, want := range map[string]Adapter{"": {}, "lora:8": {8, 16}, "lora:3:1.5": {3, 1.5}} {
		got, err := ParseAdapter(text)
		must(t, err)
		again, err := ParseAdapter(got.String())
		must(t, err)
		if got != want || again != want {
			t.Errorf("%q is %v, want %v", text, got, want)
		}
	}
	for _, text := range []string{"lora", "lora:", "lora:0", "lora:-1", "lora:8:0", "lora:8:x", "lora:8:inf",
		"lora:8:1:2", "ia3:8", "8"} {
		if a, err := ParseAdapter(text); err == nil || !strings.Contains(err.Error(), "lora:R:ALPHA") {
			t.Errorf("%q is %v, error %v", text, a, err)
		}
	}
	e, err := Open("testdata/bert")
	must(t, err)
	if _, err := NewTuned(e, Tuning{Read: Layers{1, 1}, Adapter: Adapter{Rank: 17, Alpha: 1}}); err == nil ||
		!strings.Contains(err.Error(), "at most 16") {
		t.Errorf("adapters of rank 17 for weights of 16 rows: error %v", err)
	}
	if _, err := NewTuned(e, Tuning{Read: Layers{0, 0}, Frozen: -1, Adapter: Adapter{Rank: 1, Alpha: 1}}); err == nil ||
		!strings.Contains(err.Error(), "nothing is left") {
		t.Errorf("adapters of embeddings: error %v", err)
	}
}
