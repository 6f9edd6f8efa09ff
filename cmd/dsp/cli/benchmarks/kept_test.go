package benchmarks

import (
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"os"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/dsp-go/dsp/structured"
)

// allMeasures are those of the oracles.
func allMeasures() []measure {
	return slices.Concat(chainMeasures(), secondMeasures(), segmentMeasures(), transcriptMeasures(), treeMeasures(), constituentMeasures(), grammarMeasures(), graphMeasures(), choiceMeasures(),
		windowMeasures(), matchingMeasures(), alignmentMeasures())
}

// What is measured stays what it was, to the bit of the potentials, so that tables of several versions can be compared.
func TestMeasuresAreKept(t *testing.T) {
	if runtime.GOARCH != "amd64" {
		t.Skip("processors with fused products round otherwise")
	}
	var got strings.Builder
	part := ""
	for _, m := range allMeasures() {
		if m.part != part {
			part = m.part
			fmt.Fprintf(&got, "%s: %d sequences, potentials %s\n", part, m.sequences, sumOf(m.asked))
		}
		fmt.Fprintf(&got, "    %s, %.6g operations\n", m.what, m.flops)
		if err := m.run(); err != nil {
			t.Errorf("%s: %v", m.name(), err)
		}
	}
	if want, err := os.ReadFile("testdata/measures.txt"); err != nil || got.String() != string(want) {
		t.Errorf("%v; measured is now\n%s", err, got.String())
	}
}

// sumOf is the beginning of a checksum of potentials: their forms, numbers and outputs.
func sumOf(θ *structured.Potentials) string {
	sum := sha256.New()
	fmt.Fprintln(sum, θ.Structure.Name(), θ.Outputs, θ.Gold)
	for _, g := range θ.Graphs {
		fmt.Fprintln(sum, g.Ends, g.Types)
	}
	for _, p := range θ.Parts {
		fmt.Fprintln(sum, p.Shape, p.Offsets)
		for _, x := range p.Values {
			_ = binary.Write(sum, binary.LittleEndian, math.Float32bits(x))
		}
	}
	return fmt.Sprintf("%x", sum.Sum(nil)[:6])
}

// Speeds are those of a whole batch, and errors of a run end the measurement.
func TestRepeat(t *testing.T) {
	runs := 0
	m := measure{"part", "what", 30, 6e9, func() error { runs++; return nil }, nil}
	s, err := m.repeat(t.Context(), 0)
	if err != nil || runs != 2 || s.Part != "part" || s.What != "what" || !(s.Sequences > 0) || math.Abs(s.GFLOPs/s.Sequences-6./30) > 1e-9 {
		t.Errorf("%+v after %d runs, %v", s, runs, err)
	}
	broken := errors.New("broken")
	for _, at := range []int{1, 2} {
		runs := 0
		m.run = func() error {
			if runs++; runs == at {
				return broken
			}
			return nil
		}
		if s, err := m.repeat(t.Context(), 0); !errors.Is(err, broken) || s != (Speed{}) {
			t.Errorf("%+v, %v", s, err)
		}
	}
}

// Run measures what the pattern names.
func TestRun(t *testing.T) {
	speeds, err := Run(t.Context(), 1e-9, regexp.MustCompile("^oracle, choice, 100 candidates: (max|exp)$"))
	if err != nil || len(speeds) != 2 || speeds[0].What != "max" || speeds[1].What != "exp" {
		t.Errorf("%+v, %v", speeds, err)
	}
	if none, err := Run(t.Context(), 1e-9, regexp.MustCompile("^x$")); err != nil || len(none) != 0 {
		t.Errorf("%+v, %v", none, err)
	}
}
