package cut_test

import (
	"encoding/binary"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"testing"
	"time"

	"github.com/dsp-go/dsp/oracles"
	"github.com/dsp-go/dsp/oracles/cut"
	"github.com/dsp-go/dsp/structured"
	"github.com/dsp-go/dsp/structured/graphs"
)

var (
	problem = flag.String("problem", "", "file of a Potts graph, for bench/cut.py: V, E (int32); node [V×2] (float32); "+
		"ends [E×2] (int32); edge [E] (float32)")
	rounds = flag.Int("rounds", 5, "number of repetitions with -problem")
)

// times are seconds per call.
type times struct {
	Max      []float64 `json:"max"`
	Marginal []float64 `json:"marginal"`
	Value    float64   `json:"value"`
}

// With -problem it times cuts for bench/cut.py, and prints JSON.
func TestTimes(t *testing.T) {
	if *problem == "" {
		t.Skip("needs -problem FILE")
	}
	file, err := os.Open(*problem)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	read := func(to any) {
		if err := binary.Read(file, binary.LittleEndian, to); err != nil {
			t.Fatal(err)
		}
	}
	sizes := make([]int32, 2)
	read(sizes)
	n, edges := int(sizes[0]), int(sizes[1])
	θ, g := new(structured.Potentials), &structured.Graph{Ends: make([][2]int32, edges)}
	θ.Reshape(graphs.Pairwise{Edges: graphs.Potts, By: graphs.Cut}.Form(2, 0), []int{0, n}, func(table string) []int {
		if table == graphs.EdgeRows {
			return []int{0, edges}
		}
		return []int{0, n}
	})
	read(θ.Parts[0].Values)
	read(g.Ends)
	read(θ.Parts[1].Values)
	θ.Graphs = []*structured.Graph{g}

	o, y, value, m := cut.New(), make([]int32, n), make([]float64, 1), oracles.MaxMarginals{}
	seconds := func(ask func()) float64 {
		start := time.Now()
		ask()
		return time.Since(start).Seconds()
	}
	o.Max(θ, y, value) // grows scratch memory
	r := times{Value: value[0]}
	for range *rounds {
		r.Max = append(r.Max, seconds(func() { o.Max(θ, y, value) }))
	}
	if n <= 100*100 {
		for range *rounds {
			r.Marginal = append(r.Marginal, seconds(func() { o.MaxMarginals(θ, y, value, &m) }))
		}
	}
	if err := json.NewEncoder(os.Stdout).Encode(r); err != nil {
		t.Fatal(err)
	}
	fmt.Println()
}
