package pieces

import "sort"

// A Window is a part of a sequence of pieces that an encoder reads at once: it reads pieces From to To−1, and the rows
// of pieces Begin to End−1 are taken from it.
type Window struct{ From, To, Begin, End int }

// Windows parts a sequence that is longer than an encoder can read, most pieces at a time, into windows that overlap by
// a quarter. Each word is taken from the window where it has the most pieces on its shorter side; words begin at the
// given pieces, ends[k] is where word k ends. A word that no overlap holds is taken from two windows, piece by piece.
// Begin and End of the windows follow each other.
func Windows(ends []int, most int) []Window {
	n := 0
	if len(ends) > 0 {
		n = ends[len(ends)-1]
	}
	if n <= most {
		return []Window{{0, n, 0, n}}
	}
	step := max(1, most-most/4)
	var all []Window
	for from := 0; ; from += step {
		last := from+most >= n
		if last {
			from = n - most
		}
		w := Window{From: from, To: from + most, End: n}
		if k := len(all); k > 0 {
			before := &all[k-1]
			w.Begin = border(ends, w.From, before.To)
			before.End = w.Begin
		}
		if all = append(all, w); last {
			return all
		}
	}
}

// border returns the end of a word that is nearest to the middle between from and to, or the middle if no word ends
// between them.
func border(ends []int, from, to int) int {
	middle := (from + to) / 2
	k := sort.SearchInts(ends, middle) // the first that ends there or later
	best := -1
	for _, j := range []int{k - 1, k} {
		if j < 0 || j >= len(ends) || ends[j] < from || ends[j] > to {
			continue
		}
		if best < 0 || max(ends[j]-middle, middle-ends[j]) < max(best-middle, middle-best) {
			best = ends[j]
		}
	}
	if best < 0 {
		return middle
	}
	return best
}
