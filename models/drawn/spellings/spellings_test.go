package spellings

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/dsp-go/dsp/models/data/alignments"
)

// The links of a word never cross, leave no letter and no sound out, and link what the tables say: read from the left,
// letters and sounds are units of them, one after the other, and a silent e belongs to the last sound.
func TestWordsAreSpelledByTheTables(t *testing.T) {
	spelled := map[string]bool{}
	for _, u := range append(slices.Clone(consonants), vowels...) {
		for _, s := range u.spellings {
			spelled[strings.Join(u.sounds, " ")+":"+s] = true
		}
	}
	silent, rare := 0, 0
	c := Draw([]int{300, 0, 0}, 0, 1)
	if c.Len() != 300 || c.Name != "train.pairs" || len(c.Lines) != 300 || c.Lines[299] != 300 {
		t.Fatalf("%d words of %s", c.Len(), c.Name)
	}
	for i := range c.Len() {
		letters, sounds := c.Source(i), c.Target(i)
		if len(sounds) < 2 {
			t.Fatalf("word %d has the sounds %q", i, sounds)
		}
		heard, written := make([]bool, len(sounds)), make([]bool, len(letters))
		last := alignments.Link{}
		for _, l := range c.LinksOf(i) {
			if l.Source < last.Source || l.Target < last.Target || !l.Sure {
				t.Fatalf("word %d, %q and %q: link %v after %v", i, letters, sounds, l, last)
			}
			last, written[l.Source], heard[l.Target] = l, true, true
		}
		if slices.Contains(heard, false) || slices.Contains(written, false) {
			t.Fatalf("word %d, %q and %q: %v leave something out", i, letters, sounds, c.LinksOf(i))
		}
		ends := map[[2]int]bool{{0, 0}: true} // how many letters and sounds are spelled
		for at := range len(letters) + 1 {
			for of := range len(sounds) + 1 {
				for n := 1; ends[[2]int{at, of}] && n <= 4 && at+n <= len(letters); n++ {
					for m := 1; m <= 2 && of+m <= len(sounds); m++ {
						if spelled[strings.Join(sounds[of:of+m], " ")+":"+strings.Join(letters[at:at+n], "")] {
							ends[[2]int{at + n, of + m}] = true
						}
					}
				}
			}
		}
		if whole := ends[[2]int{len(letters), len(sounds)}]; !whole {
			if silent++; letters[len(letters)-1] != "e" || !ends[[2]int{len(letters) - 1, len(sounds)}] {
				t.Errorf("word %d: %q does not spell %q", i, letters, sounds)
			}
		}
		if strings.Contains(strings.Join(letters, ""), "ough") {
			rare++
		}
	}
	if silent < 30 || silent > 120 || rare == 0 || rare > 60 {
		t.Errorf("%d of 300 words end in a silent e, %d have the rare spelling ough", silent, rare)
	}
}

// A word depends on the seed, the set and its number alone.
func TestWordsOfASeed(t *testing.T) {
	word := func(c *alignments.Corpus, i int) string {
		return strings.Join(c.Source(i), "") + " " + strings.Join(c.Target(i), " ")
	}
	few, many := Draw([]int{2, 2, 2}, 1, 3), Draw([]int{9, 5, 7}, 1, 3)
	if few.Len() != 2 || many.Len() != 5 || word(few, 1) != word(many, 1) || word(many, 0) == word(many, 1) {
		t.Errorf("%d and %d words: %s and %s", few.Len(), many.Len(), word(few, 1), word(many, 1))
	}
	for name, other := range map[string]*alignments.Corpus{"set": Draw([]int{2, 2, 2}, 2, 3),
		"seed": Draw([]int{2, 2, 2}, 1, 4)} {
		if word(other, 0) == word(few, 0) && word(other, 1) == word(few, 1) {
			t.Errorf("another %s has the same words", name)
		}
	}
}

// Files hold what is drawn.
func TestWrite(t *testing.T) {
	dir, sizes := filepath.Join(t.TempDir(), "words"), []int{4, 1, 0}
	if err := Write(dir, sizes, 5); err != nil {
		t.Fatal(err)
	}
	for set, name := range Names {
		f, err := os.Open(filepath.Join(dir, name+".pairs"))
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		want := Draw(sizes, set, 5)
		got, err := alignments.Reader{}.Read(f, want.Name)
		if sizes[set] == 0 {
			continue
		}
		if err != nil || got.Len() != want.Len() {
			t.Fatalf("%s: %v", name, err)
		}
		for i := range want.Len() {
			if !slices.Equal(got.Source(i), want.Source(i)) || !slices.Equal(got.Target(i), want.Target(i)) ||
				!slices.Equal(got.LinksOf(i), want.LinksOf(i)) {
				t.Errorf("%s: word %d is %q, want %q", name, i, got.Source(i), want.Source(i))
			}
		}
	}
	if sum := DefaultSizes(); len(sum) != len(Names) {
		t.Errorf("sizes %v", sum)
	}
	if err := Write(filepath.Join(dir, "train.pairs"), sizes, 5); err == nil {
		t.Error("a file is taken for a folder")
	}
}
