package accelerator

import (
	"runtime"
	"sync"
	"sync/atomic"

	"github.com/dsp-go/dsp/cuda/cudanets"
	"github.com/dsp-go/dsp/cuda/device"
	"github.com/dsp-go/dsp/cuda/resident"
	"github.com/dsp-go/dsp/oracles"
	"github.com/dsp-go/dsp/structured"
	"github.com/dsp-go/dsp/structured/sys/host"
	"github.com/dsp-go/dsp/train/engine"
)

// hostOracle evaluates the loss on the host while the network runs on a device. It serves structures, task losses and
// constraints without kernels. One copy downloads a batch's potentials, the structure's oracle answers on all cores,
// and one copy uploads the cotangent. Memories stay on the host. Results do not depend on the number of cores.
type hostOracle struct {
	*engine.Evaluation
	data    *resident.Data
	scorer  cudanets.Scorer
	form    structured.Form
	workers []oracles.Maximiser // one per core

	running [numSums]float64
	onto    device.Array[float64] // running sums on the device
	bad     error                 // potentials that were not finite
}

// newHostOracle returns bad input if the structure's oracle does not support the loss.
func newHostOracle(data *resident.Data, of *engine.Objective, scorer cudanets.Scorer) (*hostOracle, error) {
	form := of.Scorer.Form()
	o := &hostOracle{Evaluation: engine.NewEvaluation(of), data: data, scorer: scorer, form: form}
	for range runtime.GOMAXPROCS(0) {
		o.workers = append(o.workers, o.Kind().Oracle())
	}
	if err := smoothingOf(of.Loss, oracles.Smoothing{}).Check(o.workers[0], form.Structure.Name()); err != nil {
		return nil, err
	}
	o.onto = device.New[float64](data.Device, numSums, "sums")
	o.ClearSums()
	return o, nil
}

func (o *hostOracle) Free() { device.Free(o.data.Device, o.onto) }

// Truncated returns how many times the oracles have changed potentials since the last call, because they are not exact
// for them.
func (o *hostOracle) Truncated() int {
	n := 0
	for _, w := range o.workers {
		if t, ok := w.(oracles.Truncator); ok {
			n += t.Truncated()
			t.ResetTruncated()
		}
	}
	return n
}

func (o *hostOracle) ClearSums() {
	o.running = [numSums]float64{}
	device.Upload(o.data.Device, o.onto, o.running[:])
}

func (o *hostOracle) ReadSums() engine.Sums { return readSums(o.data.Device, o.onto) }

func (o *hostOracle) sums() device.Array[float64] { return o.onto }

// add adds to the running sums.
func (o *hostOracle) add(s engine.Sums) {
	for k, x := range numbersOfSums(s) {
		o.running[k] += x
	}
}

func (o *hostOracle) NonFinite() error {
	err := o.bad
	o.bad = nil
	return err
}

// parallel calls work(k, oracle) for k from 0 to n-1 on all cores, each with its own oracle. A panic becomes the
// device's error.
func (o *hostOracle) parallel(n int, work func(k int, oracle oracles.Maximiser)) {
	var next atomic.Int64
	var group sync.WaitGroup
	errs := make([]error, min(n, len(o.workers)))
	for i := range errs {
		group.Go(func() {
			errs[i] = host.Guard(func() error {
				for k := int(next.Add(1)) - 1; k < n; k = int(next.Add(1)) - 1 {
					work(k, o.workers[i])
				}
				return nil
			})
		})
	}
	group.Wait()
	for _, err := range errs {
		if err != nil {
			o.data.Device.Fail(err)
		}
	}
}

func (o *hostOracle) newMemory() ownedMemory {
	m := &hostMemory{data: o.Data}
	m.Reshape(o.form, o.Data.Len(), o.Data.Rows)
	m.ReadAll(o.Data)
	return m
}

// hostMemory is an engine.Memory for an accelerator whose oracle is on the host.
type hostMemory struct {
	structured.Marginals
	data *structured.Dataset
}

func (m *hostMemory) Free() {}

func (m *hostMemory) Load(parts []structured.Part) {
	for k := range m.Parts {
		copy(m.Parts[k].Values, parts[k].Values)
	}
}

func (m *hostMemory) Store(parts []structured.Part) error {
	for k := range m.Parts {
		copy(parts[k].Values, m.Parts[k].Values)
	}
	return nil
}

func (m *hostMemory) ToGold(γ float32) {
	if γ == 1 {
		return
	}
	if γ == 0 {
		m.Clear()
	}
	for i := range m.data.Len() {
		if γ != 0 {
			m.Scale(i, γ)
		}
		m.Add(i, m.data.Gold(i), 1-γ)
	}
}

// hostMemoryOf returns the points in a memory, or nil.
func hostMemoryOf(m engine.DeviceMemory) *structured.Marginals {
	if m == nil {
		return nil
	}
	return &m.(*hostMemory).Marginals
}
