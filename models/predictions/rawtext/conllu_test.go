package rawtext

import (
	"strconv"
	"strings"
	"testing"

	"github.com/dsp-go/dsp/models/data/tokens"
	"github.com/dsp-go/dsp/models/data/treebank"
)

// Sentences in CoNLL-U say where their tokens are and which no white space follows: from these, and the text of the
// comment, the raw text comes back.
func TestConlluOfRawText(t *testing.T) {
	for _, raw := range []string{"Hello, world! This is it.\n\nÜber  uns (ja).", "a", "a ",
		"One two.Three", "x\u00a0y z."} {
		all, runes := tokens.Rules{Splitter: tokens.Unicode{}}.Split(raw), []rune(raw)
		for _, start := range []int{0, 7} {
			text := string(conllu(all, runes, start))
			b, err := treebank.Reader{Unlabeled: true, Threads: 1}.Read(strings.NewReader(text), "x")
			if err != nil {
				t.Fatalf("%q: %v", text, err)
			}
			if b.Len() != len(all) {
				t.Errorf("%q: %d sentences, want %d", raw, b.Len(), len(all))
			}
			lines := strings.Split(text, "\n")
			at := 0
			for _, s := range all {
				line := ""
				for k, token := range s.Tokens {
					if got := string(runes[token.Start:token.End]); got != token.Text {
						t.Fatalf("%q: %q is at the place of %q", raw, got, token.Text)
					}
					line += token.Text
					if k+1 < len(s.Tokens) && s.Tokens[k+1].Start > token.End {
						line += " "
					}
				}
				if want := "# text = " + line; lines[at] != want {
					t.Errorf("%q, want %q", lines[at], want)
				}
				for k, token := range s.Tokens {
					fields := strings.Split(lines[at+1+k], "\t")
					rest := string(runes[token.End:])
					joined := rest != "" && strings.TrimLeft(rest, " \n\t\u00a0") == rest
					if k+1 < len(s.Tokens) {
						joined = s.Tokens[k+1].Start == token.End
					}
					if len(fields) != 10 || fields[0] != itoa(k+1) || fields[1] != token.Text ||
						strings.Contains(fields[9], "SpaceAfter=No|") != joined ||
						!strings.HasSuffix(fields[9], "TokenRange="+itoa(start+token.Start)+":"+itoa(start+token.End)) {
						t.Errorf("%q: token %d is %q", raw, k, fields)
					}
				}
				at += len(s.Tokens) + 2
			}
		}
	}
}

func itoa(n int) string { return strconv.Itoa(n) }
