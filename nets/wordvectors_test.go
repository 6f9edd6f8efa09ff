package nets_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/dsp-go/dsp/nets"
	"github.com/dsp-go/dsp/nets/graph"
	"github.com/dsp-go/dsp/structured"
)

// someVectors makes vectors for all words but numbers 0 and 3.
func someVectors(words, dim int, frozen bool) *graph.WordVectors {
	v := &graph.WordVectors{Dim: dim, Rows: make([]float32, words*dim), Frozen: frozen}
	for i := range v.Rows {
		if id := i / dim; id != 0 && id != 3 {
			v.Rows[i] = float32(i%7) - 2.5
		}
	}
	return v
}

// The embedding of words with a vector starts at zero; its size is that of the vectors if it is added to them.
func TestInitWithVectors(t *testing.T) {
	for _, frozen := range []bool{false, true} {
		net := mustNew(t, nets.Config{Net: "embed"}, graph.Input{Vocab: []int{5, 3}, Vectors: someVectors(5, 6, frozen)}, 2)
		a, ok := net.Layout().Find("embed1")
		size := 6
		if frozen {
			size = 4 // the default for 5 words
		}
		if !ok || !slices.Equal(a.Shape, []int{5, size}) {
			t.Fatalf("embed1 has shape %v, want [5 %d]", a.Shape, size)
		}
		w := a.Of(net.Init(1))
		for id := range 5 {
			zero := true
			for _, x := range w[id*size : (id+1)*size] {
				zero = zero && x == 0
			}
			if want := id != 0 && id != 3; zero != want {
				t.Errorf("frozen %v: the embedding of word %d is zero: %v, want %v", frozen, id, zero, want)
			}
		}
	}
}

// With trained embeddings of zero, a word's vector alone decides its potentials; the row table of the optimiser stays
// the embedding.
func TestVectorsAreNoWeights(t *testing.T) {
	with := mustNew(t, nets.Config{Net: "embed"}, graph.Input{Vocab: []int{5}, Vectors: someVectors(5, 4, false)}, 2)
	without := mustNew(t, nets.Config{Net: "embed", Embed: []int{4}}, graph.Input{Vocab: []int{5}}, 2)
	if with.Dim() != without.Dim() {
		t.Fatalf("%d weights with vectors, %d without", with.Dim(), without.Dim())
	}
	if got, want := with.RowTables(), without.RowTables(); len(got) != 1 || got[0] != want[0] {
		t.Errorf("row tables %v, want %v", got, want)
	}
	// Moving the vectors into the embedding leaves the potentials as they are.
	data := &structured.Dataset{Offsets: []int{0, 5}, Ids: []int32{0, 1, 2, 3, 4}, Vocab: []*structured.Alphabet{{}}}
	var batch structured.Batch
	batch.Reset(data, []int{0})
	w := with.Init(3)
	moved := append([]float32(nil), w...)
	a, _ := with.Layout().Find("embed1")
	for i, x := range with.Input().Vectors.Rows {
		a.Of(moved)[i] += x
	}
	var θ, want structured.Potentials
	if err := with.NewNetWorker().Score(w, &batch, &θ); err != nil {
		t.Fatal(err)
	}
	if err := without.NewNetWorker().Score(moved, &batch, &want); err != nil {
		t.Fatal(err)
	}
	for k, part := range θ.Parts {
		for i, x := range part.Values {
			if d := x - want.Parts[k].Values[i]; d > 1e-5 || d < -1e-5 {
				t.Fatalf("part %d: potential %d is %v, want %v", k, i, x, want.Parts[k].Values[i])
			}
		}
	}
}

func TestVectorErrors(t *testing.T) {
	for _, test := range []struct {
		c    nets.Config
		in   graph.Input
		want string
	}{
		{nets.Config{Net: "embed"}, graph.Input{Vocab: []int{6}, Vectors: someVectors(5, 4, true)},
			"20 numbers of 4 per word do not fit vocabularies of [6] entries"},
		{nets.Config{Net: "embed", Embed: []int{8}}, graph.Input{Vocab: []int{5}, Vectors: someVectors(5, 4, false)},
			"an embedding of words of size 8 cannot be added to vectors of size 4"},
		{nets.Config{Net: "mlp"}, graph.Input{Dim: 3, Vectors: someVectors(5, 4, false)}, "do not fit vocabularies"},
	} {
		if _, err := nets.New(test.c, test.in, 2); !structured.IsBadInput(err) || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%v, want %s", err, test.want)
		}
	}
}
