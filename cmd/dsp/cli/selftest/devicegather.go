package selftest

import (
	"context"
	"math/rand/v2"

	"github.com/dsp-go/dsp/cuda/device"
	"github.com/dsp-go/dsp/structured/sys/vec"
)

// checkAddedParts adds gradients of five parts, of which three ranks have 1, 2 and 2, in their order, as the CPU does.
func (g *rig) checkAddedParts(_ context.Context, r *rand.Rand, w *worst) (string, error) {
	const parts, ranks, slots = 5, 3, 2
	n := g.pick(1_000_000, 1000)
	all, want := normals(r, slots*ranks*n), make([]float32, n)
	for _, at := range []struct{ rank, slot int }{{0, 0}, {1, 0}, {1, 1}, {2, 0}, {2, 1}} {
		vec.Axpy(1, all[(at.slot*ranks+at.rank)*n:][:n], want)
	}
	sum := poisoned[float32](g, n)
	g.Launch("add_parts", device.Dim{X: device.CeilDiv(n, device.BlockThreads)}, device.Dim{X: device.BlockThreads}, 0, upload(g, all), sum, int32(parts), int32(ranks), int64(n))
	return "", w.nearScaled("sum", download(g, sum), want, 0)
}
