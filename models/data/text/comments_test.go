package text

import (
	"errors"
	"io"
	"log/slog"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/dsp-go/dsp/models/data/remarks"
	"github.com/dsp-go/dsp/structured"
	"github.com/dsp-go/dsp/structured/sys/host"
)

// opened opens a file that holds a text.
func opened(content string) func() (io.ReadCloser, error) {
	return func() (io.ReadCloser, error) { return io.NopCloser(strings.NewReader(content)), nil }
}

// readSurveyed reads a file as training does.
func readSurveyed(c Conll, content string) (*structured.Dataset, error) {
	survey, err := c.LookThrough(opened(content), "x")
	if err != nil {
		return nil, err
	}
	c.Survey = survey
	return c.Read(strings.NewReader(content), "x")
}

func TestComments(t *testing.T) {
	for _, test := range []struct{ about, comments, text, words, remarks string }{
		{"numbers of sentences in front of them", "", "# 1\na O\nb B-x\n\n# 2\nc O\n", "a b | c", "guessed 2"},
		{"and behind them", "", "a O\nb B-x\n# 1\n\nc O\n# 2", "a b | c", "guessed 2"},
		{"a tab in the first comment", "", "# id x\tdomain=train\na _ _ O\nb _ _ B-x\n\n# id y\tdomain=train\nc _ _ O\n",
			"a b | c", "guessed 2"},
		{"a tab in a comment before other tabs", "", "# id x y\tdomain=train\na\tO\n\nb\tB-x\n", "a | b", "guessed 1"},
		{"documents", "", "#begin document (x); part 000\n\na O\n\n#end document\n", "a", "comments 2"},
		{"documents with the columns and a label of tokens", "", "#begin document (x); part O\na 1 2 3 O\n\n#begin documents 2 3 O\n", "a | #begin", "comments 1"},
		{"keys", "", "# text = O\n# sent_id = 5\na X Y O\n", "a", "comments 2"},
		{"tokens", "", "# O\na O\n# O\n\n#tag B-x\n", "# a # | #tag", "doubtful 1"},
		{"a tag that only a token with # has", "", "#tag B-y\na O\nb B-x\n", "#tag a b", "doubtful 1"},
		{"the same beside comments", "", "# x y z\n# NN\na VB\nb DT\n", "a b", "comments 1 guessed 1"},
		{"inside of a sentence", "", "a O\n# NEW\nb O\n", "a # b", ""},
		{"a label that # has inside of another sentence", "", "# SYM\na X\n\nb X\n# SYM\nc X\n", "# a | b # c", ""},
		{"nothing but #", "", "# O\n# B\n", "# #", "doubtful 2"},
		{"tabs", "", "#\tO\n# a b\tO\n", "# # a b", "doubtful 2"},
		{"by hand", "#", "# O\na O\n# b O\nc O\n", "a c", ""},
		{"another prefix", "%%", "%% 1 2 3\n# O\na O\n%%\n", "# a", ""},
		{"none", "none", "# 1\na O\n", "# a", ""},
	} {
		say := remarks.New(false)
		d, err := readSurveyed(Conll{Comments: test.comments, Remarks: say}, test.text)
		if err != nil {
			t.Errorf("%s: %v", test.about, err)
			continue
		}
		var words, said []string
		for i := range d.Len() {
			words = append(words, strings.Join(d.Columns[0][d.Offsets[i]:d.Offsets[i+1]], " "))
		}
		for _, r := range say.Made() {
			said = append(said, map[string]string{remarks.Comments: "comments", remarks.Guessed: "guessed",
				remarks.Doubtful: "doubtful"}[r.What], strconv.Itoa(r.Times))
		}
		if got := strings.Join(words, " | "); got != test.words || strings.Join(said, " ") != test.remarks {
			t.Errorf("%s: %q, %q, expected %q, %q", test.about, got, said, test.words, test.remarks)
		}
	}
}

// Comments stay where they were, line by line, and remarks name the first.
func TestCommentsKeepTheirPlaces(t *testing.T) {
	say := remarks.New(false)
	d, err := readSurveyed(Conll{Remarks: say}, "# 1\n# text = a b\na O\nb O\n# end\n\n# 2\n\nc O\n\n# last one\n")
	if err != nil {
		t.Fatal(err)
	}
	want := map[int]string{0: "# 1\n# text = a b\n", 2: "# end\n\n# 2\n\n", 3: "\n# last one\n"}
	if !reflect.DeepEqual(d.Layout.Before, want) || !reflect.DeepEqual(d.Lines, []int{3, 9}) {
		t.Errorf("%v, lines %d", d.Layout.Before, d.Lines)
	}
	said := remarks.List{
		{Level: slog.LevelWarn, What: remarks.Guessed, Times: 3, First: "x:1: # 1"},
		{Level: slog.LevelInfo, What: remarks.Comments, Times: 2, First: "x:2: # text = a b"},
	}
	if got := say.Made(); !slices.Equal(got, said) {
		t.Errorf("%+v, expected %+v", got, said)
	}
}

// A line with other columns inside of a sentence is a mistake, and its message says how it is a comment.
func TestCommentInsideOfASentence(t *testing.T) {
	_, err := readSurveyed(Conll{}, "a O\n\nb O\n# not a token\nc O\n")
	if want := "x:4: 4 columns, expected 2 (word label); it looks like raw text, and should be one token per line; " +
		"--comments # makes lines that start with it comments"; !structured.IsBadInput(err) || err.Error() != want {
		t.Errorf("%v", err)
	}
}

// Where a file cannot be looked through, the labels that a model knows decide.
func TestCommentsByKnownLabels(t *testing.T) {
	c := Conll{Unlabeled: true, Survey: SurveyOf(structured.NewAlphabet("O", "B-x"))}
	for text, words := range map[string]int{"# 1\na O\n": 1, "# O\na O\n": 2, "# B-y\na O\n": 2, "# o\na o\n": 2,
		"# PER_b\na o\n": 2, "#\na\n": 2, "# 1\na\n": 1} {
		d, err := c.Read(strings.NewReader(text), "x")
		if err != nil || d.Positions() != words {
			t.Errorf("%q: %v, %v", text, d, err)
		}
	}
}

// Marks of documents are no tokens of text without labels that has as many columns as they have words.
func TestDocumentsWithoutLabels(t *testing.T) {
	columns, err := ParseColumns("word=3,pos=4,label=-1")
	if err != nil {
		t.Fatal(err)
	}
	c := Conll{Columns: columns, Width: 6, Unlabeled: true, Survey: SurveyOf(structured.NewAlphabet("O", "B-x"))}
	d, err := c.Read(strings.NewReader("#begin document (nw/x); part 000\nnw 0 0 Eve NNP\nnw 0 1 left VBD\n\n#end document\n"), "x")
	if err != nil || !slices.Equal(d.Column("word"), []string{"Eve", "left"}) {
		t.Errorf("%v: %q", err, d.Column("word"))
	}
}

// The last part of a file may hold a comment alone, as the #end document of CoNLL-2012.
func TestCommentAlone(t *testing.T) {
	columns, err := ParseColumns("word=3,pos=4,label=-1")
	if err != nil {
		t.Fatal(err)
	}
	for text, none := range map[string]bool{"#end document\n": true, "\n#end document\n\n": true,
		"# x 1 #a N O\n": false} {
		_, err := Conll{Columns: columns, Width: 6,
			Survey: SurveyOf(structured.NewAlphabet("O"))}.Read(strings.NewReader(text), "x")
		if errors.Is(err, host.ErrNoTokens) != none || !none && err != nil {
			t.Errorf("%q: %v", text, err)
		}
	}
}
