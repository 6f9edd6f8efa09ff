package cudanets_test

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/dsp-go/dsp/cuda/cudatest"
	"github.com/dsp-go/dsp/nets"
	"github.com/dsp-go/dsp/nets/graph"
)

// Chains that span many blocks of the scan over time, that start and end within blocks and at their ends, and padding.
func TestLongRecurrences(t *testing.T) {
	for _, lengths := range [][]int{{300}, {64, 64, 129, 1, 0, 63, 200}, {128, 500, 2}} {
		for _, name := range []string{"recurrences", "rnn"} {
			t.Run(fmt.Sprint(name, lengths), func(t *testing.T) {
				d, rng := cudatest.Device(t), rand.New(rand.NewPCG(11, 12))
				net, input := ownNet(t, ownGraphs["recurrences"]), ownInput
				if name == "rnn" {
					var err error
					input = graph.Input{Dim: 3}
					net, err = nets.New(nets.Config{Net: "rnn", Recurrent: []int{5, 4}}, input, 4)
					cudatest.Must(t, err)
				}
				data := cudatest.RandomData(rng, input, 4, lengths...)
				r := newRig(t, d, net, data, graph.Bucket(data.Positions()+90))
				examples := rng.Perm(data.Len())
				r.check(examples, 0)
				r.check(examples[:1], 0)
			})
		}
	}
}
