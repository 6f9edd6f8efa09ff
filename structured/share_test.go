package structured_test

import (
	"context"
	"fmt"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/dsp-go/dsp/structured"
	"github.com/dsp-go/dsp/train/ranks"
	"github.com/dsp-go/dsp/train/ranks/rankstest"
)

// Processes that count the names of their own texts agree on the alphabet of one process that reads all texts: the
// names that are frequent enough, in the order of their first occurrences.
func TestAgree(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		texts := rapid.SliceOfN(rapid.SliceOfN(rapid.StringMatching("[abß]{0,2}"), 0, 60), 1, 4).Draw(t, "texts")
		least := rapid.IntRange(0, 5).Draw(t, "least")
		times := map[string]int{}
		for _, name := range slices.Concat(texts...) {
			times[name]++
		}
		want := structured.NewAlphabet()
		for _, name := range slices.Concat(texts...) {
			if times[name] >= least {
				want.Add(name)
			}
		}
		err := rankstest.InProcess(context.Background(), len(texts), func(ctx context.Context, g ranks.Group) error {
			mine, counts := counted(texts[g.Rank()])
			common, total, number, err := ranks.PeersOf(ctx, g).Agree(mine, counts, least)
			if err != nil {
				return err
			}
			if !slices.Equal(common.Names(), want.Names()) {
				return fmt.Errorf("%q, expected %q", common.Names(), want.Names())
			}
			for i, name := range common.Names() {
				if total[i] != times[name] {
					return fmt.Errorf("%q occurs %d times, expected %d", name, total[i], times[name])
				}
			}
			for i, name := range mine.Names() {
				if number[i] != want.Index(name) {
					return fmt.Errorf("%q has the number %d, expected %d", name, number[i], want.Index(name))
				}
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	})
}

// counted returns the names of a text and how often each occurs.
func counted(text []string) (names *structured.Alphabet, counts []int) {
	names = structured.NewAlphabet()
	for _, name := range text {
		k := int(names.Add(name))
		if k == len(counts) {
			counts = append(counts, 0)
		}
		counts[k]++
	}
	return names, counts
}

// Processes that know names already keep their numbers, also of those that no text has; after them come the
// names of all texts that one process would add.
func TestExtend(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		texts := rapid.SliceOfN(rapid.SliceOfN(rapid.StringMatching("[abß]{0,2}"), 0, 60), 1, 4).Draw(t, "texts")
		known := rapid.SliceOfNDistinct(rapid.StringMatching("[abß]{0,2}"), 0, 6, rapid.ID[string]).Draw(t, "known")
		least := rapid.IntRange(0, 5).Draw(t, "least")
		want := slices.Clone(known)
		together := slices.Concat(texts...)
		for _, name := range together {
			times := 0
			for _, other := range together {
				if other == name {
					times++
				}
			}
			if times >= least && !slices.Contains(want, name) {
				want = append(want, name)
			}
		}
		err := rankstest.InProcess(context.Background(), len(texts), func(ctx context.Context, g ranks.Group) error {
			mine, counts := counted(texts[g.Rank()])
			old, _ := counted(known)
			s := ranks.PeersOf(ctx, g)
			all, number, err := s.Extend(old, mine, counts, least)
			if err != nil {
				return err
			}
			if !slices.Equal(all.Names(), want) || !slices.Equal(old.Names(), known) {
				return fmt.Errorf("%q of the known %q, expected %q of %q", all.Names(), old.Names(), want, known)
			}
			for i, name := range mine.Names() {
				if int(number[i]) != slices.Index(want, name) {
					return fmt.Errorf("%q has the number %d of %q", name, number[i], want)
				}
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	})
}

// Processes that complete their attributes have those of all, in memory that has no room to spare: growing arrays would
// take up to twice as much. A message that ends too soon is refused.
func TestComplete(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		rows := rapid.SliceOfN(rapid.SliceOfN(rapid.Int32Range(0, 1<<30), 0, 20), 3, 40).Draw(t, "rows")
		valued, cut := rapid.Bool().Draw(t, "valued"), rapid.Bool().Draw(t, "cut")
		firsts := []int{0, rapid.IntRange(0, len(rows)).Draw(t, "first"), len(rows)}
		all := slices.Concat(rows...)
		err := rankstest.InProcess(context.Background(), 2, func(ctx context.Context, g ranks.Group) error {
			first, last := firsts[g.Rank()], firsts[g.Rank()+1]
			d, x := structured.Dataset{Offsets: []int{0}}, structured.Sparse{Offsets: []int{0}}
			for i, row := range rows {
				d.Offsets = append(d.Offsets, i+1)
				if first <= i && i < last {
					x.Index = append(x.Index, row...)
				}
				x.Offsets = append(x.Offsets, len(x.Index))
			}
			if valued {
				x.Value = make([]float32, len(x.Index))
				for k, a := range x.Index {
					x.Value[k] = float32(a) / 3
				}
			}
			d.Attributes = &x
			peers := structured.NewPeers(g.Rank(), 2, func(mine []byte) ([][]byte, error) {
				if cut && g.Rank() == 1 {
					mine = mine[:len(mine)-1]
				}
				return g.AllGather(ctx, mine)
			}, nil)
			err := structured.Share{Peers: peers, First: first, Last: last}.AllGatherAttributes(&d)
			if cut {
				if err == nil {
					return fmt.Errorf("a message that ends too soon is taken")
				}
				return nil
			}
			if err == nil && (!slices.Equal(x.Index, all) || len(x.Offsets) != len(rows)+1 || cap(x.Index) != len(all) ||
				cap(x.Value) != len(x.Value)) {
				err = fmt.Errorf("%d of %d attributes with room for %d, %d values with room for %d", len(x.Index), len(all),
					cap(x.Index), len(x.Value), cap(x.Value))
			}
			for k, v := range x.Value {
				if err == nil && v != float32(all[k])/3 {
					err = fmt.Errorf("value %d is %g", k, v)
				}
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	})
}

// Processes tell each other their numbers, which are more than they tell at a time, and some have none.
func TestAllGatherNumbers(t *testing.T) {
	const n = 9_000_000
	err := rankstest.InProcess(t.Context(), 3, func(ctx context.Context, g ranks.Group) error {
		peers := ranks.PeersOf(ctx, g)
		x, ends := make([]int32, n), []int{0, n - 10, n - 10, n}
		mine := x[ends[g.Rank()]:ends[g.Rank()+1]]
		for k := range mine {
			mine[k] = int32(ends[g.Rank()] + k)
		}
		if err := structured.AllGatherNumbers(peers, x, mine); err != nil {
			return err
		}
		for k, got := range x {
			if got != int32(k) {
				return fmt.Errorf("rank %d has %d at %d", g.Rank(), got, k)
			}
		}
		if err := structured.AllGatherNumbers(peers, make([]float32, n+1), make([]float32, len(mine))); err == nil {
			return fmt.Errorf("a number that no process has is no error")
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}
