package cuda

import (
	"errors"
	"fmt"
	"math"

	"github.com/dsp-go/dsp/cuda/driver"
	"github.com/dsp-go/dsp/cuda/kernels"
)

const (
	maxArgs      = 64
	maxThreads   = 1024     // of a block, on every device
	freelyShared = 48 << 10 // bytes of shared memory that a launch may use without asking
)

// Dim counts blocks of a grid or threads of a block. Y and Z count as 1 where they are 0.
type Dim struct{ X, Y, Z int }

func (d Dim) each() [3]int { return [3]int{d.X, max(d.Y, 1), max(d.Z, 1)} }

// kernel is one that is loaded.
type kernel struct {
	kernels.Kernel
	function driver.Function
	shared   int // bytes that it may use
	launches int
}

// Launches returns how often a kernel was launched since Open; a capture counts, a graph's replay does not.
func (d *Device) Launches(kernel string) int {
	if k := d.kernels[kernel]; k != nil {
		return k.launches
	}
	return 0
}

// Launch enqueues a kernel by its name. Arguments are Array, int32, uint32, int64, uint64, float32 and float64, of the types
// that the kernel has; shared is in bytes. A grid with X = 0 launches nothing.
func (d *Device) Launch(name string, grid, block Dim, shared int, args ...any) {
	if d.err != nil || grid.X == 0 {
		return
	}
	k := d.kernels[name]
	if k == nil {
		if k = d.load(name); k == nil {
			return
		}
	}
	if len(args) != len(k.Parameters) {
		d.fail(fmt.Errorf("cuda: %s with %d arguments, expected %d", name, len(args), len(k.Parameters)))
		return
	}
	for i := range args {
		var width string
		d.args[i], width = argument(args[i])
		if width != k.Parameters[i] {
			d.fail(fmt.Errorf("cuda: %s: argument %d is of type %s, expected %s", name, i, width, k.Parameters[i]))
			return
		}
	}
	g, b := grid.each(), block.each()
	if threads := b[0] * b[1] * b[2]; threads < 1 || threads > k.Threads || min(g[0], g[1], g[2], shared) < 0 {
		d.fail(fmt.Errorf("cuda: %s with grid %v, block %v, %d bytes shared; up to %d threads", name, g, b, shared, k.Threads))
		return
	}
	if !d.enter() {
		return
	}
	var err error
	if shared > freelyShared && shared > k.shared {
		err = d.lib.SetShared(k.function, shared)
		k.shared = shared
	}
	if err == nil {
		err = d.lib.Launch(k.function, g, b, shared, d.stream, d.args[:len(args)])
	}
	if err != nil {
		d.leave(err, fmt.Sprintf("%s, grid %v, block %v, %d bytes shared", name, g, b, shared))
		return
	}
	k.launches++
	d.leave(nil, "")
}

// argument returns the 8 bytes that a kernel's argument is handed over as, of which a narrower one uses the first, and the
// PTX type that it goes with; "unknown" for what kernels do not take.
func argument(a any) (bits uint64, ptx string) {
	switch a := a.(type) {
	case Array[float32]:
		return uint64(a.at), "u64"
	case Array[float64]:
		return uint64(a.at), "u64"
	case Array[int32]:
		return uint64(a.at), "u64"
	case Array[uint32]:
		return uint64(a.at), "u64"
	case Array[int64]:
		return uint64(a.at), "u64"
	case Array[uint64]:
		return uint64(a.at), "u64"
	case Array[uint8]:
		return uint64(a.at), "u64"
	case int64:
		return uint64(a), "u64"
	case uint64:
		return a, "u64"
	case int32:
		return uint64(uint32(a)), "u32"
	case uint32:
		return uint64(a), "u32"
	case float32:
		return uint64(math.Float32bits(a)), "f32"
	case float64:
		return math.Float64bits(a), "f64"
	}
	return 0, "unknown"
}

// load finds a kernel and loads its module, the first time. Inside a capture it only notes that the module is missing, as
// loading may do what a capture forbids; nil then, and after an error.
func (d *Device) load(name string) *kernel {
	about, ok := kernels.Lookup(name)
	switch {
	case !ok:
		d.fail(errors.New("cuda: there is no kernel " + name))
		return nil
	case len(about.Parameters) > maxArgs:
		d.fail(fmt.Errorf("cuda: %s has %d parameters, expected up to %d", name, len(about.Parameters), maxArgs))
		return nil
	case about.Threads == 0:
		about.Threads = maxThreads
	}
	module := about.Module
	if d.capturing && d.modules[module] == 0 {
		d.missing = append(d.missing, module)
		return nil
	}
	d.loadModule(module)
	if !d.enter() {
		return nil
	}
	f, err := d.lib.Function(d.modules[module], name)
	d.leave(err, name)
	if err != nil {
		return nil
	}
	k := &kernel{Kernel: about, function: f}
	d.kernels[name] = k
	return k
}

func (d *Device) loadModule(name string) {
	if d.modules[name] != 0 || !d.enter() {
		return
	}
	m, err := d.lib.LoadModule(string(kernels.Modules()[name]))
	if err == nil {
		d.modules[name] = m
	}
	d.leave(err, name+".ptx")
}
