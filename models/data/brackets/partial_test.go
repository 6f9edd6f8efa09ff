package brackets

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/dsp-go/dsp/structured"
	"github.com/dsp-go/dsp/structured/constituents"
)

// without appends the texts of all trees that are left when some brackets are taken out of one, and for each of the
// others the label is kept or made one that allows it. The outermost bracket may go only where another has the same
// words.
func without(n *Node) [][]*Node {
	if n.Children == nil {
		return [][]*Node{{n}}
	}
	lists := [][]*Node{nil}
	for _, c := range n.Children {
		var longer [][]*Node
		for _, list := range lists {
			for _, more := range without(c) {
				longer = append(longer, slices.Concat(list, more))
			}
		}
		lists = longer
	}
	all := lists
	for _, list := range lists {
		all = append(all, []*Node{{Label: n.Label, Children: list}}, []*Node{{Label: "_", Children: list}},
			[]*Node{{Label: n.Label + "|X", Children: list}})
	}
	return all
}

// An output agrees with a tree that is given if and only if brackets can be taken out of it, and labels left open,
// until it is that tree.
func TestPartialTrees(t *testing.T) {
	names := structured.NewAlphabet("A", "B", "A+B")
	var θ structured.Potentials
	const n = 2
	offsets := []int{0, n * n}
	θ.Reshape(constituents.Form(names.Len()), offsets, func(string) []int { return offsets })
	words, tags := []string{"u", "v"}, []string{"T", "T"}
	var outputs [][]int32
	var givers []map[string]bool // of each output, the trees with which it agrees
	constituents.Tree{}.Each(&θ, 0, func(y []int32) {
		below := map[string]bool{}
		for _, list := range without(FromOutput(y, words, tags, names)) {
			if len(list) == 1 {
				below[string(list[0].Append(nil))] = true
			}
		}
		outputs, givers = append(outputs, slices.Clone(y)), append(givers, below)
	})
	r := rand.New(rand.NewPCG(1, 2))
	for range 60 {
		var text string
		at := r.IntN(40)
		for text = range givers[r.IntN(len(givers))] {
			if at--; at < 0 {
				break
			}
		}
		d, err := Reader{Names: names}.Read(strings.NewReader(text), "x")
		if err == nil {
			err = ReadPartial(d, names)
		}
		if err != nil {
			t.Fatal(err)
		}
		gold := d.GoldOf(0)
		for k, y := range outputs {
			agrees := true
			for at := range y {
				var one [1]int32
				possible := gold.Possible(at, &one)
				agrees = agrees && (possible == nil || slices.Contains(possible, y[at]))
			}
			if agrees != givers[k][text] {
				t.Fatalf("%s given, %s agrees: %v", text, FromOutput(y, words, tags, names).Append(nil), agrees)
			}
		}
	}
}

// Labels that the model does not have are refused; functions go from every one of several labels, and a label may hold
// the separator.
func TestPartialLabels(t *testing.T) {
	names := structured.NewAlphabet("S", "NP", "ADVP|PRT")
	read := func(text string) ([]int32, [][]int32, error) {
		d, err := Reader{Names: names}.Read(strings.NewReader(text), "x")
		if err == nil {
			err = ReadPartial(d, names)
		}
		return d.Labels, d.LabelSets, err
	}
	labels, sets, err := read("(S-1 (NP-SBJ|S=2 (T u)) (ADVP|PRT (T v)))")
	if err != nil || !slices.Equal(labels, []int32{-2, -3, -1, -4}) && len(labels) != 4 {
		t.Errorf("%v, %v", labels, err)
	}
	if get := func(k int) []int32 { return sets[-1-labels[k]] }; !slices.Equal(get(1), []int32{1}) ||
		!slices.Equal(get(0), []int32{1, 2}) || !slices.Equal(get(3), []int32{3}) || get(2) != nil {
		t.Errorf("%v of %v", labels, sets)
	}
	if _, _, err := read("(S (T u))\n(S (VP (T u) (T v)) (T w))"); !structured.IsBadInput(err) ||
		!strings.Contains(err.Error(), "x:2: no constituent with the label VP") {
		t.Error(err)
	}
}
