package tree

// Kernels lists the names of the kernels that this build and machine have. Use selects one of them until restore is called.
func Kernels() (names []string) {
	for _, k := range available() {
		names = append(names, k.name)
	}
	return names
}

func Use(name string) (restore func()) {
	before := fastest
	for _, k := range available() {
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
			p.differentiate(true, marginals)
		}
	}
	return value
}
