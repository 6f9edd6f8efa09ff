package factors

// Walk visits the entries of a table with the given sizes in order, in runs along the last variable: n entries from i.
// The matching entries of another table, in which the variables have the given strides, begin at j and are stride
// apart.
func Walk(sizes, strides []int, visit func(i, j, n, stride int)) {
	last := len(sizes) - 1
	if last < 0 {
		visit(0, 0, 1, 0)
		return
	}
	n, stride := sizes[last], strides[last]
	at := make([]int, last)
	for i, j := 0, 0; ; i += n {
		visit(i, j, n, stride)
		k := last - 1
		for ; k >= 0; k-- {
			at[k]++
			j += strides[k]
			if at[k] < sizes[k] {
				break
			}
			j -= at[k] * strides[k]
			at[k] = 0
		}
		if k < 0 {
			return
		}
	}
}
