package chain

import "math"

// negligible is the exponent below which a term does not change a sum whose largest term is about 1.
const negligible = -40

func logSum(edge []float32, score []float64, w []float32, rate float64) (m, sum float64) {
	edge, w = edge[:len(score)], w[:len(score)]
	m = math.Inf(-1)
	for j, v := range score {
		if v += float64(edge[j]); v > m {
			m = v
		}
	}
	if m == math.Inf(-1) {
		return m, 0
	}
	for j, v := range score {
		if x := (v + float64(edge[j]) - m) * rate; x > negligible {
			sum += float64(w[j]) * math.Exp(x)
		}
	}
	return m, sum
}

func logSpread(a, b, edge []float32, score []float64, w []float32, m, rate float64, p float32) {
	edge, w, a, b = edge[:len(score)], w[:len(score)], a[:len(score)], b[:len(score)]
	for j, v := range score {
		if x := (v + float64(edge[j]) - m) * rate; x > negligible {
			q := float32(math.Exp(x)) * w[j] * p
			a[j] += q
			b[j] += q
		}
	}
}
