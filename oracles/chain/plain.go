package chain

var plain = kernels{
	name:       "plain Go",
	lanes:      1,
	maxPlus:    maxPlus,
	argmax:     argmax,
	exchange:   exchange,
	addArgmax:  addArgmax,
	bounds:     boundsOf,
	grandTotal: grandTotal,
	single:     plainSums[float32](widestSingle, 0x1.01p-24),
	double:     plainSums[float64](widestDouble, 0x1p-51),
	logSum:     logSum,
	logSpread:  logSpread,
}

func maxPlus(next, prev, edge, node []float32, y, stride int) {
	next, node = next[:y], node[:y]
	for j, e := range edge[:y] {
		next[j] = prev[0] + e
	}
	for i, p := range prev[1:y] {
		for j, e := range edge[(i+1)*stride:][:y] {
			if v := p + e; v > next[j] {
				next[j] = v
			}
		}
	}
	for j, n := range node {
		next[j] += n
	}
}

func argmax(x []float32) int {
	best := 0
	for i, v := range x {
		if v > x[best] {
			best = i
		}
	}
	return best
}

func exchange(x []float32, i int, v float32, j int) int {
	x[i] = v
	x[j] = minusInf
	return argmax(x)
}

func addArgmax(sum, x, y []float32) int {
	y, sum = y[:len(x)], sum[:len(x)]
	best, value := 0, minusInf
	for i, v := range x {
		v += y[i]
		sum[i] = v
		if v > value {
			best, value = i, v
		}
	}
	return best
}
