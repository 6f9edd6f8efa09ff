package models

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/dsp-go/dsp/structured/segments"
	"github.com/dsp-go/dsp/train/engine"
	"github.com/dsp-go/dsp/train/ranks"
	"github.com/dsp-go/dsp/train/ranks/rankstest"
)

// A process owns the examples of its shards of a full pass. Where segments have attributes, the number of segments of long sentences cuts shards before
// the number of positions does, and does so before there are attributes.
func TestShareOfSegmentsIsCutByTheirRows(t *testing.T) {
	var text strings.Builder
	for i := range 60 {
		text.WriteString("w x B-A\n" + strings.Repeat(fmt.Sprintf("w%d x O\n", i), 20+i%3) + "\n")
	}
	c := ofFiles(t, []string{text.String()})
	c.Scheme, c.Structure, c.Overlong, c.Template = "keep", "segments", "split", filepath.Join(t.TempDir(), "whole")
	c.MaxLength = 20
	if err := os.WriteFile(c.Template, []byte("U%x[0,word]\nS%length\n"), 0o666); err != nil {
		t.Fatal(err)
	}
	r, err := Resolve(c)
	if err != nil {
		t.Fatal(err)
	}
	one, err := r.Data()
	if err != nil {
		t.Fatal(err)
	}
	err = rankstest.InProcess(context.Background(), 3, func(ctx context.Context, g ranks.Group) error {
		share := engine.ShareOf(ctx, g)
		first, last := share.Cut(one.Train)
		rowless := *one.Train
		rowless.Tables = nil
		if a, b := share.Cut(&rowless); a == first && b == last {
			return fmt.Errorf("rank %d has examples %d to %d with rows and without: %d rows tell nothing", g.Rank(), a, b, one.Train.Table(segments.Rows).Offsets[60])
		}
		d, err := r.SharedData(share)
		if err == nil && (d.Train.Share.First != first || d.Train.Share.Last != last) {
			err = fmt.Errorf("rank %d has examples %d to %d, expected %d to %d", g.Rank(), d.Train.Share.First, d.Train.Share.Last, first, last)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}
