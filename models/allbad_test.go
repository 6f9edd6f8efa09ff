package models

import (
	"strings"
	"testing"

	"github.com/dsp-go/dsp/models/config"
	"github.com/dsp-go/dsp/structured"
)

// A file all of whose examples are left out is refused with the reason for its first one, whatever files stand before
// it. An empty file has no tokens.
func TestAllExamplesBad(t *testing.T) {
	for _, test := range []struct{ name, task, some, bad, reason string }{
		{"x.conll", "tag", "a O\n\nb B\n\na O\nb B B\n", "a O O\nb O\n\nc\n", "2: 2 columns, expected 3"},
		{"x.crfsuite", "tag", "O\ta\nB\tb\n\nO\tb:x\n", "O\ta:x\n\nB\tb:y\n", `1: attribute "a:x"`},
		{"x.conllu", "parse", goodTree + twoRoots, twoRoots + twoRoots, "2: word 2 is a second root"},
		{"x.brackets", "constituency", "(S (NN a) (VB b))\n(S (NN a b))\n", "(S (NN c d))\n(S (NN e f))\n", `1: found "d"`},
		{"x.pairs", "align", "a b ||| c ||| 0-0\nnone\n", "none\nleft\n", "1: "},
	} {
		for bad, says := range map[string]string{test.bad: ": every example is bad; the first: BAD:" + test.reason, "": "no tokens"} {
			c := config.Default()
			c.Task, c.Bad = test.task, SkipBad
			path := file(t, test.name, bad)
			c.Train = file(t, test.name, test.some) + "," + path
			r, err := Resolve(c)
			if err == nil {
				_, err = r.Read()
			}
			if want := strings.ReplaceAll(says, "BAD", path); !structured.IsBadInput(err) || !strings.HasPrefix(err.Error(), path+":") || !strings.Contains(err.Error(), want) {
				t.Errorf("%s, %q: %v, want %s", test.name, bad, err, want)
			}
		}
	}
}

const (
	goodTree = "1\ta\ta\tX\tX\t_\t2\tdep\t_\t_\n2\tb\tb\tX\tX\t_\t0\troot\t_\t_\n\n"
	twoRoots = "1\ta\ta\tX\tX\t_\t0\troot\t_\t_\n2\tb\tb\tX\tX\t_\t0\troot\t_\t_\n\n"
)
