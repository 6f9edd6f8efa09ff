package transcript

import (
	"cmp"
	"math"
	"slices"

	"github.com/dsp-go/dsp/structured/sys/vec"
)

// entry is one of the best beginnings of a line that end in a state: the score, and which beginning it continues.
type entry struct {
	score float64
	state int32 // before
	rank  int32 // in its list
	label int32
}

// kBest holds the K best beginnings of a line that end in each state, at each frame.
type kBest struct {
	entries []entry
	ends    []int // [T×S] where each list ends; it begins where the one before ends
	states  int
	new     []entry
}

func (k *kBest) reset(states int) { k.entries, k.ends, k.states = k.entries[:0], k.ends[:0], states }

// list returns that of a state at frame t.
func (k *kBest) list(t, s int) []entry {
	at, from := t*k.states+s, 0
	if at > 0 {
		from = k.ends[at-1]
	}
	return k.entries[from:k.ends[at]]
}

// begin starts a list.
func (k *kBest) begin() { k.new = k.new[:0] }

// offer adds what continues the list of state s at frame t by a label, which scores x. t = −1 is the empty beginning.
func (k *kBest) offer(t, s int, label int32, x float64) {
	if math.IsInf(x, -1) {
		return
	}
	if t < 0 {
		k.new = append(k.new, entry{x, 0, 0, label})
		return
	}
	for rank, e := range k.list(t, s) {
		k.new = append(k.new, entry{e.score + x, int32(s), int32(rank), label})
	}
}

// end closes a list of the best n.
func (k *kBest) end(n int) {
	slices.SortStableFunc(k.new, func(a, b entry) int { return cmp.Compare(b.score, a.score) })
	k.entries = append(k.entries, k.new[:min(n, len(k.new))]...)
	k.ends = append(k.ends, len(k.entries))
}

// path writes the labels of an entry of the last frame.
func (k *kBest) path(t int, e entry, y []int32) {
	for ; ; t-- {
		if y[t] = e.label; t == 0 {
			return
		}
		e = k.list(t-1, int(e.state))[e.rank]
	}
}

// topK lists the n best labelings that read a string, best first.
func (l *lattice) topK(n int, yield func(k int, score float64, path func(y []int32))) int {
	k, states := &l.lists, len(l.label)
	k.reset(states)
	for t := range l.frames {
		from, to := l.states(t)
		for s := range states {
			k.begin()
			if s >= from && s <= to {
				x := float64(l.frame[t*l.width+int(l.label[s])])
				k.offer(t-1, s, l.label[s], x)
				if s > 0 && t > 0 {
					k.offer(t-1, s-1, l.label[s], x)
				}
				if l.skips[s] && t > 0 {
					k.offer(t-1, s-2, l.label[s], x)
				}
			}
			k.end(n)
		}
	}
	k.begin()
	last := l.frames - 1
	for s := max(0, states-2); s < states; s++ {
		k.new = append(k.new, k.list(last, s)...)
	}
	k.end(n)
	return k.each(last, k.entries[len(k.entries)-min(n, len(k.new)):], yield)
}

func (k *kBest) each(last int, list []entry, yield func(k int, score float64, path func(y []int32))) int {
	for rank, e := range list {
		yield(rank, e.score, func(y []int32) { k.path(last, e, y) })
	}
	return len(list)
}

// free lists the n best labelings of frames [T×Y] that may read anything.
func (k *kBest) free(frame []float32, width, n int, order []int32,
	yield func(k int, score float64, path func(y []int32))) int {
	k.reset(1)
	order = vec.Grow(order, width)
	frames := len(frame) / width
	for t := range frames {
		row := frame[t*width : (t+1)*width]
		for c := range order {
			order[c] = int32(c)
		}
		slices.SortStableFunc(order, func(a, b int32) int { return cmp.Compare(row[b], row[a]) })
		k.begin()
		// Label number r continued from entry number k, counted from 0, has (r+1)(k+1) − 1 continuations that are as
		// good or better. So k+1 is at most n/(r+1).
		for rank, c := range order[:min(n, width)] {
			if math.IsInf(float64(row[c]), -1) {
				continue
			}
			if t == 0 {
				k.offer(-1, 0, c, float64(row[c]))
				continue
			}
			list := k.list(t-1, 0)
			for at, e := range list[:min(len(list), n/(rank+1))] {
				k.new = append(k.new, entry{e.score + float64(row[c]), 0, int32(at), c})
			}
		}
		k.end(n)
	}
	return k.each(frames-1, k.list(frames-1, 0), yield)
}
