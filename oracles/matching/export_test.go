package matching

// Kernels lists the names of the kernels that this build and machine have. Use selects one of them until restore is
// called.
func Kernels() (names []string) {
	for _, k := range available {
		names = append(names, k.name)
	}
	return names
}

func Use(name string) (restore func()) {
	before := fastest
	for _, k := range available {
		if k.name == name {
			fastest = k
		}
	}
	return func() { fastest = before }
}
