// Package quasinewton holds the batch methods that model the curvature of the objective from differences of gradients:
// L-BFGS, and OWL-QN for objectives with λ₁‖w‖₁. They are the references for the stochastic methods. The notation is
// that of package train.
package quasinewton
