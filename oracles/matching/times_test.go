package matching_test

import (
	"encoding/binary"
	"encoding/json"
	"flag"
	"fmt"
	"math"
	"os"
	"slices"
	"testing"
	"time"

	"github.com/dsp-go/dsp/oracles"
	"github.com/dsp-go/dsp/oracles/matching"
	"github.com/dsp-go/dsp/structured"
	"github.com/dsp-go/dsp/structured/matchings"
)

var (
	problems = flag.String("problems", "", "file of float32 score matrices, for bench/assignment.py")
	size     = flag.Int("size", 0, "number of rows and columns of each matrix")
)

// times are seconds per problem.
type times struct {
	Single   []float64 `json:"single"`   // of every problem on its own
	Batch    float64   `json:"batch"`    // of all of them in one call, per problem: the median of several calls
	Marginal []float64 `json:"marginal"` // of every problem's max-marginals
	Values   []float64 `json:"values"`   // the best scores
}

// With -problems it times complete matchings for bench/assignment.py, and prints JSON.
func TestTimes(t *testing.T) {
	if *problems == "" {
		t.Skip("needs -problems FILE -size N")
	}
	file, err := os.ReadFile(*problems)
	if err != nil {
		t.Fatal(err)
	}
	count := len(file) / 4 / *size / *size
	s, θ, o := matchings.Matching{Complete: true}, new(structured.Potentials), matching.New()
	sizes := slices.Repeat([]int{*size}, count)
	s.Resize(θ, sizes, sizes)
	for i := range θ.Parts[0].Values {
		θ.Parts[0].Values[i] = math.Float32frombits(binary.LittleEndian.Uint32(file[4*i:]))
	}
	y, r := make([]int32, θ.OutputSize()), times{Values: make([]float64, count)}
	var m oracles.MaxMarginals
	var one structured.Potentials
	seconds := func(ask func()) float64 {
		start := time.Now()
		ask()
		return time.Since(start).Seconds()
	}
	for round := range 2 { // the first round grows scratch memory
		r.Single, r.Marginal = nil, nil
		for b := range count {
			θ.View(b, &one)
			r.Single = append(r.Single, seconds(func() { o.Max(&one, y, r.Values) }))
			if *size <= 200 || round > 0 {
				r.Marginal = append(r.Marginal, seconds(func() { o.MaxMarginals(&one, y, r.Values, &m) }))
			}
		}
	}
	var batches []float64
	for range 21 {
		batches = append(batches, seconds(func() { o.Max(θ, y, r.Values) })/float64(count))
	}
	slices.Sort(batches)
	r.Batch = batches[len(batches)/2]
	if err := json.NewEncoder(os.Stdout).Encode(r); err != nil {
		t.Fatal(err)
	}
	fmt.Println()
}
