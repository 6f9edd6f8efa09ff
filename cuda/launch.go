package cuda

import (
	"errors"
	"fmt"
	"math"

	"github.com/dsp-go/dsp/cuda/driver"
	"github.com/dsp-go/dsp/cuda/kernels"
)

const (
	maxArgs      = 32
	freelyShared = 48 << 10 // bytes of shared memory that a launch may use without asking
)

// Dim counts blocks of a grid or threads of a block. Y and Z count as 1 where they are 0.
type Dim struct{ X, Y, Z int }

func (d Dim) each() [3]int { return [3]int{d.X, max(d.Y, 1), max(d.Z, 1)} }

// kernel is one that is loaded.
type kernel struct {
	function driver.Function
	shared   int // bytes that it may use
}

// Launch enqueues a kernel by its name. Arguments are Array, int32, uint32, int64, uint64, float32 and float64; shared is in
// bytes. A grid with X = 0 launches nothing.
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
	if len(args) > maxArgs {
		d.fail(fmt.Errorf("cuda: %s with %d arguments, expected up to %d", name, len(args), maxArgs))
		return
	}
	for i := range args {
		var ok bool
		if d.args[i], ok = argument(args[i]); !ok {
			d.fail(fmt.Errorf("cuda: %s: argument %d is of no type that kernels take", name, i))
			return
		}
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
		err = d.lib.Launch(k.function, grid.each(), block.each(), shared, d.stream, d.args[:len(args)])
	}
	if err != nil {
		d.leave(err, fmt.Sprintf("%s, grid %v, block %v, %d bytes shared", name, grid, block, shared))
		return
	}
	d.leave(nil, "")
}

// argument returns the 8 bytes that a kernel's argument is handed over as, of which a narrower one uses the first.
func argument(a any) (bits uint64, ok bool) {
	switch a := a.(type) {
	case Array[float32]:
		return uint64(a.at), true
	case Array[float64]:
		return uint64(a.at), true
	case Array[int32]:
		return uint64(a.at), true
	case Array[uint32]:
		return uint64(a.at), true
	case Array[int64]:
		return uint64(a.at), true
	case Array[uint64]:
		return uint64(a.at), true
	case Array[uint8]:
		return uint64(a.at), true
	case int32:
		return uint64(uint32(a)), true
	case uint32:
		return uint64(a), true
	case int64:
		return uint64(a), true
	case uint64:
		return a, true
	case float32:
		return uint64(math.Float32bits(a)), true
	case float64:
		return math.Float64bits(a), true
	}
	return 0, false
}

// load finds a kernel and loads its module, the first time. Inside a capture it only notes that the module is missing, as
// loading may do what a capture forbids; nil then, and after an error.
func (d *Device) load(name string) *kernel {
	module, ok := kernels.Module(name)
	if !ok {
		d.fail(errors.New("cuda: there is no kernel " + name))
		return nil
	}
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
	k := &kernel{function: f}
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
