package vec

// Grow returns a slice of length n for numbers that are about to be written: s where it has room, else a new one. What the
// slice holds is not defined.
func Grow[E any](s []E, n int) []E {
	if cap(s) < n {
		return make([]E, n)
	}
	return s[:n]
}
