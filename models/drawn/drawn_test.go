// Package drawn_test checks what all generators of data have in common.
package drawn_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"image/png"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"github.com/dsp-go/dsp/models/drawn/bitext"
	"github.com/dsp-go/dsp/models/drawn/dependencies"
	"github.com/dsp-go/dsp/models/drawn/objects"
	"github.com/dsp-go/dsp/models/drawn/ocr"
	"github.com/dsp-go/dsp/models/drawn/phrases"
	"github.com/dsp-go/dsp/models/drawn/randomgraphs"
	"github.com/dsp-go/dsp/models/drawn/scenes"
	"github.com/dsp-go/dsp/models/drawn/sentences"
	"github.com/dsp-go/dsp/models/drawn/spellings"
)

// A seed draws the same data in every version: what was measured on them stays comparable. If you change a
// generator on purpose, change its sum here, measure again what docs/ states, and say so in the commit.
func TestSeedsKeepTheirData(t *testing.T) {
	if runtime.GOARCH != "amd64" {
		t.Skip("processors with fused products round otherwise")
	}
	few := func(train, dev, test *int, n int) { *train, *dev, *test = n, 3, 3 }
	words, lines, text := ocr.DefaultOCRWords(), ocr.DefaultTextLines(), sentences.DefaultTaggedText()
	few(&words.Train, &words.Dev, &words.Test, 20)
	few(&lines.Train, &lines.Dev, &lines.Test, 6)
	few(&text.Train, &text.Dev, &text.Test, 200)
	pairs, trees := bitext.DefaultOptions(), dependencies.DefaultOptions()
	few(&pairs.Train, &pairs.Dev, &pairs.Test, 200)
	few(&trees.Train, &trees.Dev, &trees.Test, 300)
	graphs, ladybirds, stones := randomgraphs.DefaultOptions(), objects.DefaultOptions(), scenes.DefaultOptions()
	few(&graphs.Train, &graphs.Dev, &graphs.Test, 30)
	few(&ladybirds.Train, &ladybirds.Dev, &ladybirds.Test, 3)
	few(&stones.Train, &stones.Dev, &stones.Test, 3)
	ladybirds.Width, ladybirds.Height, stones.Width, stones.Height, stones.Classes = 64, 48, 64, 48, 4
	for name, c := range map[string]struct {
		write func(dir string) error
		sum   string
	}{
		"words of letters":   {func(dir string) error { return ocr.WriteOCR(dir, words) }, "4719ebf95a84"},
		"lines of text":      {func(dir string) error { return ocr.WriteTextLines(dir, lines) }, "5a86eef9a867"},
		"tagged text":        {func(dir string) error { return sentences.WriteTaggedText(dir, text) }, "ff8939e6da68"},
		"pairs of sentences": {func(dir string) error { return bitext.Write(dir, pairs) }, "592ffb8ff409"},
		"dependency trees":   {func(dir string) error { return dependencies.Write(dir, trees) }, "163964b5435c"},
		"constituents":       {func(dir string) error { return phrases.Write(dir, []int{200, 3, 3}, 1) }, "bda66d1b450f"},
		"graphs":             {func(dir string) error { return randomgraphs.Write(dir, graphs) }, "eb4048c4aa9d"},
		"objects":            {func(dir string) error { return writeObjects(dir, ladybirds) }, "f7f16614ba6f"},
		"scenes":             {func(dir string) error { return writeScenes(dir, stones) }, "5ee85a65f4bd"},
		"spellings":          {func(dir string) error { return spellings.Write(dir, []int{200, 3, 3}, 1) }, "e08fce98e261"},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			if err := c.write(dir); err != nil {
				t.Fatal(err)
			}
			if sum := sumOf(t, dir); sum != c.sum {
				t.Errorf("the sum of what seed 1 draws is %s, expected %s", sum, c.sum)
			}
		})
	}
}

// writeObjects writes the scenes with ladybirds as numbers: their files come with a sheet of many more.
func writeObjects(dir string, o objects.Options) error {
	var all []any
	for _, p := range o.Parts() {
		set, scenes := p.Draw()
		all = append(all, set, scenes)
	}
	return writeJSON(dir, all)
}

// writeScenes is writeObjects for stones.
func writeScenes(dir string, o scenes.Options) error {
	var all []any
	for _, p := range o.Parts() {
		for i := range p.Len() {
			e, err := p.Load(i)
			if err != nil {
				return err
			}
			all = append(all, e.Image.Pixels, e.Mask.Labels)
		}
	}
	return writeJSON(dir, all)
}

func writeJSON(dir string, all []any) error {
	text, err := json.Marshal(all)
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(dir, "all.json"), text, 0o666)
}

// sumOf returns the beginning of a checksum of the files in a folder, by name: of images their pixels, which another
// compression leaves as they are, of others their bytes.
func sumOf(t *testing.T, dir string) string {
	t.Helper()
	sum := sha256.New()
	err := filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		content, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		name, err := filepath.Rel(dir, path)
		if err != nil || filepath.Dir(name) == "." && filepath.Ext(name) == ".png" {
			return err // a sheet that shows some of the data
		}
		fmt.Fprintln(sum, filepath.ToSlash(name))
		if filepath.Ext(path) != ".png" {
			_, _ = sum.Write(content)
			return nil
		}
		picture, err := png.Decode(bytes.NewReader(content))
		if err != nil {
			return err
		}
		fmt.Fprintln(sum, picture.Bounds())
		for y := picture.Bounds().Min.Y; y < picture.Bounds().Max.Y; y++ {
			for x := picture.Bounds().Min.X; x < picture.Bounds().Max.X; x++ {
				r, g, b, a := picture.At(x, y).RGBA()
				_, _ = sum.Write([]byte{byte(r >> 8), byte(g >> 8), byte(b >> 8), byte(a >> 8)})
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return fmt.Sprintf("%x", sum.Sum(nil)[:6])
}
