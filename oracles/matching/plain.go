package matching

var plain = kernels{
	name:   "Go",
	negate: negate, lower: lower, leastTwo: leastTwo, relax: relax, through: through,
}

func negate(to, from []float32) {
	to = to[:len(from)]
	for j, x := range from {
		to[j] = -x
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

func through(to, x []float64, first float64) {
	x = x[:len(to)]
	for j, old := range to {
		to[j] = min(old, x[j]+first)
	}
}
