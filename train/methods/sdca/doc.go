// Package sdca holds stochastic dual coordinate ascent: its steps, their memory of dual potentials, the team of threads
// that takes steps together, and the threads that take them alone. The notation is that of package train.
package sdca
