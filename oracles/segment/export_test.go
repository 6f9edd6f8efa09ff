package segment

// Kernels lists the names of the kernels that this build and machine have.
func Kernels() (names []string) {
	for _, k := range available {
		names = append(names, k.name)
	}
	return names
}

// NewOf returns an oracle with the kernels of that name.
func NewOf(name string) *Oracle {
	for _, k := range available {
		if k.name == name {
			return &Oracle{k: k}
		}
	}
	return nil
}
