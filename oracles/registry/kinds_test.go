package registry_test

import (
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/dsp-go/dsp/oracles"
	"github.com/dsp-go/dsp/oracles/oracletest"
	"github.com/dsp-go/dsp/oracles/registry"
	"github.com/dsp-go/dsp/structured"
	"github.com/dsp-go/dsp/structured/constituents"
	"github.com/dsp-go/dsp/structured/matchings"
	"github.com/dsp-go/dsp/structured/segments"
	"github.com/dsp-go/dsp/structured/trees"
)

// elsewhere are the structures whose oracles' packages check the contract, with each of their kernels.
var elsewhere = []structured.Structure{
	trees.SpanningTree{}, trees.SpanningTree{NonProjective: true}, segments.Segments{}, segments.Counted{},
	constituents.Tree{}, matchings.Matching{}, matchings.Matching{Complete: true},
}

// The oracle of every registered structure satisfies the contract. Structures' own packages check theirs.
func TestContract(t *testing.T) {
	for _, k := range registry.All {
		_, folder, _ := strings.Cut(reflect.TypeOf(k.Structure).PkgPath(), "/structured/")
		if _, err := os.Stat(filepath.Join("../../structured", folder, "contract_test.go")); err != nil {
			t.Errorf("%s: its package does not check the contract of structures: %v", k.Name(), err)
		}
		if !slices.ContainsFunc(elsewhere, func(s structured.Structure) bool { return s.Name() == k.Name() }) {
			t.Run(k.Name(), func(t *testing.T) { oracletest.Run(t, k, k.Oracle()) })
		}
	}
}

// Small draws examples of its own kind, Of finds each kind, and names are unique.
func TestOf(t *testing.T) {
	seen := map[string]bool{}
	for _, k := range registry.All {
		if seen[k.Name()] {
			t.Errorf("two kinds are called %s", k.Name())
		}
		seen[k.Name()] = true
		θ := k.Small(rand.New(rand.NewPCG(1, 2)))
		if got := registry.Of(θ.Structure); got.Name() != k.Name() || θ.Structure.Name() != k.Name() || θ.Len() < 1 {
			t.Errorf("small examples of %s are of %s, found as %s", k.Name(), θ.Structure.Name(), got.Name())
		}
	}
}

// Every structure with exact sums draws samples; the others say why they do not.
func TestSamplers(t *testing.T) {
	sums := 0
	for _, k := range registry.All {
		_, noSums := oracles.ExactSums(k.Oracle(), "--entropy", k.Name())
		_, noSamples := oracles.Samplers(k.Oracle(), "--samples", k.Name())
		if noSums == nil && noSamples == nil {
			sums++
			continue
		}
		if noSums == nil || noSamples == nil || !strings.HasPrefix(noSums.Error(), "--entropy needs ") ||
			!strings.Contains(noSamples.Error(), k.Name()) {
			t.Errorf("%s: %v; %v", k.Name(), noSums, noSamples)
		}
	}
	if sums < 7 {
		t.Errorf("%d structures have sums", sums)
	}
}
