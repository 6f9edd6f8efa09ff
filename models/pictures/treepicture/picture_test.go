package treepicture

import (
	"bytes"
	"encoding/xml"
	"errors"
	"image/color"
	"image/png"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/dsp-go/dsp/models/pictures/canvas"
	"github.com/dsp-go/dsp/models/pictures/picturetest"
	"github.com/dsp-go/dsp/structured"
)

// doubtful has a crossing arc with the wrong head, a wrong relation, and arcs of various probabilities.
func doubtful() Sentence {
	return Sentence{
		Words:         strings.Fields("A hearing on the <issue> is scheduled today with telescopes ."),
		Tags:          strings.Fields("DET NOUN ADP DET NOUN AUX VERB NOUN ADP NOUN PUNCT"),
		Heads:         []int32{2, 7, 5, 5, 2, 7, 0, 7, 10, 2, 7},
		Relations:     strings.Fields("det nsubj case det nmod aux:pass root obj case nmod punct"),
		Certainty:     []float32{1, .97, 1, 1, .85, 1, .999, .9, .99, .35, 1},
		GoldHeads:     []int32{2, 7, 5, 5, 2, 7, 0, 7, 10, 8, 7},
		GoldRelations: strings.Fields("det nsubj case det nmod aux:pass root obl:tmod case advcl punct"),
	}
}

// Every word, arc and label of doubtful has its place, and the legend and the title theirs.
func TestPlaces(t *testing.T) {
	s := doubtful()
	for name, p := range map[string]Picture{
		"gold.svg": {Title: "A & B",
			Sentences: []Sentence{doubtful(), {Words: s.Words[:2], Heads: []int32{2, 0}, Relations: []string{"det", "root"}}}},
		"plain.svg": {Sentences: []Sentence{{Words: s.Words, Heads: s.Heads, Relations: s.Relations}}},
	} {
		picturetest.Kept(t, name, p.Write)
	}
}

func TestSVG(t *testing.T) {
	s := doubtful()
	certain := Sentence{Words: s.Words[:2], Heads: []int32{2, 0}, Relations: []string{"det", "root"}}
	path := filepath.Join(t.TempDir(), "t.svg")
	if err := (Picture{Title: "A & B", Sentences: []Sentence{s, certain}}).Write(path); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	words := map[string]int{}
	dashed := 0
	for d := xml.NewDecoder(bytes.NewReader(text)); ; {
		token, err := d.Token()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		switch token := token.(type) {
		case xml.CharData:
			words[string(token)]++
		case xml.StartElement:
			for _, a := range token.Attr {
				if strings.Contains(a.Value, "stroke-dasharray") {
					dashed++
				}
			}
		}
	}
	for word, count := range map[string]int{
		"A & B": 1, "<issue>": 1, "hearing": 2, "NOUN": 4, "nsubj 0.97": 1, "obj (obl:tmod) 0.90": 1, "nmod 0.35": 1,
		"advcl": 1, "root": 2, "det": 3,
		"gold arc that was missed": 1,
	} {
		if words[word] != count {
			t.Errorf("%q occurs %d times, want %d", word, words[word], count)
		}
	}
	if dashed != 2 { // one in the legend, and one arc
		t.Errorf("%d dashed lines, want 2", dashed)
	}
}

// Every colour appears if something in the picture has it.
func TestPNG(t *testing.T) {
	s := doubtful()
	s.Certainty = nil
	all := map[color.NRGBA]bool{canvas.Right: true, canvas.Wrong: true, canvas.Gold: true}
	perfect := s
	perfect.GoldHeads, perfect.GoldRelations = s.Heads, s.Relations
	alone := s
	alone.GoldHeads, alone.GoldRelations, alone.Tags = nil, nil, nil
	for name, test := range map[string]struct {
		p    Picture
		want map[color.NRGBA]bool
	}{
		"wrong": {Picture{Sentences: []Sentence{s}}, all}, "legend": {Picture{Sentences: []Sentence{perfect}}, all},
		"alone": {Picture{Title: "t", Sentences: []Sentence{alone}}, map[color.NRGBA]bool{canvas.Right: true}},
		"none":  {Picture{}, nil},
		"a word": {Picture{Sentences: []Sentence{{Words: []string{"a"}, Heads: []int32{0}, Relations: []string{"root"}}}},
			map[color.NRGBA]bool{canvas.Right: true}},
	} {
		path := filepath.Join(t.TempDir(), "t.png")
		if err := test.p.Write(path); err != nil {
			t.Fatal(name, err)
		}
		f, err := os.Open(path)
		if err != nil {
			t.Fatal(err)
		}
		img, err := png.Decode(f)
		f.Close()
		if err != nil {
			t.Fatal(name, err)
		}
		found := map[color.NRGBA]int{}
		for y := range img.Bounds().Dy() {
			for x := range img.Bounds().Dx() {
				found[color.NRGBAModel.Convert(img.At(x, y)).(color.NRGBA)]++
			}
		}
		for c := range all {
			if (found[c] > 15) != test.want[c] {
				t.Errorf("%s: %d pixels of %v", name, found[c], c)
			}
		}
	}
}

// A label moves away from the line of another arc.
func TestLabelMakesWay(t *testing.T) {
	s := doubtful()
	l := newLayout(&s)
	var long, root *arc
	for _, a := range l.arcs {
		switch {
		case a.isRoot():
			root = a
		case a.label == "nmod 0.35":
			long = a
		}
	}
	width := long.labelWidth()
	middle := (long.from+long.to)/2 - width/2
	if !(middle < root.to && root.to < middle+width) {
		t.Fatalf("the line to the root at %v is not in the way of the label at %v, %v wide", root.to, middle, width)
	}
	if x := l.free(long, width); x < root.to && root.to < x+width {
		t.Errorf("the label at %v, %v wide, hides the line to the root at %v", x, width, root.to)
	}
}

func TestWriteErrors(t *testing.T) {
	s := doubtful()
	for name, change := range map[string]func(*Sentence){
		"heads": func(s *Sentence) { s.Heads = s.Heads[1:] }, "relations": func(s *Sentence) { s.Relations = nil },
		"tags": func(s *Sentence) { s.Tags = s.Tags[1:] }, "probabilities": func(s *Sentence) {
			s.Certainty = s.Certainty[1:]
		},
		"gold heads":     func(s *Sentence) { s.GoldHeads = s.GoldHeads[1:] },
		"gold relations": func(s *Sentence) { s.GoldRelations = s.GoldRelations[1:] },
		"head 12":        func(s *Sentence) { s.Heads = []int32{2, 7, 5, 5, 2, 7, 0, 7, 10, 12, 7} },
		"head -1":        func(s *Sentence) { s.GoldHeads = []int32{2, 7, 5, 5, 2, 7, 0, 7, 10, -1, 7} },
	} {
		changed := s
		change(&changed)
		err := Picture{Sentences: []Sentence{changed}}.Write(filepath.Join(t.TempDir(), "t.svg"))
		if !structured.IsBadInput(err) || !strings.Contains(err.Error(), name) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if err := (Picture{}).Write("x.jpg"); !structured.IsBadInput(err) {
		t.Error(err)
	}
}

// Overlapping arcs have different levels, no two arcs end at the same point, words do not overlap, and labels lie
// between the ends of their arcs.
func TestLayout(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 12).Draw(t, "n")
		heads := rapid.SliceOfN(rapid.Int32Range(0, int32(n)), n, n)
		s := &Sentence{Heads: heads.Draw(t, "heads"), GoldHeads: heads.Draw(t, "gold")}
		for d := range n {
			for _, h := range [][]int32{s.Heads, s.GoldHeads} {
				if int(h[d]) == d+1 {
					h[d] = 0
				}
			}
			s.Words = append(s.Words, rapid.StringMatching("[a-z]{1,12}").Draw(t, "word"))
			s.Relations = append(s.Relations, rapid.StringMatching("[a-z]{1,12}").Draw(t, "relation"))
		}
		l := newLayout(s)
		ends := map[int]bool{}
		for k, a := range l.arcs {
			for _, x := range []float64{float64(a.from), float64(a.to)} {
				if at := int(x*10 + 0.5); !a.isRoot() || x == float64(a.to) {
					if ends[at] {
						t.Fatalf("two ends at %v", x)
					}
					ends[at] = true
				}
			}
			if !a.isRoot() {
				x, width := l.free(a, a.labelWidth()), a.labelWidth()
				if x < min(a.from, a.to)+corner-0.01 || x+width > max(a.from, a.to)-corner+0.01 {
					t.Fatalf("the label of %+v is at %v, %v wide", a, x, width)
				}
			}
			from, to := a.ends()
			for _, b := range l.arcs[:k] {
				left, right := b.ends()
				if a.level == b.level && left < to && from < right && !a.isRoot() && !b.isRoot() {
					t.Fatalf("%+v and %+v", a, b)
				}
			}
		}
		for d := 1; d < n; d++ {
			needed := (canvas.Style(wordSize, canvas.Ink).Width(s.Words[d-1]) +
				canvas.Style(wordSize, canvas.Ink).Width(s.Words[d])) / 2
			if l.centre[d]-l.centre[d-1] < needed {
				t.Fatalf("words %d and %d overlap", d, d+1)
			}
		}
	})
}
