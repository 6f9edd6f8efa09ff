package cudanets_test

import (
	"math/rand/v2"
	"testing"

	"github.com/dsp-go/dsp/cuda/cudatest"
	cudanets "github.com/dsp-go/dsp/cuda/nets"
	"github.com/dsp-go/dsp/nets"
	"github.com/dsp-go/dsp/nets/graph"
	"github.com/dsp-go/dsp/structured"
)

// Convolutions over the cells of a grid on the device equal the CPU's.
func TestGridsEqualCPU(t *testing.T) {
	form := structured.Form{Structure: cells{}, Parts: []structured.Shape{{Name: "cell", Rows: structured.Positions, Width: 2}}}
	input := graph.Input{Dim: 3, Grid: graph.Grid{Height: 3, Width: 5}}
	net, err := nets.Make(nets.Config{Net: "cnn", Channels: []int{4, 3}, Window: 3}, input, nets.Output{Form: form})
	cudatest.Must(t, err)
	data := cudatest.RandomData(rand.New(rand.NewPCG(3, 4)), input, 3, 15, 0, 15, 15)
	checkParts(t, net, data, []int{3, 1, 0}, cudanets.NewBatch(cudanets.NewData(cudatest.Device(t), data), 6, 40, 15))
}
