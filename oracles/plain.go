package oracles

var plain = kernels{
	name:      "plain Go",
	lanes:     1,
	maxPlus:   maxPlus,
	argmax:    argmax,
	argmaxSum: argmaxSum,
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

func argmaxSum(x, y []float32) int {
	best, value := 0, x[0]+y[0]
	for i, v := range x {
		if s := v + y[i]; s > value {
			best, value = i, s
		}
	}
	return best
}
