package treebank

import (
	"slices"
	"strings"
	"testing"

	"github.com/dsp-go/dsp/structured"
)

// What HEAD and DEPREL say in part becomes numbers and sets, and errors name the line.
func TestReadPartial(t *testing.T) {
	const sentence = "# text = a b c\n1\ta\t_\tX\t_\t_\t2|0\tdet\t_\t_\n2\tb\t_\tX\t_\t_\t_\tobj|det\t_\t_\n" +
		"3\tc\t_\tX\t_\t_\t1\t?\t_\t_\n\n"
	names := structured.NewAlphabet("det", "nsubj", "obj")
	read := func(text string) (*structured.Dataset, error) {
		b, err := Reader{Names: names, Unlabeled: true}.Read(strings.NewReader(text), "x.conllu")
		if err != nil {
			t.Fatal(err)
		}
		d := b.Dataset()
		return d, ReadPartial(d, names)
	}
	d, err := read(sentence + sentence)
	if err != nil {
		t.Fatal(err)
	}
	for i := range 2 {
		gold := d.GoldOf(i)
		var single [1]int32
		want := [][]int32{{0, 2}, nil, {1}, {0}, {0, 2}, nil}
		for k := range want {
			if got := gold.Possible(k, &single); !slices.Equal(got, want[k]) {
				t.Errorf("sentence %d, place %d: %v, want %v", i, k, got, want[k])
			}
		}
	}
	for changed, want := range map[string]string{
		strings.Replace(sentence, "2|0", "2|4", 1):       `x.conllu:2: head "4", expected`,
		strings.Replace(sentence, "\t1\t?", "\tx\t?", 1): `x.conllu:4: head "x", expected`,
		strings.Replace(sentence, "obj|det", "new", 1):   `x.conllu:3: relation "new", expected one of det`,
	} {
		if _, err := read(changed); err == nil || !structured.IsBadInput(err) || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want bad input with %q", err, want)
		}
	}
}
