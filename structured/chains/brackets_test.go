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
	d := bracketsOf("* (PER* * *) (GPE) (GPE*) *", "(PER*)")
	found, err := ReadBrackets(d, false)
	if !found || err != nil {
		t.Fatal(found, err)
	}
	var tags []string
	for _, l := range d.Labels {
		tags = append(tags, d.Alphabet.Name(l))
	}
	if got, want := strings.Join(tags, " "), "O B-PER I-PER I-PER B-GPE B-GPE O B-PER"; got != want {
		t.Errorf("%s, expected %s", got, want)
	}
	if want := []string{"B-GPE", "B-PER", "I-GPE", "I-PER", "O"}; !slices.Equal(d.Alphabet.Names(), want) {
		t.Errorf("tags %q, expected %q", d.Alphabet.Names(), want)
	}
	for _, other := range []string{"O B-PER", "* **", "(X* O", "((S* *) *)", "(S*) (A*))", "* *", "a* b*", "( )", "(X",
		") (Y*)", "X*) (Y*)", "() (Y*)"} {
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
		"(A* (B*) *)": "x:2: (B*) opens inside of (A*, expected *) before it",
		"(A*) *)":     "x:2: *) closes nothing, expected a label such as (PER* before it",
		"* (A* *":     "x:2: (A* is open at the end of its sentence, expected *) behind it",
	} {
		if _, err := ReadBrackets(bracketsOf(text), false); !structured.IsBadInput(err) ||
			!strings.HasPrefix(err.Error(), want) {
			t.Errorf("%q: %v, expected %s", text, err, want)
		}
	}
}
