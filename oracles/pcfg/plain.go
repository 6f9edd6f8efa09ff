package pcfg

var plain = kernels{name: "plain Go", dots: dots, spread: spread}

func dots(to, x, r []float64) {
	for a := range to {
		to[a] = dot(x, r[a*len(x):])
	}
}

// dot returns Σ x_k·y_k, by four sums that do not wait for each other.
func dot(x, y []float64) float64 {
	var a, b, c, d float64
	y = y[:len(x)]
	for ; len(x) >= 4 && len(y) >= 4; x, y = x[4:], y[4:] {
		a += x[0] * y[0]
		b += x[1] * y[1]
		c += x[2] * y[2]
		d += x[3] * y[3]
	}
	for k, v := range x {
		a += v * y[k]
	}
	return (a + c) + (b + d)
}

func spread(y, x, q, r, g []float64) {
	clear(y)
	for a, p := range q {
		if p == 0 {
			continue
		}
		r, g := r[a*len(x):][:len(y)], g[a*len(x):][:len(y)]
		for k, v := range x {
			y[k] += p * r[k]
			g[k] += p * v
		}
	}
}
