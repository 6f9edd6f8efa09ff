package arcs

import (
	"slices"
	"strconv"

	"github.com/dsp-go/dsp/structured/sys/vec"
)

// gap holds the values between any two tokens l < r of a sentence, −1 ≤ l; l = −1 is the root.
//
// Going right from l, a value is new at token p > l if it does not occur at tokens l+1 to p−1. So the distinct values
// between l and any r are a prefix of one list per l.
type gap struct {
	n        int
	distinct []uint64  // [n+1, n] row l+1: the distinct values to the right of l, in order of first occurrence
	sets     []uint64  // [n+1, n+1] row l+1, column k: an order-free hash of the first k of them
	upTo     []int32   // [n+1, n+1] row l+1, column r: how many of them occur before r
	before   []int32   // scratch: last occurrence of each token's value, or −1
	counts   [][]int32 // per counted value: its number of occurrences before each token [n+1]
}

func (g *gap) load(v *gapView, values []uint64) {
	n := len(values)
	g.n = n
	if g.counts == nil {
		g.counts = make([][]int32, len(v.counted))
	}
	for k, counted := range v.counted {
		c := vec.Grow(g.counts[k], n+1)
		c[0] = 0
		for p, value := range values {
			c[p+1] = c[p]
			if value == counted {
				c[p+1]++
			}
		}
		g.counts[k] = c
	}
	if !v.spread {
		return
	}
	g.before = vec.Grow(g.before, n)
	for p, value := range values {
		b := p - 1
		for b >= 0 && values[b] != value {
			b--
		}
		g.before[p] = int32(b)
	}
	g.distinct, g.sets, g.upTo = vec.Grow(g.distinct, (n+1)*n), vec.Grow(g.sets, (n+1)*(n+1)),
		vec.Grow(g.upTo, (n+1)*(n+1))
	for l := -1; l < n; l++ {
		distinct, sets, upTo := g.distinct[(l+1)*n:], g.sets[(l+1)*(n+1):], g.upTo[(l+1)*(n+1):]
		k := 0
		sets[0] = emptySet
		for p := l + 1; p < n; p++ {
			upTo[p] = int32(k)
			if values[p] != 0 && int(g.before[p]) <= l {
				distinct[k] = values[p]
				sets[k+1] = sets[k] + mix(values[p])
				k++
			}
		}
		upTo[n] = int32(k)
	}
}

// emptySet is the hash of the empty set.
const emptySet = 0x5851f42d4c957f2d

// each returns the distinct values between l and r. The next load overwrites them.
func (g *gap) each(l, r int) []uint64 {
	row := g.distinct[(l+1)*g.n:]
	return row[:g.upTo[(l+1)*(g.n+1)+r]]
}

// set returns a hash of the set of values between l and r.
func (g *gap) set(l, r int) uint64 {
	row := (l + 1) * (g.n + 1)
	return max(1, g.sets[row+int(g.upTo[row+r])])
}

// count returns how many tokens between l and r have counted value k.
func (g *gap) count(k, l, r int) int { return int(g.counts[k][r] - g.counts[k][l+1]) }

// The classes of counts are 0, 1, 2 and more.
const mostCounted = 3

func countName(n int) string {
	if n >= mostCounted {
		return strconv.Itoa(mostCounted) + "+"
	}
	return strconv.Itoa(n)
}

var countHashes = func() (h [mostCounted + 1]uint64) {
	for n := range h {
		h[n] = textHash(countName(n))
	}
	return h
}()

// The classes of distances, by their largest members. One more class holds all larger distances.
var distances = []int{1, 2, 3, 4, 6, 10}

const bins = 2 * 7 // distance classes × directions

func distanceName(class int) string {
	switch {
	case class == len(distances):
		return strconv.Itoa(distances[class-1]+1) + "+"
	case class > 0 && distances[class] > distances[class-1]+1:
		return strconv.Itoa(distances[class-1]+1) + "-" + strconv.Itoa(distances[class])
	}
	return strconv.Itoa(distances[class])
}

// bin returns the class of direction and distance of the arc from h to d; the root is −1. The lowest bit is set if the
// dependent is to the right.
func bin(d, h int) int {
	right := 0
	length := h - d
	if d > h {
		right, length = 1, d-h
	}
	class, _ := slices.BinarySearch(distances, length)
	return 2*class + right
}

func directionName(bin int) string { return [...]string{"left", "right"}[bin&1] }

func binName(bin int) string { return directionName(bin) + distanceName(bin>>1) }

// The hashes of the classes: direction, distance, both.
var directionHashes, distanceHashes, binHashes = func() (direction, distance, both [bins]uint64) {
	for b := range bins {
		direction[b], distance[b], both[b] = textHash(directionName(b)), textHash(distanceName(b>>1)), textHash(binName(b))
	}
	return direction, distance, both
}()
