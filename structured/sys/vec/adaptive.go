package vec

// Updates of optimisers that give every weight a step length of its own, from a mean v of its squared gradients. The
// scale of a weight is h = √(v·unbias) + Floor, where unbias corrects v for having started at zero.

// Floor is the least scale of a weight.
const Floor = 1e-8

// Observe adds squared gradients to the means and sets q to step lengths: v ← βv + (1−β)g², q ← 1/h, or 0 where v is 0.
func Observe(β, unbias float32, g, v, q []float32) {
	fastest.observe(β, unbias, g[:len(q)], v[:len(q)], q)
}

// ObserveTempered is Observe with scales that are tempered by a common one: q ← 1/(√(h·common) + shift), or 0 where v
// is 0.
func ObserveTempered(β, unbias, common, shift float32, g, v, q []float32) {
	fastest.observeTempered(β, unbias, common, shift, g[:len(q)], v[:len(q)], q)
}

// Descend moves weights against a·g + b·w by their own step lengths: w ← w − q(ag + bw).
func Descend(a float32, g []float32, b float32, q, w []float32) {
	fastest.descend(a, g[:len(w)], b, q[:len(w)], w)
}

// Decay shrinks weights, those with a small scale more: w ← w·exp(−x/√h), with h for unbias = 1. Weights whose v is 0
// keep their value.
func Decay(x float32, v, w []float32) { fastest.decay(x, v[:len(w)], w) }

// DescendMean moves weights against a mean of the gradients by their own step lengths: m ← βm + (1−β)g, w ← ρw − a·q·m.
func DescendMean(β, ρ, a float32, g, q, m, w []float32) {
	fastest.descendMean(β, ρ, a, g[:len(w)], q[:len(w)], m[:len(w)], w)
}

// Dot3 returns Σ x_i y_i z_i in float64, with x_i y_i rounded to float32.
func Dot3(x, y, z []float32) float64 { return fastest.dot3(x, y[:len(x)], z[:len(x)]) }
