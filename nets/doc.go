// Package nets turns inputs into potentials. A network is a Gorgonia expression graph with Gorgonia's symbolic gradient,
// lowered once per shape to a small program of ours that runs with reused buffers. Beside score (w → θ) and pullback
// (v → Jᵀv) it offers the push-forward (ẇ → Jẇ), and with it the network linearised at a point, which is what the
// prox-linear method optimises.
package nets
