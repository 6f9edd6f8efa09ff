package characters

import (
	"cmp"
	"strings"
	"unicode"

	"github.com/dsp-go/dsp/models/data/conllu"
)

// Form returns a piece of a text as the form of a token: without the white space around it, and with one space for
// white space inside it. Form feeds, line separators and the like inside it stay, because the shared task of CoNLL 2018
// takes them for characters of the token.
func Form(piece string) string {
	piece = strings.TrimFunc(piece, unicode.IsSpace)
	if !strings.ContainsFunc(piece, unicode.IsSpace) {
		return piece
	}
	var form strings.Builder
	for piece != "" {
		rest := strings.TrimLeftFunc(piece, unicode.IsSpace)
		if blank := piece[:len(piece)-len(rest)]; blank != "" {
			form.WriteString(cmp.Or(strings.Map(keepOdd, blank), " "))
		}
		end := strings.IndexFunc(rest, unicode.IsSpace)
		if end < 0 {
			end = len(rest)
		}
		form.WriteString(rest[:end])
		piece = rest[end:]
	}
	return form.String()
}

// keepOdd maps spaces, tabs and ends of lines to nothing.
func keepOdd(r rune) rune {
	if unicode.Is(unicode.Zs, r) || r == '\t' || r == '\n' || r == '\r' {
		return -1
	}
	return r
}

// Seen returns a form as models see it, in training and in prediction: its visible characters, one space for white
// space between them, and the joiners between letters, which many scripts spell words with. So forms that look alike
// are one. A form without visible characters is conllu.Empty.
func Seen(form string) string {
	hidden := func(r rune) bool { return !visible(r) }
	if !strings.ContainsFunc(form, hidden) {
		return form
	}
	form = strings.Map(func(r rune) rune {
		if visible(r) || unicode.IsSpace(r) || r == '\u200c' || r == '\u200d' {
			return r
		}
		return -1
	}, strings.TrimFunc(form, hidden))
	return cmp.Or(strings.Join(strings.FieldsFunc(form, unicode.IsSpace), " "), conllu.Empty)
}
