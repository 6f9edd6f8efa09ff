// Package spellings draws words with their sounds, and which letters spell which sounds: links that never cross and
// leave nothing out. A sound has several spellings, of one to four letters; a spelling stands for several sounds, and
// some letters for two in a row.
package spellings

import (
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"

	"github.com/dsp-go/dsp/models/data/alignments"
	"github.com/dsp-go/dsp/structured/sys/host"
)

// Names are the names of the three sets.
var Names = []string{"train", "dev", "test"}

// DefaultSizes are how many words are drawn for each set where nothing says it.
func DefaultSizes() []int { return []int{1000, 300, 300} }

// units are sounds, one or two, and their spellings, the most frequent one first.
type unit struct{ sounds, spellings []string }

var consonants, vowels = parse(`
p: p pp
b: b bb
t: t tt th
d: d dd ed
k: c k ck ch
g: g gg gh
f: f ff ph gh
v: v ve
s: s ss c sc st
z: z s zz
sh: sh ti ci ch
ch: ch tch t
j: j g dge
m: m mm mb mn
n: n nn kn gn
ng: ng n
l: l ll
r: r rr wr rh
w: w wh u
h: h wh
k s: x cc
k w: qu
s k: sc sk sch`), parse(`
a: a ai
e: e ea ie
i: i y
o: o a ough
u: u o oo
ay: a ai ay ei ea
ee: e ee ea ie y
igh: i igh y ie
oh: o oa ow oe
oo: oo u ew ou ough
ow: ou ow ough
oy: oi oy
er: er ir ur or
y oo: u ew
i a: ia ea`)

func parse(table string) (all []unit) {
	for line := range strings.Lines(strings.TrimSpace(table)) {
		sounds, spellings, _ := strings.Cut(line, ":")
		all = append(all, unit{strings.Fields(sounds), strings.Fields(spellings)})
	}
	return all
}

// Draw draws one of the sets, as a Reader would read it from the file. A word depends only on the seed, the set and its
// number.
func Draw(sizes []int, set int, seed uint64) *alignments.Corpus {
	c := &alignments.Corpus{Name: Names[set] + ".pairs", Offsets: []int{0}}
	for i := range sizes[set] {
		w := word{rng: rand.New(rand.NewPCG(seed, uint64(set)<<32+uint64(i)))}
		w.draw()
		c.Add(w.letters, w.sounds, w.links)
		c.Lines = append(c.Lines, i+1)
	}
	return c
}

// Write draws the three sets and writes them into dir as train.pairs, dev.pairs and test.pairs.
func Write(dir string, sizes []int, seed uint64) error {
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return err
	}
	for set := range Names {
		c := Draw(sizes, set, seed)
		err := host.WriteFile(filepath.Join(dir, c.Name), func(w io.Writer) error {
			for i := range c.Len() {
				line := append(alignments.AppendPair(nil, c.Source(i), c.Target(i)), " "+alignments.Separator+" "...)
				if _, err := w.Write(append(alignments.AppendLinks(line, c.LinksOf(i), nil), '\n')); err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// word is a word that is being drawn.
type word struct {
	rng             *rand.Rand
	letters, sounds []string
	links           []alignments.Link
}

func (w *word) draw() {
	for range 2 + w.rng.IntN(3) { // syllables
		if w.rng.IntN(6) > 0 {
			w.add(consonants)
		}
		w.add(vowels)
		if w.rng.IntN(2) == 0 {
			w.add(consonants)
		}
	}
	if w.rng.IntN(4) == 0 { // a silent letter belongs to the last sound
		w.link(len(w.letters), len(w.sounds)-1)
		w.letters = append(w.letters, "e")
	}
}

// add appends a unit. Spellings are the rarer the later they are listed. The first letters spell a sound each, and
// further ones the last sound; where there are more sounds than letters, the last letter spells the rest.
func (w *word) add(units []unit) {
	u := units[w.rng.IntN(len(units))]
	k := 0
	for k+1 < len(u.spellings) && w.rng.IntN(5) < 2 {
		k++
	}
	letters := strings.Split(u.spellings[k], "")
	for i := range max(len(letters), len(u.sounds)) {
		w.link(len(w.letters)+min(i, len(letters)-1), len(w.sounds)+min(i, len(u.sounds)-1))
	}
	w.letters, w.sounds = append(w.letters, letters...), append(w.sounds, u.sounds...)
}

func (w *word) link(i, j int) {
	w.links = append(w.links, alignments.Link{Source: int32(i), Target: int32(j), Sure: true})
}
