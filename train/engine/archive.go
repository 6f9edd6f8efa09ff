package engine

// Archive saves values under names, or restores them: the same code does both, so the two cannot disagree. A restored
// slice has the length it was saved with.
type Archive interface {
	// Restores reports whether values are restored, not saved.
	Restores() bool
	Floats(name string, x *[]float32)
	Ints(name string, x *[]int32)
	Doubles(name string, x *[]float64)
	Number(name string, x *float64)
	Count(name string, x *int)
}
