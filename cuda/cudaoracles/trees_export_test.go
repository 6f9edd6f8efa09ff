package cudaoracles

// SetTreeShared changes how many float64 of shared memory a block takes for a sentence's trees, and returns the number
// before.
func SetTreeShared(numbers int) (before int) {
	before, mostTreeShared = mostTreeShared, numbers
	return before
}
