package vec

// Grow returns a slice of length n with undefined content. It returns s itself if its capacity suffices, and otherwise a
// new slice of exactly that capacity. (slices.Grow would copy the old content and round the capacity up.)
func Grow[E any](s []E, n int) []E {
	if cap(s) < n {
		return make([]E, n)
	}
	return s[:n]
}
