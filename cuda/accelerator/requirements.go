package accelerator

import (
	"slices"

	"github.com/dsp-go/dsp/cuda/cudaoracles"
	"github.com/dsp-go/dsp/cuda/device"
	"github.com/dsp-go/dsp/nets"
	"github.com/dsp-go/dsp/nets/sparse"
	"github.com/dsp-go/dsp/oracles"
	"github.com/dsp-go/dsp/structured/chains"
	"github.com/dsp-go/dsp/train/engine"
)

// HasKernels reports whether there are kernels for the objective, with the hinge's max smoothed by s: there are for
// chains with chains.Hamming and chains.Constraints, and for dependency trees unless the K best trees smooth the hinge.
// For other objectives an accelerator uses the structure's oracle on the host.
func HasKernels(o *engine.Objective, s oracles.Smoothing) bool {
	return hasChainKernels(o) || hasTreeKernels(o, s)
}

func hasChainKernels(o *engine.Objective) bool {
	_, chain := o.Scorer.Form().Structure.(chains.Chain)
	_, task := o.Task.(chains.Hamming)
	_, constraints := o.Constraints.(*chains.Constraints)
	return chain && (task || o.Task == nil) && (constraints || o.Constraints == nil)
}

// CheckObjective refuses, as bad input, an objective that the device cannot evaluate: the quadratic loss, marginals in
// place of gold outputs, partial gold labels, more labels or positions than the kernels support, or a scorer of sparse
// inputs for a structure other than chains.
func CheckObjective(o *engine.Objective) error {
	d := o.Data
	if o.Loss == engine.Quadratic {
		return device.Unsupported("%s: a CUDA device cannot train with the loss %v", d.Name, o.Loss)
	}
	if o.Soft || o.Completion != nil {
		return device.Unsupported("%s: a CUDA device cannot train on marginals in place of gold outputs, such as a teacher's",
			d.Name)
	}
	if d.Readings != nil {
		return device.Unsupported("%s: a CUDA device cannot train on lines of which only is known what they read", d.Name)
	}
	if len(d.LabelSets) > 0 && slices.ContainsFunc(d.Labels, func(l int32) bool { return l < 0 }) {
		return device.Unsupported("%s: a CUDA device cannot train on partial labels", d.Name)
	}
	form := o.Scorer.Form()
	if hasChainKernels(o) && form.Parts[0].Width > cudaoracles.MaxLabels {
		return device.Unsupported("%s: %d labels, a CUDA device supports up to %d", d.Name, form.Parts[0].Width,
			cudaoracles.MaxLabels)
	}
	if err := checkSparse(o.Scorer); err != nil {
		return err
	}
	if err := checkOwnOps(o.Scorer); err != nil {
		return err
	}
	if n := d.Positions(); n >= transitions {
		return device.Unsupported("%s: %d positions, a CUDA device supports fewer than %d", d.Name, n, transitions)
	}
	return nil
}

// checkSparse refuses, as bad input, a scorer of sparse inputs for any structure but chains, and one that reads dense
// inputs beside them.
func checkSparse(s nets.Scorer) error {
	form := s.Form()
	if l, ok := s.(*sparse.Linear); ok && l.HasDense() {
		return device.Unsupported("a CUDA device supports linear nets on attributes or on dense features, not on both")
	}
	if _, chain := form.Structure.(chains.Chain); chain {
		return nil
	}
	if _, ok := s.(*sparse.Linear); ok {
		return device.Unsupported("a CUDA device supports linear nets on attributes for sequences of labels only, "+
			"not for a %s", form.Structure.Name())
	}
	return nil
}

// checkOwnOps refuses, as bad input, a network with ops that are Go functions of the user's.
func checkOwnOps(s nets.Scorer) error {
	net, ok := s.(*nets.Net)
	switch l := s.(type) {
	case *nets.Linearised:
		net, ok = l.Net(), true
	case interface{ Network() *nets.Net }:
		net, ok = l.Network(), true
	}
	if !ok {
		return nil
	}
	if ops := net.Needs().OwnOps; len(ops) > 0 {
		return device.Unsupported("net %s has own op %q, a Go function, which a CUDA device cannot run", net.Name(), ops[0])
	}
	return nil
}
