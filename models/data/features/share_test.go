package features

import (
	"context"
	"fmt"
	"reflect"
	"testing"

	"pgregory.net/rapid"

	"github.com/dsp-go/dsp/models/data/features/templates"
	"github.com/dsp-go/dsp/structured"
	"github.com/dsp-go/dsp/train"
	"github.com/dsp-go/dsp/train/engine"
	"github.com/dsp-go/dsp/train/ranks"
	"github.com/dsp-go/dsp/train/ranks/rankstest"
)

// Several processes that make the attributes of a share each have the dictionary and the fingerprint of one process
// that makes all, and its rows of their own examples. When they exchange these they have all.
func TestFitInShares(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		drawn, lines := randomData(t), randomTemplate(t)
		o := templates.Options{MinCount: rapid.IntRange(0, 4).Draw(t, "min count"),
			Threads: rapid.IntRange(1, 3).Draw(t, "threads")}
		if o.MinCount < 2 && rapid.Bool().Draw(t, "hash") {
			o.HashBits = 8
		}
		fit := func(d *structured.Dataset, o templates.Options) error {
			template, err := Parse(lines, "x")
			if err == nil {
				err = template.Fit(d, o)
			}
			return err
		}
		whole := *drawn
		if err := fit(&whole, o); err != nil {
			t.Fatal(err)
		}
		want := train.Fingerprint(&whole)
		err := rankstest.InProcess(context.Background(), rapid.IntRange(2, 4).Draw(t, "processes"),
			func(ctx context.Context, g ranks.Group) error {
				d := *drawn
				share, o := engine.ShareOf(ranks.PeersOf(ctx, g), &d), o
				own := share.Of(&d)
				o.Peers = share.Peers
				if err := fit(own, o); err != nil {
					return err
				}
				d.Attributes = share.Spread(own.Attributes, d.Offsets)
				d.EdgeAttributes, d.Dictionary = share.Spread(own.EdgeAttributes, d.Offsets), own.Dictionary
				if !reflect.DeepEqual(named(d.Dictionary), named(whole.Dictionary)) {
					return fmt.Errorf("dictionary %v, expected %v", named(d.Dictionary), named(whole.Dictionary))
				}
				first, last := share.First, share.Last
				for k, x := range []*structured.Sparse{d.Attributes, d.EdgeAttributes} {
					all := []*structured.Sparse{whole.Attributes, whole.EdgeAttributes}[k]
					for p := 0; x != nil && p < d.Positions(); p++ {
						row, _ := x.Row(p)
						expected, _ := all.Row(p)
						if p < d.Offsets[first] || p >= d.Offsets[last] {
							expected = nil
						}
						if fmt.Sprint(row) != fmt.Sprint(expected) {
							return fmt.Errorf("row %d is %v, expected %v", p, row, expected)
						}
					}
				}
				if got := train.DividedFingerprint(&d, share); got != want {
					return fmt.Errorf("fingerprint %s, expected %s", got, want)
				}
				if err := share.AllGatherAttributes(&d); err != nil {
					return err
				}
				if got := train.Fingerprint(&d); got != want {
					return fmt.Errorf("fingerprint of completed data %s, expected %s", got, want)
				}
				return nil
			})
		if err != nil {
			t.Fatal(err)
		}
	})
}

func named(d *structured.Dictionary) (names [][]string) {
	for _, a := range []*structured.Alphabet{d.Node, d.Edge} {
		if a != nil {
			names = append(names, a.Names())
		}
	}
	return names
}
