package matching

var plain = kernels{
	name:   "Go",
	negate: negate, lower: lower, leastTwo: leastTwo, relax: relax, through: through,
}

func negate(to, from []float32) {
	for j, x := range from {
		to[j] = -x
	}
	for j := len(from); j < len(to); j++ {
		to[j] = float32(inf)
	}
}

func lower(least, row []float32, at []int32, i int32) {
	row, at = row[:len(least)], at[:len(least)]
	for j, x := range row {
		if x < least[j] {
			least[j], at[j] = x, i
		}
	}
}

func leastTwo(c []float32, v []float64) (least float64, at int, second float64) {
	least, second = inf, inf
	v = v[:len(c)]
	for j, x := range c {
		d := float64(x) - v[j]
		if d < second {
			if d < least {
				least, at, second = d, j, least
			} else {
				second = d
			}
		}
	}
	return least, at, second
}

func relax(c []float32, v, d []float64, from []int64, base float64, i int64) (least float64, at int) {
	least = inf
	v, d, from = v[:len(c)], d[:len(c)], from[:len(c)]
	for j, x := range c {
		old := d[j]
		if to := float64(x) - v[j] + base; to < old {
			d[j], from[j], old = to, i, to
		}
		if old < least {
			least, at = old, j
		}
	}
	return least, at
}

func through(to, x []float64, first *[vias]float64) {
	n := len(to)
	x0, x1, x2, x3 := x[:n], x[n:2*n], x[2*n:3*n], x[3*n:4*n]
	f0, f1, f2, f3 := first[0], first[1], first[2], first[3]
	for j, least := range to {
		if s := x0[j] + f0; s < least {
			least = s
		}
		if s := x1[j] + f1; s < least {
			least = s
		}
		if s := x2[j] + f2; s < least {
			least = s
		}
		if s := x3[j] + f3; s < least {
			least = s
		}
		to[j] = least
	}
}
