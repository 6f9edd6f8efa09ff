package oracles

// projectSimplex smooths the max of z, sorted in descending order, by μ with the ℓ₂ regulariser. It returns
//
//	max_{q in the simplex} Σ_k q_k z_k − (μ/2)(‖q‖² − 1)
//
// and writes its maximiser, the projection of z/μ onto the simplex, to q. Its support size s satisfies
// Σ_{i≤s}(z_(i) − z_(s)) < μ ≤ Σ_{i≤s}(z_(i) − z_(s+1)), and then q_k = max(0, (z_k − mean_s)/μ + 1/s).
func projectSimplex(z []float64, μ float64, q []float64) float64 {
	support, above := 1, 0.0 // above = Σ_{i≤support} (z_1 − z_i)
	for support < len(z) {
		difference := z[0] - z[support]
		if float64(support)*difference-above >= μ {
			break
		}
		above += difference
		support++
	}
	mean, linear, square := -above/float64(support), 0.0, 0.0
	for k := range q[:len(z)] {
		q[k] = 0
		if k < support {
			d := z[k] - z[0]
			q[k] = max(0, (d-mean)/μ+1/float64(support))
			linear += q[k] * d
			square += q[k] * q[k]
		}
	}
	return z[0] + linear - μ/2*(square-1)
}

// covers reports whether smoothing by μ over the K best outputs equals smoothing over all: no further output would get
// weight, because μ ≤ Σ_{k≤K} (z_(k) − z_(K+1)) (Pillutla et al. 2019, Prop. 4). z holds the K+1 best scores.
func covers(z []float64, μ float64) bool {
	sum, next := 0.0, z[len(z)-1]
	for _, v := range z[:len(z)-1] {
		sum += v - next
	}
	return μ <= sum
}
