package window

// node is a set of boxes and an upper bound of their scores. 24 bytes.
type node struct {
	upper float64
	boxes
}

// queue is a heap of nodes, the largest upper bound first.
type queue []node

func (q *queue) push(n node) {
	*q = append(*q, n)
	h := *q
	i := len(h) - 1
	for i > 0 {
		up := (i - 1) / 2
		if h[up].upper >= n.upper {
			break
		}
		h[i] = h[up]
		i = up
	}
	h[i] = n
}

func (q *queue) pop() node {
	h := *q
	top, last := h[0], h[len(h)-1]
	h = h[:len(h)-1]
	*q = h
	i := 0
	for {
		down := 2*i + 1
		if down+1 < len(h) && h[down+1].upper > h[down].upper {
			down++
		}
		if down >= len(h) || h[down].upper <= last.upper {
			break
		}
		h[i] = h[down]
		i = down
	}
	if len(h) > 0 {
		h[i] = last
	}
	return top
}
