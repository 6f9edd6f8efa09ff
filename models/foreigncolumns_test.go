package models

import (
	"bytes"
	"slices"
	"strings"
	"testing"

	"github.com/dsp-go/dsp/models/config"
	"github.com/dsp-go/dsp/models/data/remarks"
	"github.com/dsp-go/dsp/models/predictions"
	"github.com/dsp-go/dsp/structured"
)

// Columns whose place labels or other values have are told apart by what they hold, in text that arrives and in data
// that are read whole.
func TestForeignColumns(t *testing.T) {
	train := "the DT O\nJohn NNP B-PER\nSmith NNP I-PER\nsees VBZ O\nRome NNP B-LOC\n\nRome NNP B-LOC\nsleeps VBZ O\n"
	twice := func(line string) string { return strings.Repeat(line, leastJudged) }
	const holds, foreign = "column pos holds labels", "pos with "
	for net, set := range map[string]func(c *config.Config){
		"attributes": func(c *config.Config) {},
		"embeddings": func(c *config.Config) { c.Net, c.Features, c.MinCount = "embed", "none", 1 },
		"hashed":     func(c *config.Config) { c.HashBits = 10 },
	} {
		c := textConfig(file(t, "train.conll", train))
		c.Template = ""
		set(&c)
		m, _ := attributeModel(t, c)
		for _, test := range []struct{ about, text, says string }{
			{"as in training", train, ""},
			{"without labels", "the DT\nJohn NNP\n", ""},
			{"labels in place of tags", "the O\nJohn B-PER\n", holds},
			{"labels of another scheme", "the O\nJohn S-PER\n", holds},
			{"spelt otherwise", "the O\nJohn PER-B\n", holds},
			{"labels beside labels", "the O O\nJohn B-PER B-PER\n", holds},
			{"outside alone", "the O\nJohn O\n", holds},
			{"entities of other types", twice("John B-ORG\nsees O\n"), foreign},
			{"some are parts of speech", twice("John B-PER\nthe DT\nsees VBZ\n"), ""},
			{"other parts of speech", twice("the det\nJohn noun\n"), foreign},
			{"too few to judge", "the det\nJohn noun\n", ""},
			{"no token", "\n", "no tokens"},
		} {
			want := test.says
			if net == "hashed" { // which shows nothing
				switch {
				case test.about == "labels beside labels" || want == foreign:
					want = ""
				case want == holds:
					want = ": column pos with "
				}
			}
			var out bytes.Buffer
			say, whole := remarks.New(false), remarks.New(false)
			err := m.PredictText(t.Context(), strings.NewReader(test.text), &out, Request{Path: "x", Remarks: say}, predictions.Options{}, false)
			_, wholeErr := m.ReadData(Request{Path: file(t, "whole.conll", test.text), Remarks: whole})
			for how, got := range map[string]struct {
				err  error
				made remarks.List
			}{"as it arrives": {err, say.Made()}, "whole": {wholeErr, whole.Made()}} {
				said := ""
				switch {
				case got.err != nil && structured.IsBadInput(got.err):
					said = got.err.Error()
				case got.err != nil:
					t.Fatal(got.err)
				case len(got.made) > 0:
					said = got.made[0].First
				}
				if !strings.Contains(said, want) || want == "" && said != "" {
					t.Errorf("%s, %s, %s: %q, expected %q", net, test.about, how, said, want)
				}
			}
		}
	}
}

// Data with other columns than in training are refused with what cures it.
func TestOtherColumns(t *testing.T) {
	two := textConfig(file(t, "two.conll", "the O\ndog B-X\n"))
	two.Columns, two.Template = "", ""
	three := textConfig(file(t, "three.conll", "the DT O\ndog NN B-X\n"))
	three.Template = ""
	for _, test := range []struct {
		c          config.Config
		text, says string
		labels     bool
	}{
		{three, "the O\ndog B-X\n", "as in --columns word=0,label=-1, and with --tagger MODEL what predicts pos", true},
		{three, "the DT x O\ndog NN x B-X\n", "if what is named is there, say so with --columns word=0,pos=1,label=-1", true},
		{two, "the DT O\ndog NN B-X\n", "if what is named is there, say so with --columns word=0,label=-1", false},
		{two, "the DT\ndog NN\n", "training saw neither label", true},
		{two, "the cat sat on mats\n", "it looks like raw text", true},
	} {
		m, _ := attributeModel(t, test.c)
		_, err := m.ReadData(Request{Path: file(t, "x.conll", test.text), Labels: test.labels})
		if !structured.IsBadInput(err) || !strings.Contains(err.Error(), test.says) || strings.Contains(test.says, "raw") && strings.Contains(err.Error(), "--columns") {
			t.Errorf("%q: %v, expected %q", test.text, err, test.says)
		}
	}
	m, _ := attributeModel(t, two)
	for text, refused := range map[string]bool{"the DT\ndog NN\n": true, "the O\ndog O\n": false, "the _\ndog _\n": false, "the DT\ndog O\n": false, "the O\ndog S-Y\n": false, "the U-X\ndog L-X\n": false} {
		var out bytes.Buffer
		into := predictions.Options{Into: "label"}
		err := m.PredictText(t.Context(), strings.NewReader(text), &out, Request{Path: "x"}, into, false)
		d, wholeErr := m.ReadData(Request{Path: file(t, "x.conll", text)})
		if wholeErr == nil {
			wholeErr = m.Print(t.Context(), d, &out, into, false)
		}
		if !slices.Equal([]bool{structured.IsBadInput(err), structured.IsBadInput(wholeErr)}, []bool{refused, refused}) {
			t.Errorf("into %q: %v; whole: %v", text, err, wholeErr)
		}
	}
}
