package models

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/dsp-go/dsp/models/config"
	"github.com/dsp-go/dsp/structured/segments"
	"github.com/dsp-go/dsp/train/engine"
	"github.com/dsp-go/dsp/train/ranks"
	"github.com/dsp-go/dsp/train/ranks/rankstest"
)

// Where segments have attributes, the share of a process is that of data with their rows, which end a piece of the
// objective before the number of positions does, and does so before there are attributes. So it is where a model goes
// on whose template is in its own file alone.
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
	m, err := NewModel(c, one)
	if err != nil {
		t.Fatal(err)
	}
	continued := c
	continued.Init, continued.Template = filepath.Join(t.TempDir(), ModelFile), ""
	if err := m.Save(continued.Init); err != nil {
		t.Fatal(err)
	}
	for _, c := range []config.Config{c, continued} {
		err = rankstest.InProcess(context.Background(), 3, func(ctx context.Context, g ranks.Group) error {
			peers := ranks.PeersOf(ctx, g)
			want := engine.ShareOf(peers, one.Train)
			rowless := *one.Train
			rowless.Tables = nil
			if got := engine.ShareOf(peers, &rowless); got.First == want.First && got.Last == want.Last {
				return fmt.Errorf("rank %d has examples %d to %d with rows and without: %d rows tell nothing",
					g.Rank(), got.First, got.Last, one.Train.Table(segments.Rows).Offsets[60])
			}
			r, err := Resolve(c)
			if err != nil {
				return err
			}
			d, err := r.SharedData(peers)
			if err == nil && (d.Share.First != want.First || d.Share.Last != want.Last) {
				err = fmt.Errorf("rank %d has examples %d to %d, expected %d to %d",
					g.Rank(), d.Share.First, d.Share.Last, want.First, want.Last)
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		if err := os.Remove(m.Config.Template); err != nil && c.Init == "" {
			t.Fatal(err)
		}
	}
}
