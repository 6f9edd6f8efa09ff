// Command libdsp is dsp's oracles as a C library, for other languages: CGO_ENABLED=1 go build -buildmode=c-shared ./cmd/libdsp. The interface is
// libdsp.h; cmd/libdsp/python has a Python package on top of it.
package main

/*
#include <stdlib.h>
#include "libdsp.h"
*/
import "C"

import (
	"encoding/json"
	"fmt"
	"runtime"
	"runtime/cgo"
	"runtime/debug"
	"time"
	"unsafe"

	"github.com/dsp-go/dsp/cmd/libdsp/foreign"
)

func main() {}

// Calls make little garbage and the host's heap is not Go's: collecting less often costs some megabytes and saves time.
func init() { debug.SetGCPercent(400) }

// guarded runs do and returns its error, or its panic, as a message.
func guarded(do func() error) (message *C.char) {
	defer func() {
		if r := recover(); r != nil {
			message = C.CString(fmt.Sprintf("internal error: %v", r))
		}
	}()
	if err := do(); err != nil {
		return C.CString(err.Error())
	}
	return nil
}

// slice returns n elements of the caller's memory; none where the pointer is NULL.
func slice[E any, P any](p *P, n int) []E {
	if p == nil {
		return nil
	}
	return unsafe.Slice((*E)(unsafe.Pointer(p)), n)
}

func batchOf(handle C.int64_t) *foreign.Batch { return cgo.Handle(handle).Value().(*foreign.Batch) }

// parts returns the caller's arrays of the parts of a batch, each of size(k) numbers; nil where there are none.
func parts(t *foreign.Batch, arrays **C.float, size func(k int) int) ([][]float32, error) {
	if arrays == nil {
		return nil, nil
	}
	all := make([][]float32, t.Parts())
	for k, p := range slice[*C.float](arrays, t.Parts()) {
		n := size(k)
		if p == nil && n > 0 {
			return nil, fmt.Errorf("part %d has no array", k)
		}
		all[k] = slice[float32](p, n)
	}
	return all, nil
}

func runOf(r *C.dsp_run) foreign.Run {
	return foreign.Run{Threads: int(r.threads), First: int(r.first), Budget: time.Duration(r.budget) * time.Microsecond}
}

// ask answers a question about a batch.
func ask(handle C.int64_t, values **C.float, r *C.dsp_run, question func(t *foreign.Batch, values [][]float32, run foreign.Run) (int, error)) *C.char {
	return guarded(func() error {
		t := batchOf(handle)
		x, err := parts(t, values, t.Size)
		if err != nil {
			return err
		}
		if x == nil {
			return fmt.Errorf("no potentials")
		}
		next, err := question(t, x, runOf(r))
		r.next = C.int64_t(next)
		return err
	})
}

//export dsp_abi
func dsp_abi() C.int32_t { return C.DSP_ABI }

// dsp_free frees a message.
//
//export dsp_free
func dsp_free(p *C.char) { C.free(unsafe.Pointer(p)) }

// dsp_memory returns how many bytes the library has taken from the system.
//
//export dsp_memory
func dsp_memory() C.int64_t {
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return C.int64_t(m.Sys - m.HeapReleased)
}

// dsp_form makes a form of settings in JSON, such as {"structure": "chain", "labels": 5}, and describes it, as JSON that the caller gives to
// dsp_free.
//
//export dsp_form
func dsp_form(settings *C.char, form *C.int64_t, description **C.char) *C.char {
	return guarded(func() error {
		f, err := foreign.NewForm([]byte(C.GoString(settings)))
		if err != nil {
			return err
		}
		text, err := json.Marshal(f.Description)
		if err != nil {
			return err
		}
		*form, *description = C.int64_t(cgo.NewHandle(f)), C.CString(string(text))
		return nil
	})
}

// dsp_batch makes a batch of a layout, and copies what it needs of it.
//
//export dsp_batch
func dsp_batch(form C.int64_t, l *C.dsp_layout, batch *C.int64_t) *C.char {
	return guarded(func() error {
		f, n := cgo.Handle(form).Value().(*foreign.Form), int(l.examples)
		if n < 0 || n > 1<<40 {
			return fmt.Errorf("%d examples", n)
		}
		layout := foreign.Layout{
			Outputs: slice[int](l.outputs, n+1), GoldOffsets: slice[int](l.gold_offsets, n+1), EdgeOffsets: slice[int](l.edge_offsets, n+1),
		}
		for _, p := range slice[*C.int64_t](l.offsets, len(f.Parts)) {
			layout.Offsets = append(layout.Offsets, slice[int](p, n+1))
		}
		if g := layout.GoldOffsets; g != nil && g[n] >= 0 {
			layout.Gold = slice[int32](l.gold, g[n])
		}
		if e := layout.EdgeOffsets; e != nil && e[n] >= 0 {
			layout.Ends, layout.Types = slice[[2]int32](l.ends, e[n]), slice[int32](l.types, e[n])
		}
		t, err := f.NewBatch(layout)
		if err != nil {
			return err
		}
		*batch = C.int64_t(cgo.NewHandle(t))
		return nil
	})
}

// dsp_release ends the life of a form, a batch or a GPU.
//
//export dsp_release
func dsp_release(handle C.int64_t) *C.char {
	return guarded(func() error {
		h := cgo.Handle(handle)
		g, device := h.Value().(*foreign.Device)
		h.Delete()
		if device {
			return g.Close()
		}
		return nil
	})
}

// dsp_cuda_open opens a GPU by its number, in the primary context of the process. The caller gives it to dsp_release.
//
//export dsp_cuda_open
func dsp_cuda_open(ordinal C.int64_t, device *C.int64_t) *C.char {
	return guarded(func() error {
		g, err := foreign.OpenDevice(int(ordinal))
		if err == nil {
			*device = C.int64_t(cgo.NewHandle(g))
		}
		return err
	})
}

// dsp_cuda_built returns 1 if the library was built with CUDA.
//
//export dsp_cuda_built
func dsp_cuda_built() C.int32_t {
	if foreign.BuiltWithCUDA {
		return 1
	}
	return 0
}

// dsp_cuda_failed returns 1 if a GPU answers no more, and for a handle that is no GPU.
//
//export dsp_cuda_failed
func dsp_cuda_failed(device C.int64_t) (failed C.int32_t) {
	defer func() {
		if recover() != nil {
			failed = 1
		}
	}()
	if cgo.Handle(device).Value().(*foreign.Device).Failed() {
		return 1
	}
	return 0
}

// dsp_cuda_owner writes the number of the GPU in whose memory an address is, and −1 for the host's.
//
//export dsp_cuda_owner
func dsp_cuda_owner(address C.uint64_t, ordinal *C.int64_t) *C.char {
	return guarded(func() error {
		owner, err := foreign.OwnerOf(uint64(address))
		*ordinal = C.int64_t(owner)
		return err
	})
}

// on answers a question about potentials in the memory of a GPU.
func on(handle, device C.int64_t, values *C.uint64_t, stream C.uint64_t,
	question func(t *foreign.Batch, g *foreign.Device, at foreign.There) error) *C.char {
	return guarded(func() error {
		t := batchOf(handle)
		at := foreign.There{Stream: uint64(stream), Values: slice[uint64](values, t.Parts())}
		return question(t, cgo.Handle(device).Value().(*foreign.Device), at)
	})
}

// dsp_cuda_exp is dsp_exp of potentials in the memory of a GPU, with the answers there.
//
//export dsp_cuda_exp
func dsp_cuda_exp(batch, device C.int64_t, values *C.uint64_t, stream C.uint64_t, mu C.double, value C.uint64_t,
	marginals *C.uint64_t) *C.char {
	return on(batch, device, values, stream, func(t *foreign.Batch, g *foreign.Device, at foreign.There) error {
		return t.ExpOn(g, at, float64(mu), uint64(value), slice[uint64](marginals, t.Parts()))
	})
}

// dsp_cuda_loss is dsp_loss of potentials in the memory of a GPU, with the answers there. Outputs y are in the host's.
//
//export dsp_cuda_loss
func dsp_cuda_loss(batch, device C.int64_t, values *C.uint64_t, stream C.uint64_t, y *C.int32_t, value C.uint64_t,
	gradient *C.uint64_t) *C.char {
	return on(batch, device, values, stream, func(t *foreign.Batch, g *foreign.Device, at foreign.There) error {
		return t.LossOn(g, at, slice[int32](y, t.Numbers()), uint64(value), slice[uint64](gradient, t.Parts()))
	})
}

// dsp_cuda_max is dsp_max of potentials in the memory of a GPU. Outputs y and scores are in the host's: it waits.
//
//export dsp_cuda_max
func dsp_cuda_max(batch, device C.int64_t, values *C.uint64_t, stream C.uint64_t, y *C.int32_t,
	value *C.double) *C.char {
	return on(batch, device, values, stream, func(t *foreign.Batch, g *foreign.Device, at foreign.There) error {
		return t.MaxOn(g, at, slice[int32](y, t.Numbers()), slice[float64](value, t.Len()))
	})
}

// dsp_max writes the best output of every example to y, and its score to value [examples].
//
//export dsp_max
func dsp_max(batch C.int64_t, values **C.float, r *C.dsp_run, y *C.int32_t, value *C.double) *C.char {
	return ask(batch, values, r, func(t *foreign.Batch, x [][]float32, run foreign.Run) (int, error) {
		return t.Max(x, run, slice[int32](y, t.Numbers()), slice[float64](value, t.Len()))
	})
}

// dsp_exp writes mu·log Σ_y exp(score(y)/mu) of every example to value [examples] and, unless they are NULL, marginals.
//
//export dsp_exp
func dsp_exp(batch C.int64_t, values **C.float, r *C.dsp_run, mu C.double, value *C.double, marginals **C.float) *C.char {
	return ask(batch, values, r, func(t *foreign.Batch, x [][]float32, run foreign.Run) (int, error) {
		u, err := parts(t, marginals, t.MarginalSize)
		if err != nil {
			return 0, err
		}
		return t.Exp(x, run, float64(mu), slice[float64](value, t.Len()), u)
	})
}

// dsp_loss writes −log p(y) of every example to value [examples], and its gradient, which has the form of marginals.
//
//export dsp_loss
func dsp_loss(batch C.int64_t, values **C.float, r *C.dsp_run, y *C.int32_t, value *C.double, gradient **C.float) *C.char {
	return ask(batch, values, r, func(t *foreign.Batch, x [][]float32, run foreign.Run) (int, error) {
		u, err := parts(t, gradient, t.MarginalSize)
		if err != nil {
			return 0, err
		}
		return t.Loss(x, run, slice[int32](y, t.Numbers()), slice[float64](value, t.Len()), u)
	})
}

// dsp_top writes the k best outputs: count [examples], score [examples, k], and y, where output j of example b begins at
// k·outputs[b] + j·(its length).
//
//export dsp_top
func dsp_top(batch C.int64_t, values **C.float, r *C.dsp_run, k C.int64_t, y *C.int32_t, score *C.double, count *C.int64_t) *C.char {
	return ask(batch, values, r, func(t *foreign.Batch, x [][]float32, run foreign.Run) (int, error) {
		n := max(0, int(k))
		return t.TopK(x, run, int(k), slice[int32](y, n*t.Numbers()), slice[float64](score, n*t.Len()), slice[int](count, t.Len()))
	})
}

// dsp_sample draws n outputs of every example, by a seed for each [examples]: count [examples], and y as of dsp_top.
//
//export dsp_sample
func dsp_sample(batch C.int64_t, values **C.float, r *C.dsp_run, mu C.double, n C.int64_t, seeds *C.uint64_t, y *C.int32_t, count *C.int64_t) *C.char {
	return ask(batch, values, r, func(t *foreign.Batch, x [][]float32, run foreign.Run) (int, error) {
		size := max(0, int(n)) * t.Numbers()
		return t.Sample(x, run, float64(mu), int(n), slice[uint64](seeds, t.Len()), slice[int32](y, size), slice[int](count, t.Len()))
	})
}

// dsp_score writes the scores of outputs to value [examples].
//
//export dsp_score
func dsp_score(batch C.int64_t, values **C.float, r *C.dsp_run, y *C.int32_t, value *C.double) *C.char {
	return ask(batch, values, r, func(t *foreign.Batch, x [][]float32, run foreign.Run) (int, error) {
		return t.Score(x, run, slice[int32](y, t.Numbers()), slice[float64](value, t.Len()))
	})
}

// dsp_indicator writes how often each output y uses each potential, the gradient of its score, to used, which has the
// form of marginals. value is NULL, or what dsp_max wrote with y: an example without an output, −∞, has zeros, and one of
// NaN NaN.
//
//export dsp_indicator
func dsp_indicator(batch C.int64_t, y *C.int32_t, value *C.double, used **C.float) *C.char {
	return guarded(func() error {
		t := batchOf(batch)
		u, err := parts(t, used, t.MarginalSize)
		if err != nil {
			return err
		}
		return t.Indicator(slice[int32](y, t.Numbers()), slice[float64](value, t.Len()), u)
	})
}

// dsp_hessian writes the product of the Hessian of mu·log Σ_y exp(score(y)/mu) of every example with a direction to
// product, which has the form of marginals. So has the direction if own is 1; if it is 0 it has the form of values.
// Structures whose description says "hessian" answer, in float64: slower than dsp_exp.
//
//export dsp_hessian
func dsp_hessian(batch C.int64_t, values **C.float, r *C.dsp_run, mu C.double, direction **C.float, own C.int32_t,
	product **C.float) *C.char {
	return ask(batch, values, r, func(t *foreign.Batch, x [][]float32, run foreign.Run) (int, error) {
		size := t.Size
		if own != 0 {
			size = t.MarginalSize
		}
		d, err := parts(t, direction, size)
		if err != nil {
			return 0, err
		}
		to, err := parts(t, product, t.MarginalSize)
		if err != nil {
			return 0, err
		}
		return t.Hessian(x, run, float64(mu), d, own != 0, to)
	})
}

// dsp_divergence writes KL(p‖q) in nats to value [examples], for the distributions of two values of the potentials at temperature mu; the entropy of p
// if other is NULL.
//
//export dsp_divergence
func dsp_divergence(batch C.int64_t, values **C.float, r *C.dsp_run, other **C.float, mu C.double, value *C.double) *C.char {
	return ask(batch, values, r, func(t *foreign.Batch, x [][]float32, run foreign.Run) (int, error) {
		q, err := parts(t, other, t.Size)
		if err != nil {
			return 0, err
		}
		return t.Divergence(x, q, run, float64(mu), slice[float64](value, t.Len()))
	})
}
