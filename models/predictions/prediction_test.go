package predictions

import (
	"strings"
	"testing"

	"github.com/dsp-go/dsp/models/settings"
	"github.com/dsp-go/dsp/structured"
)

// Options that have no effect without others are refused by name, and so are values that they do not take.
func TestAskedOptions(t *testing.T) {
	for _, c := range []struct{ given, want string }{
		{"", ""}, {"spans=true min-probability=0.5", ""}, {"samples=3 temperature=2 seed=4", ""},
		{"decode=f1 threshold=0.3", ""}, {"spans=true min-probability=1", ""},
		{"min-probability=0.5", "--min-probability 0.5 is for --spans, which lists entities"},
		{"spans=true min-probability=0", "--min-probability 0: expected more than 0, and at most 1"},
		{"spans=true min-probability=1.5", "--min-probability 1.5: expected more than 0, and at most 1"},
		{"threshold=0.3", "--threshold 0.3 is for --decode f1, which chooses entities by their probabilities"},
		{"decode=risk threshold=0.3", "--threshold 0.3 is for --decode f1"},
		{"temperature=2", "--temperature is for --samples, which draws outputs at random"},
		{"seed=2", "--seed is for --samples"},
		{"nbest=100001", "--nbest 100001"}, {"decode=best", "--decode"}, {"samples=1 temperature=0", "--temperature 0"},
	} {
		a := Ask(settings.CommandLine)
		all := settings.Of(&a)
		for _, pair := range strings.Fields(c.given) {
			name, value, _ := strings.Cut(pair, "=")
			s, ok := settings.Named(all, name)
			if !ok {
				t.Fatal(name)
			}
			if err := s.Set(value); err != nil {
				t.Fatal(err)
			}
		}
		err := a.Check(all)
		if (err == nil) != (c.want == "") || err != nil &&
			(!structured.IsBadInput(err) || !strings.HasPrefix(err.Error(), c.want)) {
			t.Errorf("%s: %v, expected %q", c.given, err, c.want)
		}
		if err == nil && a.Exact {
			t.Error("edges may be truncated unless someone says otherwise")
		}
	}
	a := Ask(settings.CommandLine)
	if a.Truncate = false; a.Check(nil) != nil || !a.Exact {
		t.Error("without truncation, answers are exact")
	}
}

// Marks stand in brackets, their names in parentheses behind them, and what the text has of these is escaped.
func TestInline(t *testing.T) {
	for _, c := range []struct {
		text  string
		marks []Mark
		want  string
	}{
		{"é is it", nil, "é is it"}, {"é is it", []Mark{{0, 1, "X"}, {5, 7, "Y"}}, "[é](X) is [it](Y)"},
		{"ab", []Mark{{0, 1, "X"}, {1, 2, "Y"}}, "[a](X)[b](Y)"},
		{`a[b]\c(d)`, []Mark{{1, 2, `(X)[\]`}}, `a[\[](\(X\)\[\\\])b\]\\c(d)`}, {"", nil, ""},
		{"ab", []Mark{{0, 2, ""}}, "[ab]()"},
	} {
		if got := string(Inline([]byte("> "), c.text, c.marks)); got != "> "+c.want {
			t.Errorf("%q %v: %s, expected %s", c.text, c.marks, got, c.want)
		}
	}
}

// Examples that are left out keep their lines where the output has them, with the filler in the columns that are added.
func TestLeftOut(t *testing.T) {
	labels := structured.NewAlphabet("O", "B-X")
	layout := func() *structured.Layout { return &structured.Layout{Separator: ' ', Filler: "_"} }
	for _, c := range []struct {
		name  string
		of    Layout
		lines string
		in    *structured.Layout
		want  string
	}{
		{"columns", Columns(labels, Options{}), "a P\nb\n", layout(), "a P _\nb _ _\n"},
		{"columns of tabs", Columns(labels, Options{}), "a b\tP\r\n# x\n\nc", layout(), "a b\tP\t_\n# x\n\nc\t_\t_\n"},
		{"more columns", Columns(labels, Options{Confidence: true, Marginals: true}), "a\n", layout(), "a _ _ _ _\n"},
		{"into a column", Columns(labels, Options{Into: "x"}), "a P\n", layout(), "a P\n"},
		{"trees", TreeColumns(labels, Options{}), "1\ta\n", layout(), "1\ta\n"},
		{"objects", JSON(labels, Options{}), "1\ta\n", layout(), ""},
		{"raw text", Columns(labels, Options{}), "one\ntwo\n", nil, "\n\n"},
		{"raw text without an end", Columns(labels, Options{}), "one", nil, "\n"},
	} {
		if got := string(LeftOut(c.of, []byte(c.lines), c.in)); got != c.want {
			t.Errorf("%s: %q, expected %q", c.name, got, c.want)
		}
	}
	text, number := LeftOutJSON(`bad "x"`)
	if string(text) != `{"id":"","error":"bad \"x\""}`+"\n" || number != len(`{"id":"`) {
		t.Errorf("%s, number at %d", text, number)
	}
	if !CopiesLines(Columns(labels, Options{})) || CopiesLines(JSON(labels, Options{})) {
		t.Error("columns copy lines, and objects do not")
	}
}

// Labels are written in the scheme that is asked for, with its spelling; a scheme that they do not have is none.
func TestSchemes(t *testing.T) {
	tags, plain := structured.NewAlphabet("O", "B-X", "I-X"), structured.NewAlphabet("a", "b")
	d := &structured.Dataset{Name: "d", Alphabet: tags, Offsets: []int{0, 3}, IDs: []string{"e"}}
	p := &Prediction{Output: Output{[]int32{1, 2, 0}, 1, 0.5},
		Tags: make([]float32, 3*ConverterOf(tags, Options{Scheme: "bioes"}).Tags().Len())}
	text, _ := JSON(tags, Options{Scheme: "bioes"}).Add(nil, d, 0, p)
	if !strings.Contains(string(text), `"labels":["B-X","E-X","O"]`) {
		t.Errorf("%s", text)
	}
	if ConverterOf(plain, Options{Scheme: "bioes"}) != nil || ConverterOf(tags, Options{}) != nil {
		t.Error("labels that are no tags are converted")
	}
	text, _ = JSON(tags, Options{Scheme: "bioes", Marginals: true}).Add(nil, d, 0, p)
	if !strings.HasSuffix(string(text),
		`"marginals":[[0,0,0,0,0],[0,0,0,0,0],[0,0,0,0,0]],"tags":["B-X","E-X","I-X","O","S-X"]}`+"\n") {
		t.Errorf("%s", text)
	}
}
