package tree

// push adds a subset to the heap.
func (g *search) push(s subset) {
	g.subsets = append(g.subsets, s)
	i := len(g.subsets) - 1
	for i > 0 {
		up := (i - 1) / 2
		if g.subsets[up].next >= s.next {
			break
		}
		g.subsets[i] = g.subsets[up]
		i = up
	}
	g.subsets[i] = s
}

// pop removes and returns the subset with the largest next.
func (g *search) pop() subset {
	top, last := g.subsets[0], g.subsets[len(g.subsets)-1]
	g.subsets = g.subsets[:len(g.subsets)-1]
	n, i := len(g.subsets), 0
	for {
		down := 2*i + 1
		if down+1 < n && g.subsets[down+1].next > g.subsets[down].next {
			down++
		}
		if down >= n || g.subsets[down].next <= last.next {
			break
		}
		g.subsets[i] = g.subsets[down]
		i = down
	}
	if n > 0 {
		g.subsets[i] = last
	}
	return top
}
