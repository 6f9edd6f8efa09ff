package engine

// DualAscender is an Accelerator that searches the line of a step of BCFW (methods/bcfw.go) by itself, so that the host never waits
// for a step.
type DualAscender interface {
	Accelerator
	// Ascend does the step that the last Step's D gives on the open path: the mean takes share of the new iterate, the memory
	// and the books follow.
	Ascend(memory RemoteMemory, λ, share float64)
	// SetBooks and Books hand over the dual's books.
	SetBooks(b DualBooks)
	Books() (DualBooks, error)
}

// DualBooks are what BCFW knows of its dual point: the linear part b of the memory, that of the mean of the iterates, and D(ū).
type DualBooks struct{ Linear, Average, Value float64 }

// DualAscender returns the engine's device where it is one, else nil.
func (e *Engine) DualAscender() DualAscender {
	a, _ := e.device.(DualAscender)
	return a
}
