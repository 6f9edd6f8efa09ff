package pcfg

// Each calls do with an oracle of each kernel that this build and machine have.
func Each(do func(kernel string, o *Oracle)) {
	for _, k := range available {
		do(k.name, newOf(k))
	}
}
