package engine

// DualAscender is an Accelerator that does the line search of a BCFW step (methods/bcfw.go) on the device, so that the host
// never waits for a step.
type DualAscender interface {
	Accelerator
	// Ascend takes the step along the last Step's D on the open path. The mean takes share of the new iterate, and the memory
	// and the books are updated.
	Ascend(memory RemoteMemory, λ, share float64)
	// SetBooks and Books write and read the dual's books.
	SetBooks(b DualBooks)
	Books() (DualBooks, error)
}

// DualBooks are BCFW's data on its dual point: the linear part b of the memory, b of the mean of the iterates, and D(ū).
type DualBooks struct{ Linear, Average, Value float64 }

// DualAscender returns the engine's device if it is a DualAscender, else nil.
func (e *Engine) DualAscender() DualAscender {
	a, _ := e.backend.accelerator().(DualAscender)
	return a
}
