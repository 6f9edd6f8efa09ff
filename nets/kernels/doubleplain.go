package kernels

func gatherDoublePlain(to []float64, w []float32, index []int32, value []float32) {
	y := len(to)
	for k, row := range index {
		from, x := w[int(row)*y:][:y], float64(ValueAt(value, k))
		for j := range to {
			to[j] += x * float64(from[j])
		}
	}
}

func scatterDoublePlain(to, v []float64, index []int32, value []float32) {
	y := len(v)
	for k, row := range index {
		at, x := to[int(row)*y:][:y], float64(ValueAt(value, k))
		for j, d := range v {
			at[j] += x * d
		}
	}
}
