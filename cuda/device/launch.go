package device

import (
	"errors"
	"fmt"
	"math"
	"strings"

	"github.com/dsp-go/dsp/cuda/devicecode"
	"github.com/dsp-go/dsp/cuda/driver"
)

const (
	maxArgs      = 64
	freelyShared = 48 << 10 // bytes of shared memory that a launch may use without opting in
)

// Dim counts the blocks of a grid or the threads of a block. Y and Z of 0 count as 1.
type Dim struct{ X, Y, Z int }

func (d Dim) each() [3]int { return [3]int{d.X, max(d.Y, 1), max(d.Z, 1)} }

// kernel is a loaded kernel.
type kernel struct {
	devicecode.Kernel
	function driver.Function
	threads  int // largest block
	shared   int // bytes of shared memory that a launch may use
	launches int
}

// Launches returns how often a kernel was launched since Open. A launch in a capture counts; a replay does not.
func (d *Device) Launches(kernel string) int {
	if k := d.kernels[kernel]; k != nil {
		return k.launches
	}
	return 0
}

// Launch enqueues a kernel by its name. Arguments are Array, int32, uint32, int64, uint64, float32 and float64 and must
// match the kernel's parameters; shared is in bytes. A grid with X = 0 launches nothing.
func (d *Device) Launch(name string, grid, block Dim, shared int, args ...any) {
	if d.err != nil || grid.X == 0 {
		return
	}
	k := d.kernel(name)
	if k == nil {
		return
	}
	if len(args) != len(k.Parameters) {
		d.Fail(fmt.Errorf("cuda: %s with %d arguments, expected %d", name, len(args), len(k.Parameters)))
		return
	}
	for i := range args {
		var width string
		d.args[i], width = argument(args[i])
		if width != k.Parameters[i] {
			d.Fail(fmt.Errorf("cuda: %s: argument %d is of type %s, expected %s", name, i, width, k.Parameters[i]))
			return
		}
	}
	g, b := grid.each(), block.each()
	if threads := b[0] * b[1] * b[2]; threads < 1 || threads > k.threads || min(g[0], g[1], g[2], shared) < 0 {
		d.Fail(fmt.Errorf("cuda: %s with grid %v, block %v, %d bytes shared; a block may have up to %d threads",
			name, g, b, shared, k.threads))
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

// argument returns the 8 bytes that pass a kernel's argument, of which a narrower type uses the first, and the
// argument's PTX type, which is "unknown" for types that kernels do not take.
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

// kernel returns a kernel and loads it on first use; it returns nil after an error. During a capture nothing can be
// loaded: kernel then adds the kernel to d.missing and returns nil.
func (d *Device) kernel(name string) *kernel {
	k := d.kernels[name]
	if k == nil && d.capturing {
		d.missing = append(d.missing, name)
	} else if k == nil {
		k = d.load(name)
	}
	return k
}

// load loads a kernel, and its module if no other kernel has loaded it.
func (d *Device) load(name string) *kernel {
	about, ok := d.compiled.Lookup(name)
	switch {
	case !ok:
		d.Fail(errors.New("cuda: there is no kernel " + name))
		return nil
	case len(about.Parameters) > maxArgs:
		d.Fail(fmt.Errorf("cuda: %s has %d parameters, expected up to %d", name, len(about.Parameters), maxArgs))
		return nil
	}
	if !d.enter() {
		return nil
	}
	m, err := d.modules[about.Module], error(nil)
	if m == 0 {
		if m, err = d.module(about.Module); err != nil {
			d.leave(err, about.Module+".ptx")
			return nil
		}
		d.modules[about.Module] = m
	}
	k := &kernel{Kernel: about}
	k.function, k.threads, err = d.lib.Function(m, name)
	d.leave(err, name)
	if err != nil {
		return nil
	}
	d.kernels[name] = k
	return k
}

// module loads a module: as assembled for the device, if that is at hand and its driver takes it, else as PTX, which
// the driver compiles.
func (d *Device) module(name string) (driver.Module, error) {
	architecture := "sm_" + strings.ReplaceAll(d.info.Capability, ".", "")
	cubin, err := d.compiled.Cubin(architecture, name)
	if err != nil {
		return 0, err
	}
	if cubin != "" && !d.info.Emulated() {
		if m, err := d.lib.LoadModule(cubin); err == nil {
			return m, nil
		}
	}
	ptx, err := d.compiled.PTX(name)
	if err != nil {
		return 0, err
	}
	return d.lib.LoadModule(ptx)
}

// BlockThreads is the usual number of threads per block.
const BlockThreads = 256

// CeilDiv returns n/by rounded up: for example how many blocks of by threads cover n items.
func CeilDiv(n, by int) int { return (n + by - 1) / by }

// Flag returns 1 if set, else 0, as a kernel's argument.
func Flag(set bool) int32 {
	if set {
		return 1
	}
	return 0
}
