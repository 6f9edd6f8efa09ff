package segment

import "math"

var plain = kernels{
	name:         "plain Go",
	bestSegments: bestSegments, bestSteps: bestSteps,
	sumSegments: sumSegments, sumSteps: sumSteps,
	spreadSegments: spreadSegments, spreadSteps: spreadSteps,
	exps: exps, weigh: weigh, spreadWeights: spreadWeights,
}

func bestSegments(to, h, length, reach []float64, t, longest int) {
	for j := range to {
		to[j] = minusInf
	}
	stride := len(to)
	for l := 1; l <= longest; l++ {
		x, y := h[(t-l+1)*stride:][:stride], length[(l-1)*stride:][:stride]
		for j, x := range x {
			if v := x + y[j]; v > to[j] && float64(l) <= reach[j] {
				to[j] = v
			}
		}
	}
}

func bestSteps(to, x, m []float64, labels int) {
	for j := range to {
		to[j] = minusInf
	}
	for i, x := range x[:labels] {
		for j, y := range m[i*len(to):][:len(to)] {
			if v := x + y; v > to[j] {
				to[j] = v
			}
		}
	}
}

func sumSegments(to, sum, h, length, reach []float64, t, longest int) {
	bestSegments(to, h, length, reach, t, longest)
	finite(to)
	clear(sum)
	stride := len(to)
	for l := 1; l <= longest; l++ {
		x, y := h[(t-l+1)*stride:][:stride], length[(l-1)*stride:][:stride]
		for j, x := range x {
			if float64(l) <= reach[j] {
				sum[j] += exp(x + y[j] - to[j])
			}
		}
	}
}

func sumSteps(to, sum, x, m []float64, labels int) {
	bestSteps(to, x, m, labels)
	finite(to)
	clear(sum)
	for i, x := range x[:labels] {
		for j, y := range m[i*len(to):][:len(to)] {
			sum[j] += exp(x + y - to[j])
		}
	}
}

func spreadSegments(starts, lengths, p, h, length, a, reach []float64, t, longest int) {
	stride := len(p)
	for l := 1; l <= longest; l++ {
		from, by := (t-l+1)*stride, (l-1)*stride
		for j, p := range p {
			if float64(l) <= reach[j] && p > 0 {
				q := p * exp(h[from+j]+length[by+j]-a[j])
				starts[from+j] += q
				lengths[by+j] += q
			}
		}
	}
}

func spreadSteps(to, edges, x, m, b, p []float64, labels int) {
	stride := len(to)
	for i, x := range x[:labels] {
		total := 0.0
		for j, p := range p {
			if p > 0 {
				q := p * exp(x+m[i*stride+j]-b[j])
				edges[i*stride+j] += q
				total += q
			}
		}
		to[i] += total
	}
}

func exps(to, x []float64, top float64) {
	for j, x := range x {
		to[j] = exp(x - top)
	}
}

func weigh(to, w, m []float64, labels int) {
	clear(to)
	for i, w := range w[:labels] {
		for j, x := range m[i*len(to):][:len(to)] {
			to[j] += w * x
		}
	}
}

func spreadWeights(to, edges, w, m, p []float64, labels int) {
	stride := len(to)
	for i, w := range w[:labels] {
		total := 0.0
		for j, p := range p {
			q := w * m[i*stride+j] * p
			edges[i*stride+j] += q
			total += q
		}
		to[i] += total
	}
}

// exp is math.Exp, but 0 where the result is negligible: terms are beside one of 1, or shares of one.
func exp(x float64) float64 {
	if x < -708 {
		return 0
	}
	return math.Exp(x)
}
