// Package train holds the objective, its certificate and the optimisers, one file each, and the loop that runs them.
//
// Notation, throughout: w weights, θ_i(w) potentials of example i, ℓ_i its task loss written as potentials, y_i its gold
// output, J_i = ∂θ_i/∂w, u_i marginals answered by an oracle, λ the regulariser, c its centre, μ smoothing, κ the weight
// of a proximal term with centre z, γ a step.
package train
