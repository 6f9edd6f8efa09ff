package models

import (
	"archive/zip"
	"bytes"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/dsp-go/dsp/models/config"
	"github.com/dsp-go/dsp/models/data/arrays"
	"github.com/dsp-go/dsp/structured"
	"github.com/dsp-go/dsp/train"
)

// drawArchives writes npz archives of chains, of rows or padded, whose members are compressed or not, and returns their
// names. Some have a mistake. Plain ones are not compressed, have no mask and no mistake, so that their features can
// stay in them.
func drawArchives(t *rapid.T, dir string, plain bool) string {
	var files []string
	for k := range rapid.IntRange(1, 3).Draw(t, "files") {
		chains, longest, dim := rapid.IntRange(1, 5).Draw(t, "chains"), rapid.IntRange(1, 4).Draw(t, "longest"), 2
		padded := rapid.Bool().Draw(t, "padded")
		var lengths []int64
		var mask []uint8
		positions := 0
		for range chains {
			lengths = append(lengths, int64(rapid.IntRange(1, longest).Draw(t, "length")))
			positions += int(lengths[len(lengths)-1])
		}
		shape := []int{positions}
		if padded {
			shape = []int{chains, longest}
			positions = chains * longest
		}
		numbers, labels := make([]float32, positions*dim), make([]int64, positions)
		for i := range numbers {
			numbers[i] = float32(rapid.IntRange(-8, 8).Draw(t, "number")) / 4
		}
		if rapid.IntRange(0, 9).Draw(t, "not finite") == 0 && !plain {
			numbers[rapid.IntRange(0, len(numbers)-1).Draw(t, "where")] = float32(math.NaN())
		}
		for i := range labels {
			labels[i] = int64(rapid.IntRange(0, 2).Draw(t, "label"))
			mask = append(mask, uint8(min(1, rapid.IntRange(0, 4).Draw(t, "mask"))))
		}
		var content bytes.Buffer
		masked := rapid.Bool().Draw(t, "masked") && !plain
		err := arrays.WriteNPZ(&content, func(w arrays.NPZWriter) error {
			err := arrays.Add(w, "features", numbers, append(shape, dim)...)
			if err == nil {
				err = arrays.Add(w, "labels", labels, shape...)
			}
			if err == nil {
				err = arrays.Add(w, "lengths", lengths, chains)
			}
			if err == nil && masked {
				err = arrays.Add(w, "mask", mask, shape...)
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		file := content.Bytes()
		switch kind := rapid.IntRange(0, 5).Draw(t, "kind"); {
		case plain:
		case kind == 0:
			file = compressed(t, file)
		case kind == 1:
			file[150]++ // in the features, which makes the checksum wrong, or in their header
		}
		files = append(files, filepath.Join(dir, fmt.Sprint("x", k, ".npz")))
		if err := os.WriteFile(files[k], file, 0o666); err != nil {
			t.Fatal(err)
		}
	}
	return strings.Join(files, ",")
}

// compressed returns an archive whose members are compressed.
func compressed(t *rapid.T, archive []byte) []byte {
	from, err := zip.NewReader(bytes.NewReader(archive), int64(len(archive)))
	if err != nil {
		t.Fatal(err)
	}
	var to bytes.Buffer
	w := zip.NewWriter(&to)
	for _, f := range from.File {
		in, err := f.Open()
		if err != nil {
			t.Fatal(err)
		}
		out, err := w.Create(f.Name)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := io.Copy(out, in); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return to.Bytes()
}

// Features that stay in their archives are those that one process has in memory: the same data, standardised or not,
// and the same mistakes.
func TestFeaturesInTheirFiles(t *testing.T) {
	dir, stayed := t.TempDir(), 0
	rapid.Check(t, func(t *rapid.T) {
		c := config.Default()
		c.Task, c.Format, c.Standardise = "tag", "npz", rapid.Bool().Draw(t, "standardise")
		c.Train = drawArchives(t, dir, stayed == 0) // plain at first, so that some features stay whatever is drawn
		c.Dev = c.Train
		r, err := Resolve(c)
		if err != nil {
			t.Fatal(err)
		}
		want, mistake := r.Data()
		r.LeaveFeatures()
		got, err := r.Data()
		if fmt.Sprint(err) != fmt.Sprint(mistake) || structured.IsBadInput(err) != structured.IsBadInput(mistake) {
			t.Fatalf("%v, expected %v", err, mistake)
		}
		if err != nil {
			return
		}
		for k, d := range got.Sets() {
			if d.Features == nil {
				stayed++
			}
			if a, b := train.Fingerprint(d), train.Fingerprint(want.Sets()[k]); a != b {
				t.Errorf("data %d: fingerprint %s, expected %s", k, a, b)
			}
			some := []int{d.Len() - 1, 0}
			if a, b := train.Fingerprint(d.Subset(some)), train.Fingerprint(want.Sets()[k].Subset(some)); a != b {
				t.Errorf("two examples of data %d: fingerprint %s, expected %s", k, a, b)
			}
		}
	})
	if stayed == 0 {
		t.Error("no features stayed in their files")
	}
}
