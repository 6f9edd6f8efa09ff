package inputs

import "github.com/dsp-go/dsp/structured"

// batchPositions is how many positions are scored at once, unless one chain is longer: enough to keep matrix products
// busy, few enough to keep the potentials in cache.
const batchPositions = 1024

// Batches cuts the examples of d into consecutive batches, which depend on the data alone.
func Batches(d *structured.Dataset) [][]int {
	var all [][]int
	var batch []int
	positions := 0
	for i := range d.Len() {
		if t := d.Length(i); positions+t > batchPositions && len(batch) > 0 {
			all = append(all, batch)
			batch, positions = nil, 0
		}
		batch = append(batch, i)
		positions += d.Length(i)
	}
	if len(batch) > 0 {
		all = append(all, batch)
	}
	return all
}
