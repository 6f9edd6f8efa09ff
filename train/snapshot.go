package train

import (
	"fmt"
	"slices"

	"github.com/dsp-go/dsp/structured"
	"github.com/dsp-go/dsp/structured/sys/safetensors"
	"github.com/dsp-go/dsp/train/engine"
)

// archive saves or restores the state that all methods share.
func (s *State) archive(a engine.Archive) {
	a.Floats("w", &s.W)
	a.Count("passes", &s.Passes)
	a.Count("oracle_calls", &s.OracleCalls)
	a.Count("full_passes", &s.FullPasses)
	a.Number("primal", &s.Primal)
	a.Number("dual", &s.Dual)
	a.Number("rounding", &s.Rounding)
	a.Number("estimate", &s.Estimate)
	a.Number("smoothed", &s.Smoothed)
	a.Number("mu", &s.Mu)
	a.Number("kappa", &s.Kappa)
	a.Number("step", &s.Step)
	a.Number("exact", &s.Exact)
	a.Number("prox_gradient", &s.ProxGradient)
	a.Number("inner_gap", &s.InnerGap)
	a.Count("rejected", &s.Rejected)
	archiveFlag(a, "done", &s.Done)
}

// archiveFlag saves or restores a flag.
func archiveFlag(a engine.Archive, name string, on *bool) {
	n := 0
	if *on {
		n = 1
	}
	a.Count(name, &n)
	*on = n == 1
}

// snapshot is an Archive that makes tensors of values, as a rule copies. It reuses the memory of an old snapshot and so
// destroys it.
type snapshot struct {
	prefix   string // of every name
	old, new map[string]safetensors.Tensor
	lends    bool  // tensors are the values, not copies
	err      error // the first error
}

func (s *snapshot) Restores() bool { return false }

func (s *snapshot) Ints(name string, x *[]int32) { keep(s, name, *x, len(*x)) }

func (s *snapshot) Floats(name string, x *[]float32) { keep(s, name, *x, len(*x)) }

func (s *snapshot) Doubles(name string, x *[]float64) { keep(s, name, *x, len(*x)) }

func (s *snapshot) Number(name string, x *float64) { keep(s, name, []float64{*x}) }

func (s *snapshot) Count(name string, x *int) { keep(s, name, []int64{int64(*x)}) }

func (s *snapshot) Refuse(bool, string) {}

func keep[E safetensors.Element](s *snapshot, name string, x []E, shape ...int) {
	name = s.prefix + name
	if _, ok := s.new[name]; ok && s.err == nil {
		s.err = fmt.Errorf("two values are archived under the name %q", name)
	}
	if s.lends {
		s.new[name] = safetensors.Tensor{Shape: shape, Data: x}
		return
	}
	data, _ := s.old[name].Data.([]E)
	s.new[name] = safetensors.Tensor{Shape: shape, Data: append(data[:0], x...)}
}

// restorer is an Archive that sets values to tensors or copies of them.
type restorer struct {
	prefix string // of every name
	file   *safetensors.File
	gives  bool            // values are the tensors, not copies
	read   map[string]bool // names read so far
	err    error           // the first error
}

func (r *restorer) Restores() bool { return true }

func (r *restorer) Ints(name string, x *[]int32) { get(r, name, x, -1) }

func (r *restorer) Floats(name string, x *[]float32) { get(r, name, x, -1) }

func (r *restorer) Doubles(name string, x *[]float64) { get(r, name, x, -1) }

func (r *restorer) Number(name string, x *float64) {
	var one []float64
	if get(r, name, &one, []int{}...); len(one) == 1 {
		*x = one[0]
	}
}

func (r *restorer) Count(name string, x *int) {
	var one []int64
	if get(r, name, &one, []int{}...); len(one) == 1 {
		*x = int(max(0, min(one[0], mostCounted)))
		r.Refuse(int64(*x) == one[0], name)
	}
}

// mostCounted is more than any run counts.
const mostCounted = 1 << 53

func (r *restorer) Refuse(unless bool, name string) {
	if !unless && r.err == nil {
		r.err = structured.BadInput("the checkpoint is damaged: tensor %q holds what no run writes there. Start a new run", r.prefix+name)
	}
}

// get copies a tensor into x. An empty tensor becomes nil, the value of an unused slice.
func get[E safetensors.Element](r *restorer, name string, x *[]E, shape ...int) {
	name = r.prefix + name
	data, err := safetensors.Values[E](r.file, name, shape...)
	if err != nil {
		if r.err == nil {
			r.err = err
		}
		return
	}
	r.read[name] = true
	*x = nil
	switch {
	case len(data) > 0 && r.gives:
		*x = data
	case len(data) > 0:
		*x = slices.Clone(data)
	}
}

// finish returns the first error. An unread tensor is an error.
func (r *restorer) finish() error {
	if r.err != nil {
		return r.err
	}
	for name := range r.file.Tensors {
		if !r.read[name] {
			return structured.BadInput("tensor %q is unknown here: the checkpoint is of another version", name)
		}
	}
	return nil
}
