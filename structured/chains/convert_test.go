package chains

import (
	"reflect"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/dsp-go/dsp/structured"
)

// tagged returns a data set with one sequence per string of labels.
func tagged(t interface{ Fatalf(string, ...any) }, sequences ...string) *structured.Dataset {
	d, line := &structured.Dataset{Name: "x", Offsets: []int{0}}, 1
	var names []string
	for _, labels := range sequences {
		names = append(names, strings.Fields(labels)...)
		d.Offsets, d.Lines = append(d.Offsets, len(names)), append(d.Lines, line)
		line += d.Length(d.Len()-1) + 1
	}
	d.Alphabet = structured.NewAlphabet(slices.Sorted(slices.Values(names))...)
	d.Labels = encode(t, d.Alphabet, names)
	return d
}

// labelsOf returns the labels of all sequences by name.
func labelsOf(d *structured.Dataset) []string {
	sequences := make([]string, d.Len())
	for i := range sequences {
		var names []string
		for _, l := range d.Gold(i) {
			names = append(names, d.Alphabet.Name(l))
		}
		sequences[i] = strings.Join(names, " ")
	}
	return sequences
}

func TestConvertScheme(t *testing.T) {
	spelt := map[string][]string{
		"iob1":  {"I-A I-A B-A O I-B I-A I-A I-A", "I I B O", "i-a i-a b-a o", "A_I A_I A_B O"},
		"iob2":  {"B-A I-A B-A O B-B B-A I-A I-A", "B I B O", "b-a i-a b-a o", "A_B A_I A_B O"},
		"bioes": {"B-A E-A S-A O S-B B-A I-A E-A", "B E S O", "b-a e-a s-a o", "A_B A_E A_S O"},
		"bilou": {"B-A L-A U-A O U-B B-A I-A L-A", "B L U O", "b-a l-a u-a o", "A_B A_L A_U O"},
		"bmes":  {"B-A E-A S-A O S-B B-A M-A E-A", "B E S O", "b-a e-a s-a o", "A_B A_E A_S O"},
		"bmewo": {"B-A E-A W-A O W-B B-A M-A E-A", "B E W O", "b-a e-a w-a o", "A_B A_E A_W O"},
	}
	for from, source := range spelt {
		for to, want := range spelt {
			for k := range source {
				d := tagged(t, source[k])
				was, err := ConvertScheme(d, to, nil)
				if err != nil {
					t.Fatal(err)
				}
				if got := labelsOf(d); got[0] != want[k] {
					t.Errorf("%s to %s: got %s, want %s", from, to, got[0], want[k])
				}
				if was.Scheme != from && !(from == "bmes" && was.Scheme == "bioes" && k > 0) { // without M they are the same
					t.Errorf("%s %s: recognised as %+v", from, source[k], was)
				}
			}
		}
	}
	io := tagged(t, "B-A I-A B-A O B-B")
	if _, err := ConvertScheme(io, "io", nil); err != nil || labelsOf(io)[0] != "I-A I-A I-A O I-B" {
		t.Errorf("io: %v, %q", err, labelsOf(io))
	}
	// The alphabet also has the tags that do not occur, for data that use them.
	d, other := tagged(t, "B-A O"), tagged(t, "O O", "B-A I-A I-A")
	if _, err := ConvertScheme(d, "bioes", nil); err != nil ||
		!reflect.DeepEqual(d.Alphabet.Names(), []string{"B-A", "E-A", "I-A", "O", "S-A"}) {
		t.Errorf("%v, %q", err, d.Alphabet.Names())
	}
	if _, err := ConvertScheme(other, "bioes", d.Alphabet); err != nil || other.Alphabet != d.Alphabet ||
		labelsOf(other)[1] != "B-A I-A E-A" {
		t.Errorf("%v, %q", err, labelsOf(other))
	}
	// A type that the alphabet lacks comes after it.
	more := tagged(t, "I-B O")
	if _, err := ConvertScheme(more, "bioes", d.Alphabet); err != nil || labelsOf(more)[0] != "S-B O" ||
		more.Alphabet.Index("S-B") != int32(d.Alphabet.Len()) {
		t.Errorf("%v, %q", err, more.Alphabet.Names())
	}
	for want, test := range map[string]struct {
		d  *structured.Dataset
		to string
	}{
		`tag scheme "iob", expected io, iob1, iob2, bioes, bilou, bmes or bmewo`: {tagged(t, "B-A"), "iob"},
		"x: tag scheme iob2 needs labels like":                                   {tagged(t, "NN VB"), "iob2"},
	} {
		if _, err := ConvertScheme(test.d, test.to, nil); !structured.IsBadInput(err) ||
			!strings.HasPrefix(err.Error(), want) {
			t.Errorf("got %v, want %s", err, want)
		}
	}
}

// Labels that are no tags, though some look alike.
func TestLabelsThatAreNoTags(t *testing.T) {
	for _, labels := range []string{"NN VB", "a b c d e i m o s", "B E", "M F", "M-x B-x I-x O", "M U", "PER-B LOC-B",
		"-B O", "b i", "B_PER LOC", "X-B O Y-C", "O"} {
		if s := parseTags(structured.NewAlphabet(strings.Fields(labels)...)); s != nil {
			t.Errorf("%s are read as tags: %+v", labels, s)
		}
	}
}

// For any tags, conversion keeps the chunks that conlleval sees, and the new tags are well formed.
func TestConvertSchemeKeepsChunks(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		names := rapid.SampledFrom([][]string{{"O", "B-A", "I-A", "B-B", "I-B"},
			{"O", "B-A", "I-A", "E-A", "S-A", "E-B", "U-B", "L-A"}}).Draw(t, "tags")
		labels := rapid.SliceOfN(rapid.SampledFrom(names), 1, 8).Draw(t, "labels")
		d := tagged(t, strings.Join(append(labels, "O", "B-A"), " "))
		read := func() []string {
			var all []string
			s := parseTags(d.Alphabet)
			for _, c := range s.chunks(nil, d.Gold(0)) {
				all = append(all, string(rune('a'+c.start))+string(rune('a'+c.end))+s.types.Name(c.typ))
			}
			return all
		}
		want := read()
		to := rapid.SampledFrom(Schemes()[1:]).Draw(t, "to")
		before, well := labelsOf(d)[0], CheckScheme(d, to) == nil
		if _, err := ConvertScheme(d, to, nil); err != nil {
			t.Fatal(err)
		}
		letters := "UL"
		switch to {
		case "bilou":
			letters = "ES"
		case "bmes":
			letters = "ULI"
		case "bmewo":
			letters = "ULIS"
		}
		if same := labelsOf(d)[0] == before; well && !same && !strings.ContainsAny(before, letters) || same && !well {
			t.Fatalf("%s as %s: well spelt %v, but converted to %s", before, to, well, labelsOf(d)[0])
		}
		if got := read(); !reflect.DeepEqual(got, want) {
			t.Fatalf("got %q, want %q", got, want)
		}
		if err := CheckScheme(d, to); err != nil {
			t.Fatal(err)
		}
	})
}

func TestCheckScheme(t *testing.T) {
	for _, test := range []struct{ scheme, first, second, want string }{
		{"iob2", "B-A I-A O B-B", "O O", ""},
		{"iob2", "O O", "O B-A I-B", "x:6: I-B after B-A, which the tag scheme iob2 does not allow"},
		{"iob2", "O B-A", "I-A", "x:4: I-A starts a sequence, which the tag scheme iob2"},
		{"iob1", "I-A B-A I-B", "I-A", ""},
		{"iob1", "I-A O B-A", "O", "x:3: B-A after O, which the tag scheme iob1"},
		{"bioes", "S-A B-A E-A", "O", ""},
		{"bioes", "B-A E-A O B-A", "O", "x:4: B-A ends a sequence, which the tag scheme bioes"},
		{"bioes", "B-A O", "E-A", "x:2: O after B-A"},
		{"bilou", "U-A B-A L-A", "O", ""},
		{"bmewo", "B-A M-A", "W-A", "x:2: M-A ends a sequence, which the tag scheme bmewo"},
		{"io", "I-A I-B", "I-A", ""},
		{"iob2", "S-A", "O", "tag scheme iob2 has no labels like E-x"},
	} {
		err := CheckScheme(tagged(t, test.first, test.second), test.scheme)
		if test.want == "" && err != nil || test.want != "" &&
			(!structured.IsBadInput(err) || !strings.HasPrefix(err.Error(), test.want)) {
			t.Errorf("%s, %s / %s: got %v, want %s", test.scheme, test.first, test.second, err, test.want)
		}
	}
}
