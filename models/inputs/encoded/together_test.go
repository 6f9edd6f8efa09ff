package encoded

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/dsp-go/dsp/models/inputs/encoded/encodedtest"
	"github.com/dsp-go/dsp/structured"
	"github.com/dsp-go/dsp/train/ranks"
	"github.com/dsp-go/dsp/train/ranks/rankstest"
)

// manySentences have more pieces than some batches, and one is longer than the encoder reads at a time.
func manySentences() (all []string) {
	for k := range 900 {
		all = append(all, strings.TrimSpace(strings.Repeat(string(rune('a'+k%11))+" bc ", 1+k%9)))
	}
	return append(all, strings.TrimSpace(strings.Repeat("a ", 300)), "")
}

// Several processes give words the rows of one, whether files keep them, memory does, or only some of them find a file,
// and each computes but a part.
func TestRowsTogether(t *testing.T) {
	sentences := manySentences()
	folder := encodedtest.Folder(t, "bert")
	for _, half := range []bool{false, true} {
		s := Settings{Dir: folder, Layers: "last", Pieces: Mean, Half: half}
		want := rowsOf(t, open(t, s), Options{Threads: 2}, sentences...)
		for _, where := range []string{"memory", "folders", "one folder", "found by one"} {
			for n := 2; n <= 4; n++ {
				dir := t.TempDir()
				if where == "found by one" {
					rowsOf(t, open(t, s), Options{Threads: 1, Folder: filepath.Join(dir, "1")}, sentences...)
				}
				var found atomic.Int64
				err := rankstest.InProcess(t.Context(), n, func(ctx context.Context, g ranks.Group) error {
					r, err := Open(s)
					if err != nil {
						return err
					}
					o := Options{Threads: 1 + g.Rank()%2, Peers: ranks.PeersOf(ctx, g)}
					switch where {
					case "folders", "found by one":
						o.Folder = filepath.Join(dir, fmt.Sprint(g.Rank()))
					case "one folder":
						o.Folder = dir
					}
					for again := range 2 {
						d := data(sentences...)
						report, err := r.Apply(d, o)
						if err != nil {
							return err
						}
						if report.Found != (again == 1 && where != "memory") {
							return fmt.Errorf("time %d: found %v", again, report.Found)
						}
						got := make([]float32, len(want))
						for i := range d.Len() {
							if err := d.ReadFeatures(got[d.Offsets[i]*d.Dim:d.Offsets[i+1]*d.Dim], i); err != nil {
								return err
							}
						}
						if !slices.Equal(got, want) {
							return fmt.Errorf("time %d: other rows than those of one process", again)
						}
						found.Add(1)
					}
					return nil
				})
				if err != nil || found.Load() != int64(2*n) {
					t.Errorf("half %v, %s, %d processes: %v", half, where, n, err)
				}
			}
		}
	}
}

// Each process computes its part of the batches alone, in as many rounds as they take.
func TestPartsOfRows(t *testing.T) {
	r := open(t, Settings{Dir: encodedtest.Folder(t, "bert"), Layers: "last", Pieces: First})
	batches := make([][]sentence, 3+2*roundBytes/(batchPieces*4*r.Width())) // three rounds
	for k := range batches {
		batches[k] = []sentence{{first: k}}
	}
	var computed, received atomic.Int64
	err := rankstest.InProcess(t.Context(), 4, func(ctx context.Context, g ranks.Group) error {
		seen := make([]int, len(batches))
		encode := func(batch []sentence, write use) error {
			computed.Add(1)
			return write(batch[0].first, []float32{float32(batch[0].first)})
		}
		o := Options{Threads: 2, Peers: ranks.PeersOf(ctx, g)}
		err := r.encodeTogether(batches, o, newProgress(nil, "", 0), encode, func(position int, rows []float32) error {
			if len(rows) != 1 || rows[0] != float32(position) {
				return fmt.Errorf("%v at %d", rows, position)
			}
			seen[position]++
			received.Add(1)
			return nil
		})
		if err == nil && slices.Contains(seen, 0) {
			err = fmt.Errorf("some rows are missing")
		}
		return err
	})
	if err != nil || computed.Load() != int64(len(batches)) || received.Load() != 4*computed.Load() {
		t.Errorf("%v: %d computed and %d received, of %d batches", err, computed.Load(), received.Load(), len(batches))
	}
}

// Processes with other words are refused by name, and a mistake of one ends all with its message.
func TestRowsOfOtherWords(t *testing.T) {
	s := Settings{Dir: encodedtest.Folder(t, "bert"), Layers: "last", Pieces: First}
	err := rankstest.InProcess(t.Context(), 3, func(ctx context.Context, g ranks.Group) error {
		r, err := Open(s)
		if err != nil {
			return err
		}
		d := data("a b", "c")
		if g.Rank() == 2 {
			d = data("a b", "c d")
		}
		_, err = r.Apply(d, Options{Threads: 1, Peers: ranks.PeersOf(ctx, g)})
		if want := "data: rank 2 has 4 words, and rank 0 3"; !structured.IsBadInput(err) ||
			!strings.Contains(err.Error(), want) {
			return fmt.Errorf("%w, expected %s", err, want)
		}
		return nil
	})
	if err != nil {
		t.Error(err)
	}
	if err := takeRows([]byte{1, 2, 3}, nil); err == nil {
		t.Error("rows that end too soon are taken")
	}
}
