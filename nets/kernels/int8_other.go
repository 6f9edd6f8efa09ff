//go:build !amd64

package kernels

// availableInt8 returns the loops that this processor can run.
func availableInt8() []*int8Loops { return []*int8Loops{&plainInt8} }
