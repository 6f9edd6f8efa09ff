package selftest

import (
	"context"
	"math/rand/v2"

	"github.com/dsp-go/dsp/nets"
	"github.com/dsp-go/dsp/nets/graph"
	"github.com/dsp-go/dsp/structured/images"
)

// crops compares a network on squares that the device cuts out of images, beyond the images' rims too, with the CPU's.
func (g *rig) crops(ctx context.Context, r *rand.Rand, w *worst) (string, error) {
	const side = 6
	in := graph.Input{Dim: side * side * images.Channels, Map: graph.Map{Height: side, Width: side, Channels: images.Channels}}
	net, err := nets.New(nets.Config{Net: "conv-crop", Channels: []int{4}, Hidden: []int{5}}, in, netLabels)
	if err != nil {
		return "", err
	}
	data := randomChains(r, in, netLabels, 3, 1, 0, g.pick(400, 4), 2)
	cut := &images.Crops{Side: side}
	for i := range data.Len() {
		m := &images.Image{Width: 2 + r.IntN(9), Height: 2 + r.IntN(9)}
		for range images.Channels * m.Width * m.Height {
			m.Pixels = append(m.Pixels, uint8(r.IntN(256)))
		}
		var centres [][2]float64
		for range data.Length(i) {
			centres = append(centres, [2]float64{r.Float64() * float64(m.Width), r.Float64() * float64(m.Height)})
		}
		cut.Add(m, centres, nil)
	}
	data.Features, data.Source = nil, cut
	n := &netCase{rig: g, net: net, data: data, w: w}
	for _, examples := range [][]int{r.Perm(data.Len()), {4, 1}} {
		if err := ctx.Err(); err != nil {
			return "", err
		}
		if err := n.check(r, examples); err != nil {
			return "", err
		}
		if err := g.Sync(); err != nil {
			return "", err
		}
	}
	return "", nil
}
