package methods

import (
	"math"
	"slices"
	"testing"

	"github.com/dsp-go/dsp/oracles"
	"github.com/dsp-go/dsp/structured/sys/vec"
	"github.com/dsp-go/dsp/train"
	"github.com/dsp-go/dsp/train/engine"
	"github.com/dsp-go/dsp/train/traintest"
)

// batchDuals are problems for methods that ask about all examples in every step.
func batchDuals(t *testing.T) map[string]*train.Problem {
	return map[string]*train.Problem{
		"dense":          traintest.LinearProblem(30, 1, 0.1, 1),
		"dense, shifted": traintest.Shifted(traintest.LinearProblem(30, 1, 0.2, 1)),
		"sparse":         traintest.SparseProblem(30, engine.Hinge, oracles.Smoothing{}, 0.1),
	}
}

// The line search of fw raises the dual in every pass, as much as any other γ on the line would or more; it never
// exceeds the optimum, and g is that of w. With 2/(k+2) the dual may fall, but arrives.
func TestFrankWolfe(t *testing.T) {
	for name, p := range batchDuals(t) {
		t.Run(name, func(t *testing.T) {
			reference := &BCPFW{}
			best := traintest.Start(t, reference, p)
			traintest.Passes(t, reference, p, best, 200)
			for _, harmonic := range []bool{false, true} {
				m := &FrankWolfe{Harmonic: harmonic}
				s := traintest.Start(t, m, p)
				dual := func() float64 {
					square := 0.0
					for _, g := range m.mixture.grad {
						square += g * g
					}
					return m.mixture.central + p.Constant - square/(2*p.Lambda)
				}
				last, f := dual(), math.Inf(1)
				for range 300 {
					before, was := slices.Clone(m.mixture.grad), m.mixture.central
					traintest.Passes(t, m, p, s, 1)
					now := dual()
					if !harmonic && now < last-1e-12 {
						t.Fatalf("pass %d: the dual fell from %g to %g", s.Passes, last, now)
					}
					for _, share := range []float64{0.5, 0.9} { // of the step
						square := 0.0
						for j, g := range m.mixture.grad {
							x := before[j] + share*(g-before[j])
							square += x * x
						}
						if at := was + share*(m.mixture.central-was) + p.Constant - square/(2*p.Lambda); !harmonic && at > now+1e-12 {
							t.Fatalf("pass %d: %g of the step raises the dual to %g, all of it to %g", s.Passes, share, at, now)
						}
					}
					last = now
					if s.Dual > best.Primal || s.Primal > f || s.Dual > now && s.Dual > s.Primal {
						t.Fatalf("pass %d: bound %g, objective %g after %g, the optimum is at most %g", s.Passes, s.Dual, s.Primal, f, best.Primal)
					}
					f = s.Primal
				}
				w := make([]float32, len(s.W))
				copy(w, p.Center)
				for j, g := range m.mixture.grad {
					w[j] -= float32(g / p.Lambda)
				}
				traintest.NearAll(t, "w", m.at, w, 1e-5)
				if gap := s.Gap() / s.Primal; !(gap < 0.05) {
					t.Errorf("harmonic %v: relative gap %g", harmonic, gap)
				}
			}
		})
	}
}

// The dual of the cutting plane method rises with every plane, whatever their number, and all planes bound the loss
// from below everywhere.
func TestCuttingPlane(t *testing.T) {
	for name, p := range batchDuals(t) {
		t.Run(name, func(t *testing.T) {
			reference := &BCPFW{}
			best := traintest.Start(t, reference, p)
			traintest.Passes(t, reference, p, best, 200)
			traintest.Certify(t, reference, p, best)
			for _, c := range []struct {
				planes, passes int
				gap            float64
			}{{0, 150, 1e-3}, {6, 300, 0.05}, {2, 300, 0.3}} {
				m := &CuttingPlane{Planes: c.planes}
				s := traintest.Start(t, m, p)
				last := math.Inf(-1)
				for k := 0; k < c.passes && !s.Done; k++ {
					traintest.Passes(t, m, p, s, 1)
					raw, rounded := m.planes.value(p, m.planes.mixed(len(s.W)))
					if raw += rounded; raw < last-1e-3*(s.Primal-last) {
						t.Fatalf("%d planes, pass %d: the dual fell from %g to %g", c.planes, s.Passes, last, raw)
					}
					last = raw
					if n := len(m.planes.mix) - 1; c.planes > 0 && n > c.planes {
						t.Fatalf("%d planes, at most %d are allowed", n, c.planes)
					}
				}
				if gap := s.Gap() / s.Primal; !(gap >= 0 && gap <= c.gap) {
					t.Errorf("%d planes: relative gap %g after %d passes", c.planes, gap, s.Passes)
				}
				if s.Dual > best.Primal || best.Dual > s.Primal {
					t.Errorf("certified [%g, %g], bcpfw [%g, %g]", s.Dual, s.Primal, best.Dual, best.Primal)
				}
				traintest.Near(t, "Σ q", sum(m.planes.mix), 1, 1e-9)
				at := traintest.DrawWeights(p.Rand(1), len(s.W), 1)
				f := traintest.Value(t, p.Engine, at)
				square := 0.0
				for j, x := range at {
					d := float64(x)
					if p.Center != nil {
						d -= float64(p.Center[j])
					}
					square += d * d
				}
				for k := 1; k < len(m.planes.mix); k++ {
					height := m.planes.central[k] + vec.Dot64(m.planes.grads[k], at)
					if p.Center != nil {
						height -= vec.Dot64(m.planes.grads[k], p.Center)
					}
					if loss := f - p.Lambda/2*square - p.Constant; height > loss+1e-4*math.Abs(loss) {
						t.Errorf("plane %d is at %g where the loss is %g", k, height, loss)
					}
				}
			}
		})
	}
}

func sum(x []float64) (s float64) {
	for _, v := range x {
		s += v
	}
	return s
}

// A checkpoint whose parts do not fit is bad input.
func TestDamagedBatchDuals(t *testing.T) {
	p := traintest.LinearProblem(10, 1, 0.1, 1)
	for _, m := range []train.Method{&FrankWolfe{}, &CuttingPlane{}} {
		s := traintest.Start(t, m, p)
		traintest.Passes(t, m, p, s, 3)
		switch m := m.(type) {
		case *FrankWolfe:
			m.mixture.grad = m.mixture.grad[1:]
		case *CuttingPlane:
			m.planes.slack = m.planes.slack[1:]
		}
		if err := m.Start(t.Context(), p, s); err == nil {
			t.Errorf("%s goes on", m.Name())
		}
	}
}

// On a device, which offers full passes, the methods do what they do on the host. Roundings change which of equal
// outputs an oracle finds.
func TestBatchMethodsOnADevice(t *testing.T) {
	for _, make := range []func() train.Method{
		func() train.Method { return &FrankWolfe{} }, func() train.Method { return &CuttingPlane{} }, func() train.Method { return &AGM{} },
	} {
		var at []*train.State
		for _, device := range []bool{false, true} {
			p := traintest.NoisyProblem(20, engine.Hinge, oracles.Smoothing{}, 0.1)
			m := make()
			if m.Name() == "agm" {
				p.Smoothing = traintest.Entropy
			}
			if device {
				p = traintest.Accelerated(p)
			}
			s := traintest.Start(t, m, p)
			traintest.Passes(t, m, p, s, 15)
			at = append(at, s)
		}
		if host, device := at[0], at[1]; math.Abs(host.Primal-device.Primal) > 0.01*host.Primal || math.Abs(host.Dual-device.Dual) > 0.03*host.Primal ||
			host.Dual > device.Primal || device.Dual > host.Primal {
			t.Errorf("%T: [%g, %g] on the host, [%g, %g] on the device", make(), host.Dual, host.Primal, device.Dual, device.Primal)
		}
	}
}
