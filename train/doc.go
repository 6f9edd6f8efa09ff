// Package train holds what all optimisers share: the problem they work on, what they show of a run, certificates, the loop that
// runs them and checkpoints. The objective and the engine that evaluates it are in engine, the optimisers in methods, one file
// each, and what is told of a run in record. Imports point one way: engine and record know nothing of train, nor train of methods.
//
// Notation, throughout: w weights, θ_i(w) potentials of example i, ℓ_i its task loss written as potentials, y_i its gold
// output, J_i = ∂θ_i/∂w, u_i marginals answered by an oracle, λ the regulariser, c its centre, μ smoothing, κ the weight
// of a proximal term with centre z, γ a step.
package train
