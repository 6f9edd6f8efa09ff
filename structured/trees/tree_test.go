package trees

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/dsp-go/dsp/structured/trees/treestest"
)

// isTree is the definition that Check must meet: one root, which every word reaches in at most n steps.
func isTree(heads []int32) bool {
	roots := 0
	for t, h := range heads {
		if h < 0 || int(h) > len(heads) {
			return false
		}
		if h == 0 {
			roots++
		}
		w := int32(t + 1)
		for range len(heads) {
			if w != 0 {
				if h := heads[w-1]; h < 0 || int(h) > len(heads) {
					return false
				}
				w = heads[w-1]
			}
		}
		if w != 0 {
			return false
		}
	}
	return roots == 1 || len(heads) == 0
}

// All head vectors of up to five words, some out of range. There are n^(n-1) trees with one root over n words.
func TestCheckAll(t *testing.T) {
	for n, want := range []int{1, 1, 2, 9, 64, 625} {
		heads, count := make([]int32, n), 0
		var fill func(k int)
		fill = func(k int) {
			if k < n {
				for h := int32(-1); h <= int32(n)+1; h++ {
					heads[k] = h
					fill(k + 1)
				}
				return
			}
			err := Check(heads)
			if (err == nil) != isTree(heads) {
				t.Fatalf("%v: %v", heads, err)
			}
			var fault *NotTree
			switch {
			case err == nil:
				count++
			case !errors.As(err, &fault) || fault.Index < 0 || fault.Index >= n || fault.Found == "" || fault.Expected == "":
				t.Fatalf("%v: %#v", heads, err)
			}
		}
		fill(0)
		if count != want {
			t.Errorf("%d words: %d trees, want %d", n, count, want)
		}
	}
}

func TestCheckMessages(t *testing.T) {
	for _, test := range []struct {
		heads []int32
		index int
		want  string
	}{
		{[]int32{0, 3}, 1, "head 3 of word 2, expected 0 for the root or the number of a word, 1 to 2"},
		{[]int32{0, -1}, 1, "head -1 of word 2"},
		{[]int32{2, 2}, 1, "word 2 is its own head, expected another word, or 0 for the root"},
		{[]int32{0, 1, 0}, 2, "word 3 is a second root beside word 1, expected exactly one word with head 0"},
		{[]int32{2, 1}, 0, "no word has head 0, expected exactly one word with head 0"},
		{[]int32{2, 0, 5, 3, 4}, 2, "the heads form a cycle 3 → 5 → 4 → 3, expected a tree"},
		{[]int32{2, 3, 4, 5, 6, 7, 8, 9, 1, 0}, 0, "the heads form a cycle 1 → 2 → 3 → 4 → 5 → 6 → 7 → 8 → … " +
			"→ 1, expected a tree"},
	} {
		err := Check(test.heads)
		var fault *NotTree
		if !errors.As(err, &fault) || fault.Index != test.index || !strings.HasPrefix(err.Error(), test.want) {
			t.Errorf("%v: %v at %v\nwant %s", test.heads, err, fault, test.want)
		}
	}
}

func TestOutput(t *testing.T) {
	tree := Tree{[]int32{2, 0, 2}, []int32{5, 6, 7}}
	output := tree.Output()
	if !slices.Equal(output, []int32{2, 0, 2, 5, 6, 7}) || tree.Len() != 3 || Root(tree.Heads) != 2 || Root(nil) != 0 {
		t.Error(output)
	}
	if back := FromOutput(output); !slices.Equal(back.Heads, tree.Heads) || !slices.Equal(back.Relations, tree.Relations) {
		t.Error(back)
	}
}

// descends reports whether w descends from h or equals it.
func descends(heads []int32, w, h int32) bool {
	for w != h && w != 0 {
		w = heads[w-1]
	}
	return w == h
}

// crossing lists the indices of dependents whose arcs are not projective, by the definition.
func crossing(heads []int32) (all []int) {
	for d, h := range heads {
		for k := min(int(h), d+1) + 1; k < max(int(h), d+1); k++ {
			if !descends(heads, int32(k), h) {
				all = append(all, d)
				break
			}
		}
	}
	return all
}

// arcsCross reports whether two arcs cross, including the arc from 0 to the root.
func arcsCross(heads []int32) bool {
	for a, g := range heads {
		for b, h := range heads {
			l, r := min(int(g), a+1), max(int(g), a+1)
			from, to := min(int(h), b+1), max(int(h), b+1)
			if l < from && from < r && r < to {
				return true
			}
		}
	}
	return false
}

func TestProjective(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		heads := treestest.DrawHeads(t, 9)
		want := len(crossing(heads))
		if got := Crossing(heads); got != want || Projective(heads) != (want == 0) || arcsCross(heads) != (want > 0) {
			t.Fatalf("%v: %d arcs, projective %v, crossing %v; want %d", heads, got, Projective(heads), arcsCross(heads), want)
		}
	})
}

// There are binomial(3n−2, n−1)/n projective trees with one root over n words.
func TestProjectiveCount(t *testing.T) {
	for n, want := range []int{0, 1, 2, 7, 30, 143} {
		heads, count := make([]int32, n), 0
		var fill func(k int)
		fill = func(k int) {
			if k == n {
				if n > 0 && Check(heads) == nil && Projective(heads) {
					count++
				}
				return
			}
			for heads[k] = 0; heads[k] <= int32(n); heads[k]++ {
				fill(k + 1)
			}
		}
		fill(0)
		if count != want {
			t.Errorf("%d words: %d projective trees, want %d", n, count, want)
		}
	}
}

// projectivise is Projectivise, by the definition.
func projectivise(heads []int32) (lifts int) {
	for {
		all := crossing(heads)
		if len(all) == 0 {
			return lifts
		}
		length := func(d int) int { return max(int(heads[d]), d+1) - min(int(heads[d]), d+1) }
		d := slices.MinFunc(all, func(a, b int) int {
			if length(a) != length(b) {
				return length(a) - length(b)
			}
			return min(int(heads[a])-1, a) - min(int(heads[b])-1, b)
		})
		heads[d] = heads[heads[d]-1]
		lifts++
	}
}

func TestProjectivise(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		before := treestest.DrawHeads(t, 10)
		heads, want := slices.Clone(before), slices.Clone(before)
		lifts, wantLifts := Projectivise(heads), projectivise(want)
		if !slices.Equal(heads, want) || lifts != wantLifts {
			t.Fatalf("%v: %v in %d lifts, want %v in %d", before, heads, lifts, want, wantLifts)
		}
		if Check(heads) != nil || !Projective(heads) || Root(heads) != Root(before) {
			t.Fatalf("%v: %v is not a projective tree with the same root", before, heads)
		}
		for d, h := range heads {
			if h != before[d] && !descends(before, before[d], h) {
				t.Fatalf("%v: %v attaches word %d to a word that was not its ancestor", before, heads, d+1)
			}
		}
	})
}

// "A hearing is scheduled on the issue today": "on the issue" modifies the hearing, across the root.
func TestProjectiviseExample(t *testing.T) {
	heads := []int32{2, 4, 4, 0, 7, 7, 2, 4}
	if Crossing(heads) != 1 || Projectivise(heads) != 1 || !slices.Equal(heads, []int32{2, 4, 4, 0, 7, 7, 4, 4}) {
		t.Error(heads)
	}
}

func BenchmarkProjectivise(b *testing.B) {
	heads := make([]int32, 40) // two chains that cross at every word, joined at the root
	for d := range heads {
		heads[d] = int32(max(d-1, min(d, 1)))
	}
	scratch := make([]int32, len(heads))
	for b.Loop() {
		copy(scratch, heads)
		Projectivise(scratch)
	}
}
