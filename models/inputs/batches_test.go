package inputs

import (
	"slices"
	"testing"

	"github.com/dsp-go/dsp/structured"
)

// Every example is in one batch, in order; a batch has as many positions as it may, and more only where one example
// alone has.
func TestBatches(t *testing.T) {
	for _, lengths := range [][]int{nil, {0}, {batchPositions}, {batchPositions - 1, 1, 1},
		{5000, 3, 0, 1021, 1, 1024, 7, 5000, 5000}, slices.Repeat([]int{100}, 35)} {
		d := &structured.Dataset{Offsets: []int{0}}
		for _, n := range lengths {
			d.Offsets = append(d.Offsets, d.Positions()+n)
		}
		next := 0
		for k, batch := range Batches(d) {
			positions := 0
			for _, i := range batch {
				if i != next {
					t.Fatalf("lengths %v: example %d comes where %d should", lengths, i, next)
				}
				next, positions = next+1, positions+lengths[i]
			}
			if positions > batchPositions && len(batch) > 1 || len(batch) == 0 {
				t.Errorf("lengths %v: batch %d of the examples %v has %d positions", lengths, k, batch, positions)
			}
			if next < len(lengths) && positions+lengths[next] <= batchPositions {
				t.Errorf("lengths %v: batch %d of %d positions has room for the next example, of %d", lengths,
					k, positions, lengths[next])
			}
		}
		if next != len(lengths) {
			t.Errorf("lengths %v: %d examples are in batches", lengths, next)
		}
	}
}
