package chains

import (
	"strings"
	"testing"
)

func TestNotationOf(t *testing.T) {
	for text, want := range map[string]string{
		"O I-x I-x B-x O": "iob1", "I-x": "iob1", "I-x I-y": "iob1", "O B-x I-x B-x O": "iob2",
		"B-x": "iob2", "B-x I-x | B-y": "iob2", "O S-x": "bioes", "B-x E-x O": "bioes", "B-x L-x": "bilou", "O U-x": "bilou",
		"B-x M-x E-x": "bmes", "O W-x": "bmewo", "B E S B E": "bmes", "B M E": "bmes", "o s-x": "bioes", "PER_B O": "iob2",
		"(x* * *) | *": "bioes", "* * | *": "bioes",
		"O O": "", "DT NN": "", "": "", "B-x | I-x": "", "I-x | B-x B-x | I-y": "",
	} {
		var tags []string
		offsets := []int{0}
		for sequence := range strings.SplitSeq(text, "|") {
			tags = append(tags, strings.Fields(sequence)...)
			offsets = append(offsets, len(tags))
		}
		if got := NotationOf(tags, offsets).Scheme; got != want {
			t.Errorf("%s: %q, expected %q", text, got, want)
		}
	}
}
