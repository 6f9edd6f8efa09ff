package rawtext

import (
	"strings"
	"testing"

	"github.com/dsp-go/dsp/models/data/tokens"
)

// A whole text is divided into as many parts as asked for, or as there are chunks: they are the text, none is empty,
// and each says where it begins. Of chunks of one size no two parts differ by more than one.
func TestInParts(t *testing.T) {
	for _, chunks := range []int{0, 1, 2, 3, 7, 12} {
		for parts := 1; parts <= 5; parts++ {
			k := 0
			next := inParts(func() (tokens.Chunk, bool, error) {
				if k == chunks {
					return tokens.Chunk{}, false, nil
				}
				k++
				return tokens.Chunk{Text: strings.Repeat(string(rune('a'+k)), 3), Start: 3 * (k - 1), Line: k}, true, nil
			}, parts)
			text, count, least, most := "", 0, 100, 0
			for {
				p, more, err := next()
				if err != nil {
					t.Fatal(err)
				}
				if !more {
					break
				}
				if p.Start != len(text) || p.Line != 1+len(text)/3 {
					t.Errorf("%d chunks in %d parts: %+v behind %q", chunks, parts, p, text)
				}
				text += p.Text
				count, least, most = count+1, min(least, len(p.Text)), max(most, len(p.Text))
			}
			if count != min(chunks, parts) || len(text) != 3*chunks || count > 0 && (least == 0 || most-least > 3) {
				t.Errorf("%d chunks in %d parts: %d parts of %d to %d letters, in all %q", chunks, parts, count, least, most, text)
			}
		}
	}
}
