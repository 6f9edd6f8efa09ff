package engine

// Observe takes in a step on b examples from where the path is, with what it says of the curvature between w_0, where the
// path was started, and there: ‖D‖²/b² and ⟨D, w − w_0⟩/b. A step some of whose answers are not exact says nothing.
func (x *Path) Observe(st *Step, start []float32, b int) {
	switch {
	case x.device != nil:
		x.device.Observe(b)
	case st.Exact == b:
		x.rise += st.Grad.Norm2() / float64(b*b)
		x.progress += (st.Product() - st.Grad.Dot(start)) / float64(b)
	}
}

// Observed returns the sums of both over the steps that were taken in since the path was started.
func (x *Path) Observed() (rise, progress float64, err error) {
	if x.device != nil {
		return x.device.Observed()
	}
	return x.rise, x.progress, nil
}
