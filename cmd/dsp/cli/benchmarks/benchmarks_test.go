package benchmarks

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/dsp-go/dsp/structured"
)

// An interrupt leaves the measurements that were made before it.
func TestInterruptKeepsSpeeds(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	done := func() error { return nil }
	interrupt := func() error { cancel(); return nil }
	all := []measure{{part: "first", sequences: 2, run: done}, {part: "second", sequences: 3, run: interrupt}, {part: "third", run: done}}
	speeds, err := repeatAll(ctx, all, 1e-9)
	if !errors.Is(err, context.Canceled) || len(speeds) != 1 || speeds[0].Part != "first" || !(speeds[0].Sequences > 0) {
		t.Errorf("measured %v with the error %v, expected the first one and an interrupt", speeds, err)
	}
}

// The table says how many labels segments have and how long they may be; potentials of steps are those of pairs
// of labels, and there is one of every label for each length.
func TestSegmentsAreThoseOfTheTable(t *testing.T) {
	seen := map[string]bool{}
	for _, b := range segmentBatches() {
		width := func(name string) int {
			return b.θ.Parts[slices.IndexFunc(b.θ.Parts, func(p structured.Part) bool { return p.Name == name })].Width
		}
		var labels, longest int
		_, after, _ := strings.Cut(b.part[len("oracle, "):], ", ")
		if _, err := fmt.Sscanf(after, "%d labels, at most %d", &labels, &longest); err != nil {
			t.Fatalf("%q: %v", b.part, err)
		}
		if b.θ.Len() != 32 || b.θ.OutputSize() != 3200 || width("transition") != labels*labels ||
			width("length") != labels*longest {
			t.Errorf("%q: %d sequences, %d positions, %d pairs of labels, %d lengths",
				b.part, b.θ.Len(), b.θ.OutputSize(), width("transition"), width("length"))
		}
		whole := slices.ContainsFunc(b.θ.Parts, func(p structured.Part) bool { return p.Name == "segment" })
		if whole != strings.Contains(b.part, "scored as a whole") || seen[b.part] {
			t.Errorf("%q: segments scored as a whole %v, shown before %v", b.part, whole, seen[b.part])
		}
		seen[b.part] = true
	}
}
