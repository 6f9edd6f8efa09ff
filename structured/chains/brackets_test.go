package chains

import (
	"slices"
	"strings"
	"testing"

	"github.com/dsp-go/dsp/structured"
)

func bracketsOf(sentences ...string) *structured.Dataset {
	d := &structured.Dataset{Name: "x", Offsets: []int{0}, Alphabet: structured.NewAlphabet()}
	for _, s := range sentences {
		d.Lines = append(d.Lines, 1+d.Positions()+len(d.Lines))
		for _, label := range strings.Fields(s) {
			d.Labels = append(d.Labels, d.Alphabet.Add(label))
		}
		d.Offsets = append(d.Offsets, len(d.Labels))
	}
	return d
}

func TestReadBrackets(t *testing.T) {
	d := bracketsOf("* (PER* * *) (GPE) (GPE*) *", "(PER*)", "(A0* *A0) (V*V)")
	found, err := ReadBrackets(d, false)
	if !found || err != nil {
		t.Fatal(found, err)
	}
	var tags []string
	for _, l := range d.Labels {
		tags = append(tags, d.Alphabet.Name(l))
	}
	if got, want := strings.Join(tags, " "), "O B-PER I-PER I-PER B-GPE B-GPE O B-PER B-A0 I-A0 B-V"; got != want {
		t.Errorf("%s, expected %s", got, want)
	}
	if want := []string{"B-A0", "B-GPE", "B-PER", "B-V", "I-A0", "I-GPE", "I-PER", "I-V", "O"}; !slices.Equal(d.Alphabet.Names(), want) {
		t.Errorf("tags %q, expected %q", d.Alphabet.Names(), want)
	}
	for _, other := range []string{"O B-PER", "* **", "(X* O", "((S* *) *)", "(S*) (A**", "(S*) )(A*", "* *", "a* b*", "( )", "(X", ") (Y*)", "X*) (Y*)", "() (Y*)", "(12 12)"} {
		d := bracketsOf(other)
		names := d.Alphabet
		if found, err := ReadBrackets(d, false); found || err != nil || d.Alphabet != names {
			t.Errorf("%q: %v, %v", other, found, err)
		}
	}
	outside := bracketsOf("* * *", "*") // beside text with entities
	if found, err := ReadBrackets(outside, true); !found || err != nil ||
		!slices.Equal(outside.Alphabet.Names(), []string{"O"}) {
		t.Errorf("%v %v, labels %q", found, err, outside.Alphabet.Names())
	}
	if found, err := ReadBrackets(bracketsOf("O B-A"), true); found || err != nil {
		t.Errorf("tags were taken for brackets: %v %v", found, err)
	}
	for text, want := range map[string]string{
		"(A* (B*) *)": "x:2: (B*) opens inside of (A*, expected * before its end: a label per token has no entities in others",
		"(A(B* *))":   "x:1: (A(B* opens inside of (A*, expected *",
		"(A(B))":      "x:1: (A(B)) opens inside of (A*, expected *",
		"(A*))":       "x:1: (A*)) closes nothing",
		"(A* *B)":     "x:2: *B) closes B, expected the end of (A*",
		"(A*) *)":     "x:2: *) closes nothing, expected a label such as (PER* before it",
		"* (A* *":     "x:2: (A* is open at the end of its sentence, expected *) behind it",
	} {
		if _, err := ReadBrackets(bracketsOf(text), false); !structured.IsBadInput(err) ||
			!strings.HasPrefix(err.Error(), want) {
			t.Errorf("%q: %v, expected %s", text, err, want)
		}
	}
}

// Labels of brackets have a notation, by which a model writes its tags as they are: back and forth nothing is lost.
func TestBracketsAreWritten(t *testing.T) {
	for text, want := range map[string]Spelling{
		"* (PER* * *) (GPE) (GPE) *":          {Brackets: true},
		"(PER* *) (GPE*) * (PER*)":            {Brackets: true, Star: true},
		"(A0* * *A0) (V*V) * (A1* *A1) *":     {Brackets: true, Star: true, Typed: true},
		"(PER* *PER) * (PER* * *PER) (A* *A)": {Brackets: true, Typed: true},
	} {
		d := bracketsOf(text)
		is := NotationOfData(d)
		if is != (Notation{"bioes", want}) {
			t.Errorf("%s: notation %+v", text, is)
		}
		if _, err := ReadBrackets(d, false); err != nil {
			t.Fatal(err)
		}
		c, err := NewConverter(d.Alphabet, is.Scheme)
		if err != nil {
			t.Fatal(err)
		}
		c = c.Spelt(is.Spelling)
		if got := strings.Join(c.Names(d.Labels), " "); got != text {
			t.Errorf("%s is written as %s", text, got)
		}
		for _, label := range c.Names(d.Labels) {
			if c.Tags().Index(label) < 0 {
				t.Errorf("%s is not among the tags %q", label, c.Tags().Names())
			}
		}
	}
}

// The share of * is that of tags inside and outside, which brackets do not tell apart.
func TestSharesOfBrackets(t *testing.T) {
	c, err := NewConverter(structured.NewAlphabet("B-A", "I-A", "O"), "bioes")
	if err != nil {
		t.Fatal(err)
	}
	c = c.Spelt(Spelling{Brackets: true})
	// BIO 0.5, BII 0.2, OOO 0.2, OBO 0.1
	node := []float32{0.7, 0, 0.3, 0.1, 0.7, 0.2, 0, 0.2, 0.8}
	edge := make([]float32, 27)
	edge[9+1], edge[9+8], edge[9+6] = 0.7, 0.2, 0.1
	edge[18+4], edge[18+5], edge[18+8], edge[18+2] = 0.2, 0.5, 0.2, 0.1
	tags := c.Tags()
	shares := c.Shares(tags, node, edge)
	want := []map[string]float32{{"(A*": 0.7, "*": 0.3}, {"*": 0.4, "*)": 0.5, "(A)": 0.1}, {"*)": 0.2, "*": 0.8}}
	for at, row := range want {
		for k, name := range tags.Names() {
			if got := shares[at*tags.Len()+k]; got < row[name]-1e-6 || got > row[name]+1e-6 {
				t.Errorf("share of %s at %d: %g, expected %g", name, at, got, row[name])
			}
		}
	}
}
