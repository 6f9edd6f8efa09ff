package engine

// Archive saves values under names, or restores them. The same code does both, so the two cannot disagree. A restored
// slice has the length with which it was saved.
type Archive interface {
	// Restores reports whether the archive restores values rather than saving them.
	Restores() bool
	Floats(name string, x *[]float32)
	Ints(name string, x *[]int32)
	Doubles(name string, x *[]float64)
	Number(name string, x *float64)
	Count(name string, x *int) // at least 0
	// Refuse makes restoring fail, as the file is damaged, where the condition does not hold of what was restored. When
	// saving it does nothing.
	Refuse(unless bool, name string)
}

// ArchivePieces saves or restores the number of pieces of which each is archived under a name of its own. A number that
// no run has, of a damaged file, becomes 0: then the pieces are left over, and the file is refused.
func ArchivePieces(a Archive, name string, n *int) {
	a.Count(name, n)
	if a.Restores() && (*n < 0 || *n > mostPieces) {
		*n = 0
	}
}

const mostPieces = 1 << 12
