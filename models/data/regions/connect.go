package regions

import (
	"cmp"
	"slices"

	"github.com/dsp-go/dsp/structured/images"
)

// connected makes the connected parts of clusters regions. A part of fewer than least pixels becomes one with the
// neighbour that it shares the longest border with, the smallest parts first.
func connected(m *images.Image, of []int32, least int) *Partition {
	p := components(m.Width, m.Height, of)
	sizes := p.sizes()
	around := make([]map[int32]int, p.Count) // per part, its neighbours with the lengths of the borders
	for r := range around {
		around[r] = map[int32]int{}
	}
	for _, b := range Borders(m, p, false) {
		around[b.Ends[0]][b.Ends[1]], around[b.Ends[1]][b.Ends[0]] = b.Length, b.Length
	}
	into := make([]int32, p.Count) // the part that a part has become one with, or itself
	for r := range into {
		into[r] = int32(r)
	}
	find := func(r int32) int32 {
		for into[r] != r {
			into[r] = into[into[r]]
			r = into[r]
		}
		return r
	}
	for _, r := range sortedBy(p.Count, func(r int) int { return sizes[r] }) {
		part := find(int32(r))
		if sizes[part] >= least || len(around[part]) == 0 {
			continue
		}
		to, longest := int32(-1), 0
		for k, length := range around[part] {
			if length > longest || length == longest && k < to {
				to, longest = k, length
			}
		}
		into[part] = to
		sizes[to] += sizes[part]
		for k, length := range around[part] {
			delete(around[k], part)
			if k != to {
				around[to][k] += length
				around[k][to] += length
			}
		}
		around[part] = nil
	}
	roots := make([]int32, len(p.Of))
	for i, r := range p.Of {
		roots[i] = find(r)
	}
	return numbered(p.Width, p.Height, roots)
}

// components returns the connected parts of the sets of pixels with the same number.
func components(width, height int, of []int32) *Partition {
	p := &Partition{Width: width, Height: height, Of: slices.Repeat([]int32{-1}, len(of))}
	var open []int // pixels whose neighbours are still to be seen
	for first := range of {
		if p.Of[first] >= 0 {
			continue
		}
		part := int32(p.Count)
		p.Count++
		p.Of[first] = part
		open = append(open, first)
		for len(open) > 0 {
			i := open[len(open)-1]
			open = open[:len(open)-1]
			visit := func(j int) {
				if p.Of[j] < 0 && of[j] == of[first] {
					p.Of[j] = part
					open = append(open, j)
				}
			}
			if i%width > 0 {
				visit(i - 1)
			}
			if i%width < width-1 {
				visit(i + 1)
			}
			if i >= width {
				visit(i - width)
			}
			if i+width < len(of) {
				visit(i + width)
			}
		}
	}
	return p
}

// numbered renumbers regions from 0 in the order of their first pixels.
func numbered(width, height int, of []int32) *Partition {
	p := &Partition{Width: width, Height: height, Of: make([]int32, len(of))}
	number := map[int32]int32{}
	for i, r := range of {
		k, known := number[r]
		if !known {
			k = int32(p.Count)
			number[r] = k
			p.Count++
		}
		p.Of[i] = k
	}
	return p
}

// sortedBy returns the numbers 0 to n−1 in the order of keys, equal ones as they were.
func sortedBy[K cmp.Ordered](n int, key func(k int) K) []int {
	order := make([]int, n)
	for k := range order {
		order[k] = k
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(key(a), key(b)) })
	return order
}
