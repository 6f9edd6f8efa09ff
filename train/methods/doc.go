// Package methods holds the optimisers, one file each, and what several of them share: paces, anchors, annealed smoothing,
// averages. SDCA, which steps through its own lanes, has a package of its own, sdca. The notation is that of package train.
package methods
