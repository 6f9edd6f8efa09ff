package brackets

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/dsp-go/dsp/models/data/remarks"
	"github.com/dsp-go/dsp/structured"
	"github.com/dsp-go/dsp/structured/constituents"
)

func parse(t *testing.T, text string) []*Node {
	t.Helper()
	var all []*Node
	if err := Read(strings.NewReader(text), "x", 1, func(tree *Node, _ int) error {
		all = append(all, tree)
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	return all
}

// draw draws a tree: unary chains, any number of children, labels with signs that have a meaning elsewhere.
func draw(r *rand.Rand, depth int, word *int) *Node {
	label := []string{"S", "NP", "VP", `A+B`, `C\D`, "+", "X-Y"}[r.IntN(7)]
	n := &Node{Label: label}
	for range 1 + r.IntN(4) {
		if depth == 0 || r.IntN(2) == 0 {
			*word++
			n.Children = append(n.Children, &Node{Label: "T", Word: fmt.Sprint("w", *word)})
		} else {
			n.Children = append(n.Children, draw(r, depth-1, word))
		}
	}
	return n
}

// Trees of any shape are restored from their outputs and from their text, and outputs are trees.
func TestTreesAreRestored(t *testing.T) {
	for seed := range uint64(300) {
		word := 0
		tree := draw(rand.New(rand.NewPCG(seed, 1)), 4, &word)
		text := string(tree.Append(nil))
		if again := parse(t, text); len(again) != 1 || string(again[0].Append(nil)) != text {
			t.Fatalf("%s is read as %s", text, again[0].Append(nil))
		}
		names := structured.NewAlphabet()
		y := tree.Output(word, names.Add)
		if !constituents.Binary(y, names.Len(), func(int, int32) {}) {
			t.Fatalf("%s: %v is no tree", text, y)
		}
		words, tags := tree.Words(nil, nil)
		if got := string(FromOutput(y, words, tags, names).Append(nil)); got != text {
			t.Fatalf("%s is restored as %s", text, got)
		}
	}
}

// Words keep their bytes, in any encoding, and spaces beyond ASCII, which separate nothing.
func TestWordsKeepTheirBytes(t *testing.T) {
	for _, word := range []string{"caf\xe9", "\xff\xfe", "10\u00a0000", "\u3000", "\u2028x", "\x85", "é\ufffd"} {
		text := "(S (NN " + word + ")\r\n\t(VB a))"
		all := parse(t, text)
		if len(all) != 1 {
			t.Fatalf("%q: %d trees", text, len(all))
		}
		if words, _ := all[0].Words(nil, nil); len(words) != 2 || words[0] != word {
			t.Errorf("%q is read as %q", word, words)
		}
		if want := "(S (NN " + word + ") (VB a))"; string(all[0].Append(nil)) != want {
			t.Errorf("%q is written as %q", want, all[0].Append(nil))
		}
	}
}

// Brackets in words and labels are written as the Penn Treebank writes them, each as its own, so that the line can be
// read again.
func TestBracketsAreEscaped(t *testing.T) {
	tree := &Node{Label: "S", Children: []*Node{{Label: "(", Word: "("}, {Label: ")", Word: "):-)"}}}
	text := string(tree.Append(nil))
	if want := "(S (-LRB- -LRB-) (-RRB- -RRB-:--RRB-))"; text != want {
		t.Errorf("%s, want %s", text, want)
	}
	if again := parse(t, text); len(again) != 1 || len(again[0].Children) != 2 {
		t.Errorf("%s is read as %v", text, again)
	}
}

// A label that begins with the sign that ends others has it as its name; what follows a sign inside is cut off, of each
// of several labels.
func TestPlainLabels(t *testing.T) {
	for label, want := range map[string]string{"NP-SBJ-1": "NP", "NP=2": "NP", "-LRB-": "-LRB-",
		"=": "=", "S|VP-X": "S|VP"} {
		n := &Node{Label: label, Children: []*Node{{Label: "-LRB-", Word: "("}, {Label: "-NONE-", Word: "*"}}}
		if got := n.Plain(); got.Label != want || len(got.Children) != 1 || got.Children[0].Label != "-LRB-" {
			t.Errorf("%s becomes %s with %v", label, got.Label, got.Children)
		}
	}
}

func TestJoinedLabels(t *testing.T) {
	for _, labels := range [][]string{{"S"}, {"TOP", "S", "VP"}, {`a+b`, `c\`, ""}, {`\`, "+"}} {
		if got := Split(Joined(labels)); !slices.Equal(got, labels) {
			t.Errorf("%q are joined to %q and split to %q", labels, Joined(labels), got)
		}
	}
}

// Functions, numbers and empty words go, with what holds nothing else; labels without words at the top become TOP.
func TestPlain(t *testing.T) {
	for text, want := range map[string]string{
		"( (S (NP-SBJ-1 (-NONE- *)) (NP=2 (-LRB- -LRB-) (NN a)) (VP (VBD was) (VP (VBN b) (NP (-NONE- *-1))))))": "(TOP (S (NP (-LRB- -LRB-) (NN a)) (VP (VBD was) (VP (VBN b)))))",
		"(NN a)":                           "(TOP (NN a))",
		"# a comment (\n(S\n  (NN a)\n\n)": "(S (NN a))",
	} {
		if got := string(parse(t, text)[0].Plain().Append(nil)); got != want {
			t.Errorf("%s is %s, want %s", text, got, want)
		}
	}
	if tree := parse(t, "(S (-NONE- *))")[0].Plain(); tree != nil {
		t.Errorf("%s", tree.Append(nil))
	}
}

// Errors name the line and what was expected.
func TestErrors(t *testing.T) {
	for text, want := range map[string]string{
		"(S (NN a))\nx":                     `x:2: found "x", expected the opening bracket of a tree`,
		"(S\n(NN a)":                        "x:2: the file ends inside of a tree",
		"(S\n\n(NN a b))":                   `x:3: found "b", expected the closing bracket of the word a`,
		"(S (NN a) b)":                      `x:1: found "b", expected a bracket`,
		"(S ())":                            `x:1: found ")", expected a label`,
		"(S (NP))":                          `x:1: found ")", expected a word or brackets after the label NP`,
		"(S ((NN a)))":                      `x:1: found "(", expected a label`,
		"(S (-NONE- *))":                    "x:1: a tree without words",
		"(S (NN a))\n(())":                  "x:2: a tree without words",
		"(() (NN a))":                       `x:1: found "(", expected the closing bracket of (())`,
		"(()":                               "x:1: the file ends inside of a tree",
		strings.Repeat("(S ", mostNested+2): "nested more than",
	} {
		_, err := Reader{}.Read(strings.NewReader(text), "x")
		if !structured.IsBadInput(err) || !strings.Contains(err.Error(), want) {
			t.Errorf("%.40q: %v, want bad input with %q", text, err, want)
		}
	}
}

// Brackets may be nested as deep as the message says, and no deeper.
func TestNested(t *testing.T) {
	for deep, fits := range map[int]bool{mostNested: true, mostNested + 1: false} {
		text := strings.Repeat("(S ", deep-1) + "(NN a" + strings.Repeat(")", deep)
		d, err := Reader{}.Read(strings.NewReader(text), "x")
		if fits && (err != nil || d.Len() != 1) || !fits && !structured.IsBadInput(err) {
			t.Errorf("%d brackets: %v", deep, err)
		}
	}
}

// Labels keep the numbers that are known; new ones follow. Trees are written as they were read.
func TestReader(t *testing.T) {
	text := "(TOP (S (NP (DT the) (NN dog)) (VP (VBZ barks)) (. .)))\n(S (X (A a)))\n"
	d, err := Reader{Names: structured.NewAlphabet("VP", "NP")}.Read(strings.NewReader(text), "x")
	if err != nil {
		t.Fatal(err)
	}
	if want := []string{"VP", "NP", "S+X", "TOP+S"}; !slices.Equal(d.Alphabet.Names(), want) {
		t.Errorf("labels %q, want %q", d.Alphabet.Names(), want)
	}
	if !slices.Equal(d.Column("upos"), []string{"DT", "NN", "VBZ", ".", "A"}) || !slices.Equal(d.Lines, []int{1, 2}) ||
		d.Where(1) != "x:2" {
		t.Errorf("%q, %v", d.Column("upos"), d.Lines)
	}
	var written strings.Builder
	for i := range d.Len() {
		words, tags := WordsOf(d, i)
		written.Write(append(FromOutput(d.Gold(i), words, tags, d.Alphabet).Append(nil), '\n'))
	}
	if written.String() != text {
		t.Errorf("%s is written as %s", text, written.String())
	}
	labels := slices.Clone(d.Labels)
	Renumber(d, structured.NewAlphabet("TOP+S", "VP", "NP", "S+X"))
	for k, l := range labels {
		if want := []int32{0, 2, 3, 4, 1}[l]; d.Labels[k] != want {
			t.Errorf("label %d is renumbered %d, want %d", l, d.Labels[k], want)
		}
	}
}

// Trees that are broken are left out: unclosed ones, closed too often, without words, and lines that are none.
func TestTreesLeftOut(t *testing.T) {
	const text = "(S (NP (DT a) (NN b)) (VP (V c)))\n(S (NP (DT a) (NN b)\n(S (V d))\n(S (V e)))\nnot a tree\n" +
		"(S (-NONE- *))\n(S (V f))\n(S\n  (NP (N g)\n  (V h)))\n)\n(S (V i)) (S (V j))\n(S ("
	say := remarks.New(true)
	d, err := Reader{Remarks: say}.Read(strings.NewReader(text), "x")
	want := []string{`x:5: found "not"`, `x:4: found ")"`, "x:6: a tree without words", `x:11: found ")"`,
		"x:13: the file ends inside"}
	if left := say.Reasons(); err != nil || !slices.Equal(d.Lines, []int{1, 3, 7, 12, 12}) ||
		!slices.EqualFunc(left, want, strings.HasPrefix) {
		t.Errorf("%v, trees of lines %v, left out %q", err, d, left)
	}
	if _, err := (Reader{}).Read(strings.NewReader(text), "x"); !structured.IsBadInput(err) {
		t.Error(err)
	}
}

// Messages name the line that a tree begins in, and count its words.
func TestPlacesOfWords(t *testing.T) {
	d, err := Reader{}.Read(strings.NewReader("(S (NP (N a)) (VP (V b)))\n\n( (S\n  (NP (N a))\n  (VP (V c))))\n"), "x")
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range []*structured.Dataset{d, d.Subset([]int{0, 1})} {
		if got := d.WhereToken(0, 1) + " " + d.WhereToken(1, 1); got != "x:1, position 1 x:3, position 1" {
			t.Errorf("places %s", got)
		}
	}
}

// Parses that failed, as EVALB knows them, are told apart from trees whose words are empty.
func TestFailedParses(t *testing.T) {
	const text = "(())\n(S (NN a))\n()\n( ( ) )\n((S (NN b)))\n"
	var failed []int
	d, err := Reader{Failed: &failed}.Read(strings.NewReader(text), "x")
	if err != nil || !slices.Equal(failed, []int{0, 2, 3}) || !slices.Equal(d.Column("word"), []string{"a", "b"}) || !slices.Equal(d.Lines, []int{2, 5}) {
		t.Errorf("%v, failed %v, %+v", err, failed, d)
	}
	if _, err := (Reader{Failed: &failed}).Read(strings.NewReader("(S (-NONE- *))"), "x"); !structured.IsBadInput(err) {
		t.Errorf("a tree of empty words is %v", err)
	}
}
