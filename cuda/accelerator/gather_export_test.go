package accelerator

// SetGathered sets how many numbers a block of gradients has, of all ranks' parts together, and returns how to undo
// that.
func SetGathered(n int) (undo func()) {
	before := gatheredNumbers
	gatheredNumbers = n
	return func() { gatheredNumbers = before }
}
