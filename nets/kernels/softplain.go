package kernels

// Soft returns the soft threshold of x, sign(x)·max(|x| − τ, 0).
func Soft(x, τ float32) float32 { return x - max(min(x, τ), -τ) }

func gatherSoftPlain(to, w []float32, τ float32, index []int32, value []float32) {
	y := len(to)
	for k, row := range index {
		from, x := w[int(row)*y:][:y], ValueAt(value, k)
		for j := range to {
			to[j] += x * Soft(from[j], τ)
		}
	}
}

func measureSoftPlain(w, v []float32, c, τ float32, index []int32, value []float32, change *Changes) {
	y := len(v)
	for k, row := range index {
		change[place(row)][0] += float32(measureRunSoftPlain(w[int(row)*y:][:y], v, c*ValueAt(value, k), τ))
	}
}

func measureRunSoftPlain(w, v []float32, c, τ float32) float64 {
	var s float32
	v = v[:len(w)]
	for j, x := range w {
		b := Soft(x, τ)
		w[j] = x + c*v[j]
		a := Soft(w[j], τ)
		s += (a - b) * (a + b)
	}
	return float64(s)
}
