package cudanets_test

import (
	"math/rand/v2"
	"testing"

	"github.com/dsp-go/dsp/cuda/cudatest"
	"github.com/dsp-go/dsp/nets"
	"github.com/dsp-go/dsp/nets/graph"
)

// Networks of random sizes.
func TestRandomNetsEqualCPU(t *testing.T) {
	rng := rand.New(rand.NewPCG(9, 10))
	for range 12 {
		input := graph.Input{Dim: 1 + rng.IntN(40)}
		c := nets.Config{
			Net:        []string{"linear", "mlp", "cnn", "embed"}[rng.IntN(4)],
			Activation: []graph.Activation{graph.ELU, graph.Tanh, graph.ReLU}[rng.IntN(3)],
			Edges:      []string{nets.EdgesTransition, nets.EdgesPosition, nets.EdgesNone}[rng.IntN(3)],
			Window:     1 + 2*rng.IntN(3),
		}
		seed := uint64(0)
		switch c.Net {
		case "mlp":
			c.Hidden = []int{1 + rng.IntN(70)}
		case "cnn":
			c.Channels = []int{1 + rng.IntN(40)}
		case "embed":
			c.Channels = []int{1 + rng.IntN(20)}
			input.Vocab = []int{1 + rng.IntN(500), 1 + rng.IntN(3)}
			c.Embed = []int{1 + rng.IntN(40), 1 + rng.IntN(3)}
		}
		if c.Net != "linear" && rng.IntN(2) == 0 {
			c.Dropout, seed = 0.1+0.8*rng.Float64(), rng.Uint64()
		}
		labels := 1 + rng.IntN(9)
		net, err := nets.New(c, input, labels)
		cudatest.Must(t, err)
		data := cudatest.RandomData(rng, input, labels, rng.IntN(60), rng.IntN(9), 1)
		r := newRig(t, cudatest.Device(t), net, data, graph.Bucket(data.Positions()+rng.IntN(20)))
		t.Logf("%+v of %+v, %d labels", c, input, labels)
		r.check([]int{1, 2, 0}, seed)
	}
}
