// Package methods holds the optimisers, one file each, and what several of them share: step sizes, anchors, annealed
// smoothing, averages. SDCA, which runs its steps in its own lanes, is in package sdca. The notation is that of package
// train.
package methods
