package chains

import (
	"strings"

	"github.com/dsp-go/dsp/structured"
)

// Notation is a scheme of tags and their spelling.
type Notation struct {
	Scheme string // empty: unknown
	Spelling
}

// Has reports whether tags are those of the notation: of its spelling, with no letters but those of its scheme. Their
// order may break the scheme.
func (n Notation) Has(labels *structured.Alphabet) bool {
	of, err := findScheme(n.Scheme)
	s := parseTags(labels)
	if err != nil || s == nil || s.spelling != n.Spelling {
		return false
	}
	for letter := range s.letters {
		if letter != 'O' && strings.IndexByte(of.all(), letter) < 0 {
			return false
		}
	}
	return true
}

// NotationSaid returns the notation of labels that are said to be tags of a scheme. Labels that are no tags of it are
// bad input.
func NotationSaid(labels *structured.Alphabet, scheme string) (Notation, error) {
	of, err := findScheme(scheme)
	if err != nil {
		return Notation{}, err
	}
	n := Notation{Scheme: scheme}
	s := parseKnown(labels, true)
	if s != nil {
		n.Spelling = s.spelling
	}
	for _, name := range labels.Names() {
		switch letter, _, _ := n.read(name); {
		case letter == 'O':
		case s == nil:
			return Notation{}, structured.BadInput("tag scheme %s needs labels like O, %c-x; found %s",
				scheme, of.letters[0], name)
		case strings.IndexByte(of.all(), letter) < 0:
			return Notation{}, structured.BadInput("the label %s is no tag of the scheme %s, whose letters are %s", name, scheme,
				of.all())
		}
	}
	return n, nil
}

// NotationOf returns the notation that sequences of tags have, by the letters of the tags and by how entities begin.
// Its scheme is empty for labels that are no tags, and where nothing tells: iob1 and iob2 differ in the first tag of an
// entity that touches none of its type. Of both, one in ten may be a mistake; where more are, the parts of a file would
// differ. What may be io is iob1, which can say more. Stars alone are brackets without entities: who asks has tags to
// write. offsets are those of a data set.
func NotationOf(tags []string, offsets []int) Notation {
	names := structured.NewAlphabet()
	numbers := make([]int32, len(tags))
	for t, name := range tags {
		numbers[t] = names.Add(name)
	}
	if bracketed(names.Names(), true) {
		return bracketNotation(names.Names())
	}
	return notationOf(names, numbers, offsets)
}

// NotationOfData is NotationOf the gold labels of d.
func NotationOfData(d *structured.Dataset) Notation {
	return notationOf(d.Alphabet, d.Labels, d.Offsets)
}

// NotationOfLabels is NotationOf labels without sequences: B-x and I-x are iob2.
func NotationOfLabels(labels *structured.Alphabet) Notation {
	n := notationOf(labels, nil, nil)
	if n.Scheme == "" && EntityTags(labels) {
		n.Scheme = "iob2"
	}
	return n
}

func notationOf(names *structured.Alphabet, numbers []int32, offsets []int) Notation {
	s := parseTags(names)
	switch {
	case s == nil && Bracketed(names.Names()):
		return bracketNotation(names.Names())
	case s == nil:
		return Notation{}
	}
	n := Notation{Spelling: s.spelling}
	switch has := s.letters; {
	case has['W']:
		n.Scheme = "bmewo"
	case has['M'] || s.ends && !has['O'] && !has['I'] && s.types.Len() == 1 && s.types.Name(0) == "":
		n.Scheme = "bmes"
	case has['L'] || has['U']:
		n.Scheme = "bilou"
	case s.ends:
		n.Scheme = "bioes"
	default:
		n.Scheme = s.beginnings(numbers, offsets)
	}
	return n
}

// beginnings returns iob1 or iob2, by how entities begin, or "".
func (s *tagset) beginnings(numbers []int32, offsets []int) string {
	begun, inside := 0, 0 // entities behind none of their type, by their first tag
	for i := 0; i+1 < len(offsets) && len(numbers) > 0; i++ {
		before := outside
		for _, l := range numbers[offsets[i]:offsets[i+1]] {
			now := outside
			if l >= 0 { // not known for certain
				now = s.tags[l]
			}
			switch {
			case now.part == 'O' || now.typ == before.typ:
			case now.part == 'B':
				begun++
			default:
				inside++
			}
			before = now
		}
	}
	switch {
	case inside > 9*begun:
		return "iob1"
	case begun > 9*inside:
		return "iob2"
	}
	return ""
}
