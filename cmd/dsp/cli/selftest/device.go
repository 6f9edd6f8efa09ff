package selftest

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"

	"github.com/dsp-go/dsp/cuda/device"
	"github.com/dsp-go/dsp/cuda/devicecode"
)

// Largest relative differences allowed between the device and the CPU, in float32 and in TF32.
const (
	single = 1e-5
	tf32   = 1e-3
)

// rig is the device under test. Checks use smaller sizes on an emulated device.
type rig struct {
	*device.Device
	small  bool
	reopen func() (*device.Device, error)
	broken []*device.Device // by checks, before this one
}

const launchesAll = "every kernel was launched"

// OnDevice returns the checks of a device, and what closes it. They compare all of its kernels, and training by every
// method, with the CPU. The last check verifies that the others launched every kernel. After a check that broke the
// device, the next one reopens it.
func OnDevice(d *device.Device, reopen func() (*device.Device, error)) (checks []Check, end func() error) {
	g := &rig{Device: d, small: d.Info().Emulated(), reopen: reopen}
	return g.checks(), g.end
}

// end closes the device. An error that broke it has been reported.
func (g *rig) end() error {
	if g.Err() != nil {
		_ = g.Close()
		return nil
	}
	return g.Close()
}

// mend opens the device again if a check broke it.
func (g *rig) mend() error {
	if g.Err() == nil {
		return nil
	}
	_ = g.Close() // the error is known
	d, err := g.reopen()
	if err != nil {
		return fmt.Errorf("not run: the device did not open again: %w", err)
	}
	g.broken = append(g.broken, g.Device)
	g.Device = d
	return nil
}

func (g *rig) checks() []Check {
	checks := slices.Concat([]Check{{"arrays, copies and graphs", g.checkArrays}, {"sums of the gradients of parts", g.checkAddedParts}}, g.productChecks(), g.oracleChecks(), g.treeChecks(), g.netChecks(), g.trainingChecks(),
		[]Check{{launchesAll, g.checkLaunches}})
	for i, c := range checks {
		checks[i].run = func(ctx context.Context, r *rand.Rand, w *worst) (string, error) {
			if err := g.mend(); err != nil {
				return "", err
			}
			found, err := c.run(ctx, r, w)
			if failed := g.Sync(); failed != nil { // a device error explains a failed check better than its result
				err = failed
			}
			return found, err
		}
	}
	return checks
}

// pick returns size for a real device and small for an emulated one.
func (g *rig) pick(size, small int) int {
	if g.small {
		return small
	}
	return size
}

// checkArrays copies numbers to the device, within it and back, by single calls and by a graph that is replayed on
// other numbers.
func (g *rig) checkArrays(_ context.Context, r *rand.Rand, w *worst) (string, error) {
	const n, lo, hi = 1000, 300, 777
	to, fill := poisoned[float32](g, n), func(x device.Array[float32], value float32) {
		g.Launch("fill", device.Dim{X: 2}, device.Dim{X: 64}, 0, x, value, int64(x.Len()))
	}
	first, second := normals(r, n), normals(r, n)
	from := upload(g, first)
	graph := g.Capture(func() {
		device.Copy(g.Device, to, from)
		device.Zero(g.Device, to.Slice(0, 10))
		fill(to.Slice(lo, hi), 3)
	})
	defer graph.Free()
	for _, x := range [][]float32{first, second} {
		device.Upload(g.Device, from, x)
		g.Replay(graph)
		clear(x[:10])
		for i := lo; i < hi; i++ {
			x[i] = 3
		}
		if err := w.nearScaled("array", download(g, to), x, 0); err != nil {
			return "", err
		}
	}
	return "", g.Sync()
}

// guests are the kernels that the C library alone launches, in its caller's memory; its own tests check them
// (cmd/libdsp/foreign).
var guests = []string{"chain_loss", "find_invalid", "refuse", "tree_loss"}

func (g *rig) checkLaunches(_ context.Context, _ *rand.Rand, w *worst) (string, error) {
	var missing []string
	compiled, err := devicecode.Compiled()
	if err != nil {
		return "", err
	}
	for _, name := range compiled.Names() {
		if slices.Contains(guests, name) {
			continue
		}
		launches := g.Launches(name)
		for _, d := range g.broken {
			launches += d.Launches(name)
		}
		if w.compare++; launches == 0 {
			missing = append(missing, name)
		}
	}
	if len(missing) > 0 {
		return "", fmt.Errorf("no check launched %s", strings.Join(missing, ", "))
	}
	return fmt.Sprintf("%d kernels", w.compare), nil
}

func upload[E device.Element](g *rig, x []E) device.Array[E] {
	on := device.New[E](g.Device, len(x), "a selftest")
	device.Upload(g.Device, on, x)
	return on
}

func download[E device.Element](g *rig, x device.Array[E]) []E {
	to := make([]E, x.Len())
	device.Download(g.Device, to, x)
	return to
}

// poisoned returns an array filled with a number that the code under test must overwrite.
func poisoned[E float32 | float64](g *rig, n int) device.Array[E] {
	x := make([]E, n)
	for i := range x {
		x[i] = 12345
	}
	return upload(g, x)
}

// nearScaled compares got with want entry by entry; errors are relative to the largest entry of want, or to 1.
func (w *worst) nearScaled(what string, got, want []float32, tolerance float64) error {
	if len(got) != len(want) {
		return fmt.Errorf("%s: %d entries, want %d", what, len(got), len(want))
	}
	scale := 1.
	for _, x := range want {
		scale = max(scale, abs(float64(x)))
	}
	for i, x := range want {
		w.compare++
		e := abs(float64(got[i])-float64(x)) / scale
		if !(e <= tolerance) {
			return fmt.Errorf("%s: entry %d is %v, want %v", what, i, got[i], x)
		}
		w.error = max(w.error, e)
	}
	return nil
}

// nearAsVectors compares ‖got − want‖ with ‖want‖. It suits results of many rounded products, whose single entries can
// be far off.
func (w *worst) nearAsVectors(what string, got, want []float32, tolerance float64) error {
	if len(got) != len(want) {
		return fmt.Errorf("%s: %d entries, want %d", what, len(got), len(want))
	}
	apart, size := 0., 1e-30
	for i, x := range want {
		d := float64(got[i]) - float64(x)
		apart, size = apart+d*d, size+float64(x)*float64(x)
	}
	w.compare += len(want)
	e := math.Sqrt(apart / size)
	if !(e <= tolerance) {
		return fmt.Errorf("%s: relative error %v in norm", what, e)
	}
	w.error = max(w.error, e)
	return nil
}
