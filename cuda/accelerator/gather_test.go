package accelerator_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/dsp-go/dsp/cuda/accelerator"
	"github.com/dsp-go/dsp/cuda/cudatest"
	"github.com/dsp-go/dsp/cuda/device"
	"github.com/dsp-go/dsp/structured/sys/vec"
	"github.com/dsp-go/dsp/train"
	"github.com/dsp-go/dsp/train/engine"
)

// joined makes devices a group, and returns what has accelerators exchange gradients over it.
func joined(t *testing.T, devices []*device.Device) func(rank int, a *accelerator.Accelerator) error {
	t.Helper()
	library, why, err := device.OpenNCCL(true)
	if err != nil || library == nil {
		t.Fatal(why, err)
	}
	group, err := library.NewIdentifier()
	cudatest.Must(t, err)
	return func(rank int, a *accelerator.Accelerator) error {
		c, err := devices[rank].Join(library, len(devices), rank, group, func() error { return nil })
		if err == nil {
			a.GatherOver(c)
		}
		return err
	}
}

// Devices that exchange the gradients of parts, in blocks, have the bits of one process whose host adds them, in steps
// of descents and of paths and in full passes. Batches of fewer examples than parts leave some rank without one.
func TestDevicesGatherParts(t *testing.T) {
	one := cudatest.Device(t)
	for _, c := range []struct{ ranks, parts, block int }{{2, 2, 1 << 20}, {2, 3, 1 << 8}, {3, 3, 1}, {3, 5, 1 << 10}, {1, 3, 1 << 8}} {
		t.Run(fmt.Sprintf("%d ranks, %d parts", c.ranks, c.parts), func(t *testing.T) {
			defer accelerator.SetGathered(c.block)()
			for _, name := range []string{"network", "smoothed", "dropout", "embeddings, hinge"} {
				p := descentProblems(t)[name]
				for what, work := range map[string]func(ctx context.Context, p *train.Problem) ([]float32, error){
					"path": pathInParts, "pass": passInParts,
					"adam": func(ctx context.Context, p *train.Problem) ([]float32, error) {
						return descendInParts(ctx, p, rules["adam"])
					},
					"prox": func(ctx context.Context, p *train.Problem) ([]float32, error) {
						return descendInParts(ctx, p, rules["prox"])
					},
				} {
					do := func(ctx context.Context, e *engine.Engine) ([]float32, error) {
						q := *p
						q.Engine = e
						return work(ctx, &q)
					}
					want := inParts(t, []*device.Device{one}, p.Objective, c.parts, nil, do)
					devices := cudatest.Several(t, c.ranks)
					if got := inParts(t, devices, p.Objective, c.parts, joined(t, devices), do); !sameBits(got, want) {
						t.Errorf("%s, %s: other bits than those of the host's sums", name, what)
					}
					for _, d := range devices {
						cudatest.Must(t, d.Close())
					}
				}
			}
		})
	}
}

// Parts of any number of ranks are added in their order.
func TestAddParts(t *testing.T) {
	d := cudatest.Device(t)
	r := rand.New(rand.NewPCG(1, 6))
	for _, c := range []struct{ parts, ranks, n int }{{1, 1, 5}, {2, 2, 300}, {3, 2, 700}, {2, 3, 17}, {7, 3, 1000}, {5, 5, 64}} {
		slots := device.CeilDiv(c.parts, c.ranks)
		all, want := cudatest.Vector(r, slots*c.ranks*c.n, 1), make([]float32, c.n)
		for rank := range c.ranks {
			lo, hi := c.parts*rank/c.ranks, c.parts*(rank+1)/c.ranks
			for k := lo; k < hi; k++ {
				part := all[((k-lo)*c.ranks+rank)*c.n:][:c.n]
				if k == 0 {
					copy(want, part)
				} else {
					vec.Axpy(1, part, want)
				}
			}
		}
		sum := device.New[float32](d, c.n, "sum")
		d.Launch("add_parts", device.Dim{X: 2}, device.Dim{X: 256}, 0, cudatest.Uploaded(d, all), sum, int32(c.parts), int32(c.ranks), int64(c.n))
		if got := cudatest.Downloaded(d, sum); !sameBits(got, want) {
			t.Errorf("%+v: %v, want %v", c, got, want)
		}
	}
}
