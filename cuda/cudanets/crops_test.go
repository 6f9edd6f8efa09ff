package cudanets_test

import (
	"math/rand/v2"
	"testing"

	"github.com/dsp-go/dsp/cuda/cudanets"
	"github.com/dsp-go/dsp/cuda/cudatest"
	"github.com/dsp-go/dsp/cuda/resident"
	"github.com/dsp-go/dsp/nets"
	"github.com/dsp-go/dsp/nets/graph"
	"github.com/dsp-go/dsp/structured/images"
)

// Crops that the device cuts out of images give the networks what those of the CPU give, beyond the images' rims too.
func TestCropsEqualCPU(t *testing.T) {
	for _, width := range []int{0, 2} {
		rng := rand.New(rand.NewPCG(5, 6))
		in := graph.Input{Map: graph.Map{Height: 6, Width: 6, Channels: images.Channels}, EdgeDim: 2}
		in.Dim = in.Map.Len() + width
		data := join(cudatest.RandomData(rng, graph.Input{Dim: width}, 3, 3, 1, 0, 19, 2, 5), in.EdgeDim)
		crops := &images.Crops{Side: 6, Width: width}
		for i := range data.Len() {
			m := &images.Image{Width: 2 + rng.IntN(9), Height: 2 + rng.IntN(9)}
			for range images.Channels * m.Width * m.Height {
				m.Pixels = append(m.Pixels, uint8(rng.IntN(256)))
			}
			var centres [][2]float64
			for range data.Length(i) {
				centres = append(centres, [2]float64{rng.Float64() * float64(m.Width), rng.Float64() * float64(m.Height)})
			}
			crops.Add(m, centres, data.Features[data.Offsets[i]*width:data.Offsets[i+1]*width])
		}
		data.Dim, data.Features, data.Source = in.Dim, nil, crops
		out, err := nets.GraphOutput(3, 2, nets.EdgesPotts)
		cudatest.Must(t, err)
		net, err := nets.Make(nets.Config{Net: "conv-crop", Channels: []int{4}, Hidden: []int{5}}, in, out)
		cudatest.Must(t, err)
		on := resident.NewData(cudatest.Device(t), data)
		for _, examples := range [][]int{{3, 0, 1, 2, 5, 4}, {4, 1}, {3}} {
			checkParts(t, net, data, examples, cudanets.NewPairBatch(on, data.Len()+1, 32, 19, 128))
		}
		on.Free()
	}
}
