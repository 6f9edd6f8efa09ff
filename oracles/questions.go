package oracles

import "github.com/dsp-go/dsp/structured"

// CrossEntropy returns −Σ_y p(y) log q(y) in nats, for the Gibbs distribution q of example b of θ at temperature μ,
// whose value by Exp is given, and a distribution p whose marginals are those of example i of u: log Z − ⟨u, θ⟩/μ. It
// is +∞ if q forbids what p does not.
func CrossEntropy(u *structured.Marginals, i int, θ *structured.Potentials, b int, μ, value float64) float64 {
	return (value - u.DotWith(i, θ, b)) / μ
}

// GibbsEntropy returns the entropy in nats of the Gibbs distribution of example b of θ at temperature μ, whose value
// and marginals by Exp are given. It is a difference of numbers as large as the scores over μ: expect errors of some
// 1e-7 of these, and never less than 0.
func GibbsEntropy(u *structured.Marginals, θ *structured.Potentials, b int, μ, value float64) float64 {
	return max(0, CrossEntropy(u, b, θ, b, μ, value))
}

// ExactSums returns the oracle as one whose sums over outputs are exact, or a bad-input error that names what needs
// them, and the oracle's structure.
func ExactSums(o Maximiser, need, structure string) (Summer, error) {
	s, ok := o.(Summer)
	if why, is := o.(Unsummable); !ok && is {
		return nil, structured.BadInput("%s needs sums over all outputs, which the oracle of a %s does not compute: %s", need,
			structure, why.WhyNoSums())
	}
	if !ok {
		return nil, structured.BadInput("%s needs sums over all outputs, which the oracle of a %s does not compute", need,
			structure)
	}
	if _, bounds := o.(Gapped); bounds {
		return nil, structured.BadInput("%s needs exact sums over all outputs; those of a %s are bounds", need, structure)
	}
	return s, nil
}

// Samplers returns the oracle as a Sampler, or a bad-input error that names what needs samples, and the oracle's
// structure.
func Samplers(o Maximiser, need, structure string) (Sampler, error) {
	if _, err := ExactSums(o, need, structure); err != nil {
		return nil, err
	}
	s, ok := o.(Sampler)
	if !ok {
		return nil, structured.BadInput("%s: the oracle of a %s draws no samples", need, structure)
	}
	return s, nil
}
