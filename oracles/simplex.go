package oracles

// projectSimplex smooths the max of z, sorted descending, by μ in the ℓ₂ sense: it returns
//
//	max_{q in the simplex} Σ_k q_k z_k − (μ/2)(‖q‖² − 1)
//
// and writes its maximiser, the projection of z/μ on the simplex, to q. With support size s, the one for which
// Σ_{i≤s}(z_(i) − z_(s)) < μ ≤ Σ_{i≤s}(z_(i) − z_(s+1)), it is q_k = max(0, (z_k − mean_s)/μ + 1/s).
func projectSimplex(z []float64, μ float64, q []float64) float64 {
	support, above := 1, 0.0 // above = Σ_{i≤support} (z_1 − z_i)
	for support < len(z) {
		drop := z[0] - z[support]
		if float64(support)*drop-above >= μ {
			break
		}
		above += drop
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

// covers reports whether smoothing by μ over the K best of all outputs is smoothing over all: whether no further output
// would get weight, μ ≤ Σ_{k≤K} (z_(k) − z_(K+1)) (Pillutla et al. 2019, Prop. 4). z holds the K+1 best scores.
func covers(z []float64, μ float64) bool {
	sum, next := 0.0, z[len(z)-1]
	for _, v := range z[:len(z)-1] {
		sum += v - next
	}
	return μ <= sum
}
