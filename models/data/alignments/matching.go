package alignments

// Matching returns the output that stands for a pair's links in training: a largest one-to-one matching inside the sure
// links, which has y[i] = 0 if source word i is unmatched, else 1 + its target word. Among the largest matchings it is
// one with the least Σ |(i+½)/n − (j+½)/m|, so the links nearest the diagonal. Ties are broken by a fixed rule.
//
// It augments along shortest paths, which takes O(n·L·min(n, L)) steps for L links in the worst case and few in
// practice.
func Matching(n, m int, links []Link) []int32 {
	f := &flow{n: n, m: m, adjacent: make([][]int32, n), of: make([]int32, n), owner: make([]int32, m)}
	for _, l := range links {
		if l.Sure {
			f.adjacent[l.Source] = append(f.adjacent[l.Source], l.Target)
		}
	}
	for f.augment() {
	}
	return f.of
}

// flow is a matching that grows by one link at a time and stays the cheapest of its size.
type flow struct {
	n, m     int
	adjacent [][]int32 // per source word, its targets
	of       []int32   // per source word, 1 + its target, or 0
	owner    []int32   // per target word, 1 + its source, or 0
}

// cost is |(i+½)/n − (j+½)/m|, times 2nm.
func (f *flow) cost(i, j int32) int {
	d := (2*int(i)+1)*f.m - (2*int(j)+1)*f.n
	return max(d, -d)
}

// augment adds a link along the cheapest alternating path (Bellman and Ford), and reports whether there was one.
func (f *flow) augment() bool {
	const far = int(^uint(0) >> 2)
	toSource, toTarget, via := make([]int, f.n), make([]int, f.m), make([]int32, f.m)
	for i := range toSource {
		if f.of[i] > 0 {
			toSource[i] = far
		}
	}
	for j := range toTarget {
		toTarget[j] = far
	}
	for changed := true; changed; {
		changed = false
		for i, targets := range f.adjacent {
			if toSource[i] == far {
				continue
			}
			for _, j := range targets {
				if j+1 == f.of[i] {
					continue
				}
				if d := toSource[i] + f.cost(int32(i), j); d < toTarget[j] {
					toTarget[j], via[j], changed = d, int32(i), true
					if owner := f.owner[j]; owner > 0 {
						toSource[owner-1] = d - f.cost(owner-1, j)
					}
				}
			}
		}
	}
	best := -1
	for j, d := range toTarget {
		if f.owner[j] == 0 && d < far && (best < 0 || d < toTarget[best]) {
			best = j
		}
	}
	if best < 0 {
		return false
	}
	for j := int32(best); ; {
		i := via[j]
		before := f.of[i]
		f.of[i], f.owner[j] = j+1, i+1
		if before == 0 {
			return true
		}
		j = before - 1
	}
}
