package pieces

import (
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// Windows cover every piece once, are as long as they may be, and take whole words wherever an overlap holds one.
func TestWindows(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		most := rapid.IntRange(1, 40).Draw(t, "most")
		var ends []int
		n := 0
		for _, length := range rapid.SliceOfN(rapid.IntRange(1, rapid.SampledFrom([]int{2, 5, 60}).Draw(t, "longest")), 0,
			60).Draw(t, "words") {
			n += length
			ends = append(ends, n)
		}
		all := Windows(ends, most)
		at := 0
		for k, w := range all {
			if w.From < 0 || w.To > n || w.To-w.From > most || n >= most && w.To-w.From < most {
				t.Fatalf("window %+v of %d pieces, at most %d", w, n, most)
			}
			if w.Begin != at || w.Begin < w.From || w.End > w.To || w.End < w.Begin {
				t.Fatalf("windows %+v: number %d does not go on at piece %d", all, k, at)
			}
			at = w.End
			if k == 0 {
				continue
			}
			// The border between two windows is the end of a word, as near to the middle of their overlap as one is.
			middle := (w.From + all[k-1].To) / 2
			far := func(end int) int { return max(end-middle, middle-end) }
			nearest := -1
			for _, end := range ends {
				if end >= w.From && end <= all[k-1].To && (nearest < 0 || far(end) < far(nearest)) {
					nearest = end
				}
			}
			if nearest >= 0 && (!slices.Contains(ends, w.Begin) || far(w.Begin) != far(nearest)) {
				t.Fatalf("windows %+v of words that end at %v: a word ends nearer to %d than %d", all, ends, middle, w.Begin)
			}
		}
		if at != n {
			t.Fatalf("windows %+v take %d of %d pieces", all, at, n)
		}
	})
}

// A long sequence is read with a quarter of a window in common.
func TestWindowsOverlap(t *testing.T) {
	var ends []int
	for k := range 1000 {
		ends = append(ends, k+1)
	}
	for k, w := range Windows(ends, 100) {
		if k > 0 && (w.Begin-w.From < 12 || w.From%75 != 0 && w.To != 1000) {
			t.Errorf("window %d: %+v", k, w)
		}
	}
}
