package alignments

import "github.com/dsp-go/dsp/structured/monotone"

// Outputs says which outputs stand for the links of a pair.
type Outputs struct {
	Numbers func(n, m int) int                   // how many numbers they have, for a pair of n by m words
	Of      func(n, m int, links []Link) []int32 // the one that links are learned by
	Links   func(y []int32) []Link               // the links of an output, which are sure
}

var (
	// Matchings link words one to one.
	Matchings = Outputs{func(n, m int) int { return n }, Matching, OfOutput}
	// Paths link every word, in order (package monotone).
	Paths = Outputs{monotone.Numbers, Path, OfPath}
)

// OfPath returns the links of a path as sure links.
func OfPath(y []int32) []Link {
	links := make([]Link, 0, len(y))
	monotone.Each(y, func(i, j int) { links = append(links, Link{int32(i), int32(j), true}) })
	return links
}

// Path returns the path that stands for a pair's links in training: one with the most sure links, then one with the
// fewest pairs that are not linked at all, then the one nearest the diagonal. Ties are broken by a fixed rule. It takes
// O(n·m) steps.
func Path(n, m int, links []Link) []int32 {
	if n == 0 || m == 0 {
		return nil
	}
	const sure, possible = 1, 2
	kinds := make([]uint8, n*m)
	for _, l := range links {
		kinds[int(l.Source)*m+int(l.Target)] |= possible
		if l.Sure {
			kinds[int(l.Source)*m+int(l.Target)] |= sure
		}
	}
	// worth of the best path to a pair: sure links times a number that unlinked pairs do not reach, less these; then
	// minus the distances.
	type worth struct{ links, near int }
	better := func(a, b worth) bool { return a.links > b.links || a.links == b.links && a.near > b.near }
	best := make([]worth, n*m)
	at := func(i, j int) worth {
		if i < 0 || j < 0 {
			return worth{links: -1 << 62}
		}
		return best[i*m+j]
	}
	// before returns the pair before (i, j) on the best path there.
	before := func(i, j int) (int, int) {
		bi, bj := i-1, j-1
		if better(at(i-1, j), at(bi, bj)) {
			bi, bj = i-1, j
		}
		if better(at(i, j-1), at(bi, bj)) {
			bi, bj = i, j-1
		}
		return bi, bj
	}
	for i := range n {
		for j := range m {
			w := worth{}
			if i+j > 0 {
				w = at(before(i, j))
			}
			distance := (2*i+1)*m - (2*j+1)*n
			w.near -= max(distance, -distance)
			switch kind := kinds[i*m+j]; {
			case kind&sure != 0:
				w.links += n + m
			case kind == 0:
				w.links--
			}
			best[i*m+j] = w
		}
	}
	y := make([]int32, monotone.Numbers(n, m))
	for i, j := n-1, m-1; ; i, j = before(i, j) {
		y[i+j] = int32(i) + 1
		if i+j == 0 {
			return y
		}
	}
}
