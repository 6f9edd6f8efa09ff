package tree

import "github.com/dsp-go/dsp/structured/sys/vec"

// Kernels lists the names of the kernels that this build and machine have. Use selects one of them until restore is
// called.
func Kernels() (names []string) {
	for _, k := range available {
		names = append(names, k.name)
	}
	return names
}

func Use(name string) (restore func()) {
	before := fastest
	for _, k := range available {
		if k.name == name {
			fastest = k
		}
	}
	return func() { fastest = before }
}

// expOfLogs is Exp in logarithms, after a call of Exp for as many tokens.
func (p *Projective) expOfLogs(arc []float64, n int, μ float64, marginals []float32) float64 {
	value := p.fillLogs(arc, n, μ)
	if marginals != nil {
		clear(marginals[:n*n])
		if value > minusInf {
			p.differentiate(logarithms, marginals)
		}
	}
	return value
}

// expRescaled is Exp of rescaled weights, and whether they are in range.
func (p *Projective) expRescaled(arc []float64, n int, μ float64, marginals []float32) (value float64, ok bool) {
	p.sums.resize(n)
	p.weights = vec.Grow(p.weights, n)
	clear(marginals)
	if value, ok = p.fillRescaled(arc, n, μ); ok {
		p.differentiate(rescaled, marginals)
	}
	return value, ok
}
