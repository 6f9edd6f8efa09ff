// Package train holds what all optimisers share: the problem, the public state of a run, certificates, the training
// loop and checkpoints. Package engine holds the objective and evaluates it. Package methods holds the optimisers, one
// file each. Package record reports on a run. Imports go one way: engine and record do not import train, and train does
// not import methods.
//
// Notation, throughout: w weights, θ_i(w) potentials of example i, ℓ_i its task loss written as potentials, y_i its
// gold output, J_i = ∂θ_i/∂w, u_i marginals returned by an oracle, λ the regulariser, c its centre, μ smoothing, κ the
// weight of a proximal term with centre z, γ a step size.
package train
