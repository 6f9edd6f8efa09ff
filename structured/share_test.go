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

// Processes that count the names of their own texts agree on the alphabet of one process that reads all texts: the names that are frequent enough, in the order
// of their first occurrences.
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
			mine, counts := structured.NewAlphabet(), []int(nil)
			for _, name := range texts[g.Rank()] {
				k := int(mine.Add(name))
				if k == len(counts) {
					counts = append(counts, 0)
				}
				counts[k]++
			}
			s := structured.Share{Gather: func(mine []byte) ([][]byte, error) { return g.Gather(ctx, mine) }}
			common, total, number, err := s.Agree(mine, counts, least)
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
