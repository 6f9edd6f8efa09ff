package foreign

import (
	"errors"
	"math"
	"math/rand/v2"
	"runtime"
	"slices"
	"strings"
	"testing"
	"unsafe"

	"github.com/dsp-go/dsp/cuda/cudatest"
	"github.com/dsp-go/dsp/cuda/device"
	"github.com/dsp-go/dsp/cuda/driver"
	"github.com/dsp-go/dsp/oracles"
	"github.com/dsp-go/dsp/oracles/oracletest"
	"github.com/dsp-go/dsp/oracles/registry"
	"github.com/dsp-go/dsp/structured"
)

// caller is another library with memory and a stream on the GPU, which a Device of its own answers.
type caller struct {
	t      testing.TB
	d      *device.Device
	stream uint64
	g      *Device
}

func newCaller(t testing.TB) *caller {
	c := &caller{t: t, d: cudatest.Device(t)}
	c.d.Do(func(stream uintptr) error { c.stream = uint64(stream); return nil })
	var err error
	if c.g, err = OpenDevice(0); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.g.Close() })
	return c
}

// upload enqueues copies of the parts into the caller's stream.
func (c *caller) upload(values [][]float32) (there There, free func()) {
	there.Stream = c.stream
	var all []device.Array[float32]
	for _, x := range values {
		all = append(all, device.NewFrom(c.d, x, "potentials"))
		there.Values = append(there.Values, all[len(all)-1].Address())
	}
	return there, func() {
		for _, x := range all {
			device.Free(c.d, x)
		}
	}
}

// sums asks a question whose values and marginals are on the GPU, and waits for them in the caller's stream.
func (c *caller) sums(b *Batch, values [][]float32, marginals bool,
	ask func(there There, value uint64, u []uint64) error) ([]float64, [][]float32, error) {
	there, free := c.upload(values)
	defer free()
	value := device.New[float64](c.d, b.Len(), "values")
	defer device.Free(c.d, value)
	var u []device.Array[float32]
	var at []uint64
	for k := range b.Parts() {
		u = append(u, device.New[float32](c.d, b.MarginalSize(k), "marginals"))
		at = append(at, u[k].Address())
		defer device.Free(c.d, u[k])
	}
	if !marginals {
		at = nil
	}
	if err := ask(there, value.Address(), at); err != nil {
		return nil, nil, err
	}
	host, to := make([]float64, b.Len()), [][]float32(nil)
	device.Download(c.d, host, value)
	for k := range at {
		to = append(to, make([]float32, b.MarginalSize(k)))
		device.Download(c.d, to[k], u[k])
	}
	return host, to, c.d.Err()
}

// askedOn is an oracle whose answers are those of a GPU.
type askedOn struct {
	asked
	c *caller
}

func (o *askedOn) Max(θ *structured.Potentials, y []int32, value []float64) {
	b, values := o.batch(θ)
	there, free := o.c.upload(values)
	defer free()
	if err := b.MaxOn(o.c.g, there, y[:b.Numbers()], value[:b.Len()]); err != nil {
		o.c.t.Fatal(err)
	}
}

func (o *askedOn) Exp(θ *structured.Potentials, μ float64, value []float64, u *structured.Marginals) {
	b, values := o.batch(θ)
	for _, x := range values {
		for _, v := range x {
			size := math.Abs(float64(v))
			if size > mostOverTemperature*μ && size < structured.MostPotential { // which are refused
				(&askedSums{o.asked}).Exp(θ, μ, value, u)
				return
			}
		}
	}
	got, marginals, err := o.c.sums(b, values, u != nil, func(there There, value uint64, u []uint64) error {
		return b.ExpOn(o.c.g, there, μ, value, u)
	})
	if err != nil {
		o.c.t.Fatal(err)
	}
	copy(value, got)
	if u != nil {
		u.Like(θ)
		for k := range u.Parts {
			copy(u.Parts[k].Values, marginals[k])
		}
	}
}

var onGPU = []string{"chain", "projective tree", "non-projective tree"}

// Answers in the memory and the stream of another library satisfy the contract of oracles.
func TestGPUContract(t *testing.T) {
	c := newCaller(t)
	for _, name := range onGPU {
		for _, kind := range registry.All {
			if kind.Structure.Name() == name {
				t.Run(name, func(t *testing.T) { oracletest.Run(t, kind, &askedOn{c: c}) })
			}
		}
	}
}

// draw returns a batch of a form with random potentials, of which a share is −∞, and some outputs.
func draw(t *testing.T, r *rand.Rand, settings string, forbid float64, lengths ...int) (
	b *Batch, values [][]float32, y []int32) {
	t.Helper()
	f, err := NewForm([]byte(settings))
	if err != nil {
		t.Fatal(err)
	}
	tree := strings.Contains(settings, "tree")
	outputs, rows := []int{0}, []int{0}
	for _, n := range lengths {
		if outputs, rows = append(outputs, outputs[len(outputs)-1]+n), append(rows, rows[len(rows)-1]+n); tree {
			outputs[len(outputs)-1] += n
			rows[len(rows)-1] += n*n - n
		}
	}
	layout := Layout{Outputs: outputs}
	for _, p := range f.Parts {
		if p.Rows == structured.Tied {
			layout.Offsets = append(layout.Offsets, nil)
			continue
		}
		layout.Offsets = append(layout.Offsets, rows)
	}
	if b, err = f.NewBatch(layout); err != nil {
		t.Fatal(err)
	}
	for k := range b.Parts() {
		x := make([]float32, b.Size(k))
		for i := range x {
			if x[i] = float32(r.NormFloat64()); r.Float64() < forbid {
				x[i] = forbidden
			}
		}
		values = append(values, x)
	}
	for e := range lengths {
		size := outputs[e+1] - outputs[e]
		for i := range size {
			switch {
			case !tree:
				y = append(y, int32(r.IntN(f.Settings.Labels)))
			case i < size/2:
				y = append(y, int32(i)) // each word has the one before it as its head
			default:
				y = append(y, int32(r.IntN(f.Settings.Labels)))
			}
		}
	}
	return b, values, y
}

var drawn = []string{
	`{"structure": "chain", "labels": 5}`,
	`{"structure": "chain", "labels": 3, "per_position": true}`,
	`{"structure": "chain", "labels": 300}`,
	`{"structure": "projective tree", "labels": 3}`,
	`{"structure": "non-projective tree", "labels": 1}`,
}

// Losses and gradients are those of the host, also of outputs that potentials forbid, and of potentials that are NaN.
func TestGPULoss(t *testing.T) {
	c := newCaller(t)
	for _, settings := range drawn {
		for seed := range uint64(4) {
			forbid := []float64{0, 0.05, 0, 0}[seed]
			b, values, y := draw(t, rand.New(rand.NewPCG(seed, 1)), settings, forbid, 4, 1, 7, 3)
			if seed == 2 {
				values[0][b.Size(0)/2] = float32(math.NaN())
			}
			if seed == 3 && !strings.Contains(settings, "tree") {
				values[1][1] = float32(math.Inf(1))
			}
			want, gradient := make([]float64, b.Len()), [][]float32(nil)
			for k := range b.Parts() {
				gradient = append(gradient, make([]float32, b.MarginalSize(k)))
			}
			if _, err := b.Loss(values, Run{}, y, want, gradient); err != nil {
				t.Fatal(err)
			}
			got, u, err := c.sums(b, values, true, func(there There, value uint64, u []uint64) error {
				return b.LossOn(c.g, there, y, value, u)
			})
			if err != nil {
				t.Fatal(err)
			}
			for e := range want {
				if !near(got[e], want[e]) {
					t.Fatalf("%s, seed %d: loss %v, expected %v", settings, seed, got[e], want[e])
				}
			}
			for k := range gradient {
				for i, x := range gradient[k] {
					if !near(float64(u[k][i]), float64(x)) {
						t.Fatalf("%s, seed %d: gradient %v of part %d at %d, expected %v", settings, seed, u[k][i], k, i, x)
					}
				}
			}
		}
	}
}

// Best outputs of potentials that are not valid are those of the host.
func TestGPUBestOutputOfNaN(t *testing.T) {
	c := newCaller(t)
	for _, settings := range drawn {
		b, values, _ := draw(t, rand.New(rand.NewPCG(5, 1)), settings, 0, 4, 1, 7, 3)
		values[0][b.Size(0)/2] = notANumber
		want, score := make([]int32, b.Numbers()), make([]float64, b.Len())
		if _, err := b.Max(values, Run{}, want, score); err != nil {
			t.Fatal(err)
		}
		there, free := c.upload(values)
		got, value := make([]int32, b.Numbers()), make([]float64, b.Len())
		if err := b.MaxOn(c.g, there, got, value); err != nil {
			t.Fatal(err)
		}
		free()
		if !slices.Equal(got, want) || math.IsNaN(score[0]) || !math.IsNaN(score[2]) || !math.IsNaN(value[2]) {
			t.Errorf("%s: %v with %v, expected %v with %v", settings, got, value, want, score)
		}
	}
}

func near(x, want float64) bool {
	return x == want || math.IsNaN(x) && math.IsNaN(want) || math.Abs(x-want) <= 1e-4*max(1, math.Abs(want))
}

// What does not fit is a message, after which the device still answers.
func TestGPURefuses(t *testing.T) {
	t.Setenv("DSP_EMULATED_DEVICES", "2")
	c := newCaller(t)
	other := cudatest.Several(t, 2)[1]
	b, values, y := draw(t, rand.New(rand.NewPCG(1, 1)), drawn[0], 0, 4, 2)
	there, free := c.upload(values)
	defer free()
	value, far := device.New[float64](c.d, b.Len(), "values"), device.New[float64](other, b.Len(), "values")
	defer device.Free(c.d, value)
	host := make([]float64, b.Len()+1)
	tags, _ := NewForm([]byte(`{"structure": "segmentation", "tags": 4, "longest": 2}`))
	segments, err := tags.NewBatch(Layout{Outputs: []int{0, 0}, Offsets: [][]int{{0, 0}, nil, nil}})
	if err != nil {
		t.Fatal(err)
	}
	roots := `{"structure": "projective tree", "labels": 1, "roots": true}`
	several, _, _ := draw(t, rand.New(rand.NewPCG(1, 1)), roots, 0, 2)
	wrong := append([]int32{9}, y[1:]...)
	moved := There{Values: []uint64{there.Values[0] + 4, there.Values[1]}}
	for want, err := range map[string]error{
		"values: no address":                          b.ExpOn(c.g, there, 1, 0, nil),
		"is in the memory of cuda:1, expected cuda:0": b.ExpOn(c.g, there, 1, far.Address(), nil),
		"is in the host's memory":                     b.ExpOn(c.g, there, 1, addressOf(host), nil),
		`part "node": the address`:                    b.ExpOn(c.g, moved, 1, value.Address(), nil),
		"expected 2":                                  b.ExpOn(c.g, There{}, 1, value.Address(), nil),
		"temperature 0":                               b.ExpOn(c.g, there, 0, value.Address(), nil),
		"label 9 at place 0":                          b.LossOn(c.g, there, wrong, value.Address(), there.Values),
		"no place for its gradient":                   b.LossOn(c.g, there, y, value.Address(), nil),
		"a segmentation does not answer on a GPU":     segments.MaxOn(c.g, There{}, nil, make([]float64, 1)),
		"with several roots do not answer on a GPU":   several.MaxOn(c.g, there, make([]int32, 4), host[:1]),
	} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, expected %q", err, want)
		}
	}
	if err := b.ExpOn(c.g, there, 1, value.Address(), nil); err != nil {
		t.Error(err)
	}
}

// A device that has run out of memory answers no more; another one does.
func TestGPUErrorsStayWithTheirDevice(t *testing.T) {
	t.Setenv("DSP_EMULATED_MEMORY", "4000000")
	c := newCaller(t)
	second, err := OpenDevice(0)
	if err != nil {
		t.Fatal(err)
	}
	defer second.Close()
	of8 := `{"structure": "chain", "labels": 8}`
	large, values, _ := draw(t, rand.New(rand.NewPCG(1, 1)), of8, 0, 40_000) // 1.3 MB, and its scratch memory 5 MB
	ask := func(g *Device, b *Batch, values [][]float32) error {
		_, _, err := c.sums(b, values, false, func(there There, value uint64, u []uint64) error {
			return b.ExpOn(g, there, 1, value, u)
		})
		return err
	}
	if err := ask(c.g, large, values); err == nil || !strings.Contains(err.Error(), "out of device memory") {
		t.Fatalf("%v, expected that memory is too small", err)
	}
	small, few, _ := draw(t, rand.New(rand.NewPCG(1, 1)), drawn[0], 0, 3)
	if err := ask(c.g, small, few); err == nil || !strings.Contains(err.Error(), "out of device memory") {
		t.Errorf("%v of a device with an error", err)
	}
	if err := ask(second, small, few); err != nil {
		t.Errorf("another device: %v", err)
	}
}

// A call leaves the calling thread with the context that it had, as libraries expect who work on another GPU.
func TestGPULeavesTheContext(t *testing.T) {
	t.Setenv("DSP_EMULATED_DEVICES", "2")
	c := newCaller(t)
	other := cudatest.Several(t, 2)[1]
	lib, err := driver.Load()
	if err != nil {
		t.Fatal(err)
	}
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	b, values, _ := draw(t, rand.New(rand.NewPCG(1, 1)), drawn[3], 0, 4, 2)
	there, free := c.upload(values)
	defer free()
	other.Sync()
	before, err := lib.Current()
	if err := errors.Join(err, b.MaxOn(c.g, there, make([]int32, b.Numbers()), make([]float64, 2))); err != nil {
		t.Fatal(err)
	}
	if after, err := lib.Current(); err != nil || after != before || before == 0 {
		t.Errorf("%v: context %#x, and before the call %#x", err, after, before)
	}
}

var _ oracles.Summer = (*askedOn)(nil)

func addressOf(x []float64) uint64 { return uint64(uintptr(unsafe.Pointer(&x[0]))) }
