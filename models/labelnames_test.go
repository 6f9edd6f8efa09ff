package models

import (
	"strings"
	"testing"

	"github.com/dsp-go/dsp/models/config"
	"github.com/dsp-go/dsp/structured"
)

// Labels to train on are UTF-8: in the file of a model, which is JSON, others would become labels that no file has. The
// refusal names the line of the first.
func TestLabelsAreUTF8(t *testing.T) {
	for _, test := range []struct {
		name, task, text, line string
		set                    func(c *config.Config)
	}{
		{"x.conll", "tag", "a O\n\nb O\nc B-\xe9\n", ":4: ", nil},
		{"x.conll", "tag", "a O\n\nb B-A\n# c\n\nc B-\xe9\n", ":6: ", func(c *config.Config) { c.Structure = "segments" }},
		{"x.conll", "tag", "a O\n\nb B-A|B-\xe9\n", ": ", func(c *config.Config) { c.Partial = true }},
		{"x.crfsuite", "tag", "O\ta\n\xe9\tb\n", ":2: ", nil},
		{"x.conllu", "parse", goodTree + strings.Replace(goodTree, "dep", "d\xe9p", 1), ":4: ", nil},
		{"x.conllu", "tag", goodTree + strings.Replace(goodTree, "X", "\xe9", 1), ":4: ", func(c *config.Config) { c.Label = "upos" }},
		{"x.brackets", "constituency", "(S (NN a) (VB b))\n(S (N\xe9 (NN a) (NN c)) (VB b))\n", ":2, position 0: ", nil},
	} {
		for latin1, line := range map[string]string{"\xe9": test.line, "é": ""} {
			c := config.Default()
			c.Task, c.Train = test.task, file(t, test.name, strings.ReplaceAll(test.text, "\xe9", latin1))
			if test.set != nil {
				test.set(&c)
			}
			r, err := Resolve(c)
			if err == nil {
				_, err = r.Read()
			}
			switch {
			case line == "" && err != nil:
				t.Errorf("%q in UTF-8: %v", test.text, err)
			case line != "" && (!structured.IsBadInput(err) || !strings.HasPrefix(err.Error(), c.Train+line) || !strings.Contains(err.Error(), `" is not UTF-8`)):
				t.Errorf("%q: %v, want line %s", test.text, err, line)
			}
		}
	}
}
