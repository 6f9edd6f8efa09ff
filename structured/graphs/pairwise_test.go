package graphs

import (
	"slices"
	"strings"
	"testing"

	"github.com/dsp-go/dsp/structured"
)

// Cuts take two labels, and exact inference takes any number.
func TestCheckLabels(t *testing.T) {
	for labels := 1; labels < 5; labels++ {
		if err := (Pairwise{}).CheckLabels(labels); err != nil {
			t.Errorf("exact inference of %d labels: %v", labels, err)
		}
		err := Pairwise{By: Cut}.CheckLabels(labels)
		if labels == 2 && err != nil || labels != 2 &&
			(!structured.IsBadInput(err) || !strings.Contains(err.Error(), "2 labels")) {
			t.Errorf("cuts of %d labels: %v", labels, err)
		}
	}
}

// A table lists an edge's potentials by its labels, whatever form they have.
func TestTable(t *testing.T) {
	g := &structured.Graph{Ends: [][2]int32{{0, 1}, {1, 0}}, Types: []int32{1, 0}}
	for _, c := range []struct {
		edges Edges
		want  []float32
	}{{Own, []float32{5, 6, 7, 8}}, {Typed, []float32{1, 2, 3, 4}}, {Potts, []float32{2, 0, 0, 2}}} {
		θ := new(structured.Potentials)
		θ.Reshape(Pairwise{Edges: c.edges}.Form(2, 2), []int{0, 2}, func(string) []int { return []int{0, 2} })
		θ.Graphs = []*structured.Graph{g}
		for k := range θ.Parts[1].Values {
			θ.Parts[1].Values[k] = float32(k + 1)
		}
		if got := (Pairwise{Edges: c.edges}).Table(θ, 0, 1); !slices.Equal(got, c.want) {
			t.Errorf("%v: table %v, want %v", c.edges, got, c.want)
		}
	}
}
