package tokens

import (
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func TestUnicode(t *testing.T) {
	for text, want := range map[string]string{
		"John Smith doesn't live in  Rome, Italy.":      "John|Smith|does|n't|live|in|Rome|,|Italy|.",
		"Rome 's o'clock; we’ll can't N'T X'S 'tis 5's": "Rome|'s|o'clock|;|we|’ll|ca|n't|N'T|X|'S|'|tis|5|'s",
		"3.14 € (about 1,000)\n":                        "3.14|€|(|about|1,000|)",
		"Ein Größeres – „Haus“":                         "Ein|Größeres|–|„|Haus|“",
		" \t\n":                                         "",
		"":                                              "",
	} {
		var words []string
		for _, token := range (Unicode{}).Split(text) {
			words = append(words, token.Text)
		}
		if got := strings.Join(words, "|"); got != want {
			t.Errorf("%q: %s, expected %s", text, got, want)
		}
	}
}

// Offsets find the tokens in the text, and only invisible characters lie between them.
func TestOffsets(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.StringOf(rapid.SampledFrom([]rune("aé漢, .'\n1\u0301\u200d\u3000"))).Draw(t, "text")
		runes, at := []rune(text), 0
		for _, token := range (Unicode{}).Split(text) {
			if string(runes[token.Start:token.End]) != token.Text || token.Text == "" {
				t.Fatalf("%q: token %+v", text, token)
			}
			if strings.TrimFunc(string(runes[at:token.Start]), Invisible) != "" {
				t.Fatalf("%q: %q is in no token", text, string(runes[at:token.Start]))
			}
			at = token.End
		}
		if strings.TrimFunc(string(runes[at:]), Invisible) != "" {
			t.Fatalf("%q: %q is in no token", text, string(runes[at:]))
		}
	})
}
