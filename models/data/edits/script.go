// Package edits describes how one word is made of another by scripts: change the case, keep a piece, put letters around
// it. Scripts are labels that a tagger can learn: lemmas of words, and the words of tokens that are written as one.
package edits

import (
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/dsp-go/dsp/structured"
)

// Case says how a script changes the case of letters.
type Case int

// The cases. Title and Upper change the result, after the letters around the piece are added to the word in lower case.
const (
	Lower Case = iota // of the word in lower case
	Keep              // of the word as it is written
	Title             // the first letter of the result is a capital, the others are not
	Upper             // all letters of the result are capitals
	cases
)

var caseNames = [cases]string{"lower", "keep", "title", "upper"}

// Bound is a place between the letters of a word.
type Bound struct {
	Letters int  // before it or, if Back, behind it
	Back    bool // counted from the end
}

// at returns the place in a word of n letters; false if the word is too short.
func (b Bound) at(n int) (int, bool) {
	if b.Back {
		return n - b.Letters, b.Letters <= n
	}
	return b.Letters, b.Letters <= n
}

// Script makes a word of another one: Before, the letters of the word from From to To, then After. A literal one is
// just Before.
type Script struct {
	Case          Case
	Literal       bool
	From, To      Bound
	Before, After string
}

// Literal returns the script that makes a word of any other.
func Literal(word string) Script { return Script{Literal: true, Before: word} }

// Apply makes a word; false if form is too short for the script, or nothing would be left.
func (s Script) Apply(form string) (string, bool) {
	if s.Literal {
		return s.Before, s.Before != ""
	}
	if s.Case != Keep {
		form = strings.ToLower(form)
	}
	letters := []rune(form)
	from, ok := s.From.at(len(letters))
	to, too := s.To.at(len(letters))
	if !ok || !too || from > to {
		return "", false
	}
	word := s.Before + string(letters[from:to]) + s.After
	switch s.Case {
	case Title:
		word = title(word)
	case Upper:
		word = strings.ToUpper(word)
	}
	return word, word != ""
}

// title makes the first letter a capital.
func title(word string) string {
	first, size := utf8.DecodeRuneInString(word)
	if size == 0 || first == utf8.RuneError {
		return word
	}
	return string(unicode.ToUpper(first)) + word[size:]
}

// String returns the script as Parse reads it. It has no white space: "lower:0:-1::e" is the word in lower case without
// its last letter, with an e behind it, and "=be" is literal.
func (s Script) String() string {
	if s.Literal {
		return "=" + escape(s.Before)
	}
	return caseNames[s.Case] + ":" + s.From.text() + ":" + s.To.text() + ":" + escape(s.Before) + ":" + escape(s.After)
}

func (b Bound) text() string {
	if b.Back {
		return "-" + strconv.Itoa(b.Letters)
	}
	return strconv.Itoa(b.Letters)
}

// Parse reads a script. Texts that are none are bad input.
func Parse(text string) (Script, error) {
	bad := func() (Script, error) {
		return Script{}, structured.BadInput("%q is not an edit script such as lower:0:-1::e or =be", text)
	}
	if !utf8.ValidString(text) {
		return bad()
	}
	if literal, ok := strings.CutPrefix(text, "="); ok {
		word, ok := unescape(literal)
		if !ok {
			return bad()
		}
		return Literal(word), nil
	}
	fields := strings.Split(text, ":")
	if len(fields) != 5 {
		return bad()
	}
	var s Script
	found, ok := false, [4]bool{}
	for c, name := range caseNames {
		if name == fields[0] {
			s.Case, found = Case(c), true
		}
	}
	s.From, ok[0] = bound(fields[1])
	s.To, ok[1] = bound(fields[2])
	s.Before, ok[2] = unescape(fields[3])
	s.After, ok[3] = unescape(fields[4])
	if !found || ok != [4]bool{true, true, true, true} {
		return bad()
	}
	return s, nil
}

func bound(text string) (Bound, bool) {
	digits, back := strings.CutPrefix(text, "-")
	n, err := strconv.Atoi(digits)
	return Bound{n, back}, err == nil && n >= 0 && strconv.Itoa(n) == digits
}

// special reports whether a letter is written as its number in a script: white space, and the signs that scripts and
// rules are made of.
func special(r rune) bool {
	return r == ':' || r == '|' || r == '%' || unicode.IsSpace(r) || unicode.IsControl(r)
}

func escape(text string) string {
	if strings.IndexFunc(text, special) < 0 {
		return text
	}
	var to strings.Builder
	for _, r := range text {
		if special(r) {
			to.WriteString("%" + strconv.FormatInt(int64(r), 16) + "%")
		} else {
			to.WriteRune(r)
		}
	}
	return to.String()
}

func unescape(text string) (string, bool) {
	if !strings.Contains(text, "%") {
		return text, true
	}
	var to strings.Builder
	for k, part := range strings.Split(text, "%") {
		if k%2 == 0 {
			to.WriteString(part)
			continue
		}
		n, err := strconv.ParseUint(part, 16, 21)
		if err != nil || !utf8.ValidRune(rune(n)) {
			return "", false
		}
		to.WriteRune(rune(n))
	}
	return to.String(), strings.Count(text, "%")%2 == 0
}
