package sparse

import (
	"math"
	"testing"

	"github.com/dsp-go/dsp/nets"
	"github.com/dsp-go/dsp/structured/trees"
)

// The table has each weight once, a row for every part with weights, and shares that add up to 1.
func TestLayers(t *testing.T) {
	chain, err := NewChain(50, 7, 3, nets.EdgesTransition)
	if err != nil {
		t.Fatal(err)
	}
	independent, err := NewChain(50, 0, 3, nets.EdgesNone)
	if err != nil {
		t.Fatal(err)
	}
	tree := New(trees.SpanningTree{}.Form(4), []Part{{Attributes: 20, Weights: "arc_attributes"}, {Attributes: 10, Weights: "label_attributes"}})
	for _, c := range []struct {
		net    *Linear
		output []string
	}{{chain, []string{"n×3", "n×9"}}, {independent, []string{"n×3"}}, {tree, []string{"p×1", "p×4"}}} {
		rows, err := c.net.Layers(c.net.Init(1))
		if err != nil {
			t.Fatal(err)
		}
		weights, share := 0, 0.0
		for i, l := range rows {
			weights, share = weights+l.Weights, share+l.Share
			if i >= len(c.output) || l.Output != c.output[i] {
				t.Errorf("row %d has output %s, expected %v", i, l.Output, c.output)
			}
		}
		if weights != c.net.Dim() || math.Abs(share-1) > 1e-9 || len(rows) != len(c.output) {
			t.Errorf("%d rows with %d of %d weights, shares of %v", len(rows), weights, c.net.Dim(), share)
		}
	}
}
