package engine

// Archive saves values under names, or restores them. The same code does both, so the two cannot disagree. A restored slice
// has the length with which it was saved.
type Archive interface {
	// Restores reports whether the archive restores values rather than saving them.
	Restores() bool
	Floats(name string, x *[]float32)
	Ints(name string, x *[]int32)
	Doubles(name string, x *[]float64)
	Number(name string, x *float64)
	Count(name string, x *int)
}
