// Package train holds the objective, its certificate and the optimisers, one file each, and the loop that runs them.
//
// Notation, throughout: w weights, θ_i(w) potentials of example i, ℓ_i its task loss written as potentials, y_i its gold
// output, J_i = ∂θ_i/∂w, u_i marginals answered by an oracle, λ the regulariser, c its centre, μ smoothing, κ the weight
// of a proximal term with centre z, γ a step.
//
// Methods think on the host between passes; what they do many times, full passes and steps, is asked of the Engine, which
// may have an Accelerator: a device where data, scorer, iterates and memories live. So each method is written once: Gradient,
// Step, Memory and path are handles there, and numbers come to the host only where a method looks at them.
package train
