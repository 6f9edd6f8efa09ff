package engine

// Observe adds the curvature data of a step on b examples at the path's current point: ‖D‖²/b² and ⟨D, w − w_0⟩/b, where w_0
// is the start of the path. It ignores a step if some of its answers are not exact.
func (x *Path) Observe(st *Step, start []float32, b int) {
	switch {
	case x.device != nil:
		x.device.Observe(b)
	case st.Exact == b:
		x.rise += st.Grad.Norm2() / float64(b*b)
		x.progress += (st.Product() - st.Grad.Dot(start)) / float64(b)
	}
}

// Observed returns both sums over the steps observed since the path was started.
func (x *Path) Observed() (rise, progress float64, err error) {
	if x.device != nil {
		return x.device.Observed()
	}
	return x.rise, x.progress, nil
}
