package resident_test

import (
	"math/rand/v2"
	"testing"

	"github.com/dsp-go/dsp/cuda/cudatest"
	"github.com/dsp-go/dsp/cuda/resident"
	"github.com/dsp-go/dsp/structured"
	"github.com/dsp-go/dsp/structured/chains"
)

// A pass takes fewer positions at once when a network's layers are wide, so that no array has much more than 2^28
// numbers.
func TestPassCapacityIsBoundedByTheWidestArray(t *testing.T) {
	lengths := make([]int, 2000)
	for i := range lengths {
		lengths[i] = 50
	}
	set := cudatest.ChainData(rand.New(rand.NewPCG(1, 1)), 3, lengths...)
	set.Characters = &structured.Segments{Offsets: make([]int, set.Positions()+1)}
	for i := range set.Characters.Offsets {
		set.Characters.Offsets[i] = 4 * i
	}
	data := &resident.Data{Set: set}
	for _, c := range []struct {
		widths resident.Widths
		rows   int
	}{
		{resident.Widths{}, 1 << 16},
		{resident.Widths{Row: 300}, 1 << 16},
		{resident.Widths{Row: 1 << 15}, 1 << 13},
		{resident.Widths{Row: 300, Char: 1 << 15}, 1 << 11},
		{resident.Widths{Row: 1 << 30}, 56}, // one chain, in a bucket
	} {
		got := data.PassCapacity(resident.PassPositions, chains.Form(3, false), c.widths)
		if got.Rows > c.rows || got.Rows < c.rows*7/8 {
			t.Errorf("widths %+v: %d positions at once, expected %d", c.widths, got.Rows, c.rows)
		}
	}
}
