package chains

import (
	"strings"

	"github.com/dsp-go/dsp/structured"
)

// A tag is a parsed entity label: its role at the chunk's boundary, and the chunk's type.
type tag struct {
	part byte // 'O' outside, 'B' begin, 'I' inside, 'E' end, 'S' single
	typ  int32
}

var outside = tag{part: 'O', typ: -1}

// tagset holds the labels of an alphabet as entity tags.
type tagset struct {
	tags     []tag                // [Y]
	types    *structured.Alphabet // the entity types
	ends     bool                 // some label is E-x or S-x: the scheme marks the ends of chunks
	letters  map[byte]bool        // that occur, O too
	spelling Spelling
}

// parseTags parses the labels of a as tags, in any scheme of the table and any spelling. The type may be missing.
// parseTags returns nil if the labels are no tags.
func parseTags(a *structured.Alphabet) *tagset { return parseKnown(a, false) }

// parseKnown is parseTags of labels that are known to be tags: letters alone are tags then, whatever they are.
func parseKnown(a *structured.Alphabet, known bool) *tagset {
	for _, spelling := range spellings {
		if s := parseAs(a, spelling, known); s != nil {
			return s
		}
	}
	return nil
}

// parseAs parses the labels of a as tags of a spelling. It returns nil if some label is not a tag, if there is no
// chunk, or, unless they are known to be tags, if letters alone could be anything: there must be O or a type, in other
// spellings than the usual one O, or else the letters of BMES.
func parseAs(a *structured.Alphabet, spelling Spelling, known bool) *tagset {
	s := &tagset{tags: make([]tag, a.Len()), types: structured.NewAlphabet(), letters: map[byte]bool{}, spelling: spelling}
	typed := false
	for i, name := range a.Names() {
		letter, typ, joined := spelling.read(name)
		if letter == 0 || spelling.Behind && joined && typ == "" {
			return nil
		}
		s.letters[letter], typed = true, typed || joined
		if letter == 'O' {
			s.tags[i], s.spelling.Capital = outside, spelling.Lower && name == "O"
			continue
		}
		s.tags[i] = tag{parts[letter], s.types.Add(typ)}
		s.ends = s.ends || s.tags[i].part == 'E' || s.tags[i].part == 'S'
	}
	has := func(letters string) bool {
		return strings.ContainsFunc(letters, func(r rune) bool { return s.letters[byte(r)] })
	}
	switch {
	case s.types.Len() == 0 || has("MW") && has("ILU"):
		return nil
	case known || has("O") || typed && spelling == Spelling{} || has("B") && has("E") && has("MSW"):
		return s
	}
	return nil
}

// EntityTags reports whether the labels are entity tags, such as O, B-x, I-x.
func EntityTags(labels *structured.Alphabet) bool { return parseTags(labels) != nil }

// EntityTypes returns the types of the entity tags, x in B-x; ok is false where the labels are no such tags.
func EntityTypes(labels *structured.Alphabet) (types []string, ok bool) {
	s := parseTags(labels)
	if s == nil {
		return nil, false
	}
	return s.types.Names(), true
}

// A chunk is an entity: positions start to end-1.
type chunk struct {
	start, end int
	typ        int32
}

// chunks appends the chunks of a labeling by conlleval's lenient rules: I-x after anything but x starts a chunk.
func (s *tagset) chunks(to []chunk, labels []int32) []chunk {
	prev, start := outside, -1
	for t := 0; t <= len(labels); t++ {
		cur := outside
		if t < len(labels) {
			cur = s.tags[labels[t]]
		}
		if start >= 0 && endOfChunk(prev, cur) {
			to = append(to, chunk{start, t, prev.typ})
			start = -1
		}
		if startOfChunk(prev, cur) {
			start = t
		}
		prev = cur
	}
	return to
}

// endOfChunk reports whether a chunk ends between two tags, by the rules of conlleval.pl (Tjong Kim Sang and Buchholz
// 2000), extended to BIOES: E always ends a chunk, and S is a chunk.
func endOfChunk(prev, cur tag) bool {
	switch prev.part {
	case 'O':
		return false
	case 'E', 'S':
		return true
	}
	return cur.part == 'B' || cur.part == 'S' || cur.part == 'O' || cur.typ != prev.typ
}

// startOfChunk reports whether a chunk starts with cur, by the same rules.
func startOfChunk(prev, cur tag) bool {
	switch cur.part {
	case 'O':
		return false
	case 'B', 'S':
		return true
	}
	return prev.part == 'O' || prev.part == 'E' || prev.part == 'S' || cur.typ != prev.typ
}

// strictIOB1 appends the well-formed chunks of a labeling in IOB1, as seqeval's strict mode does: I-x begins one, B-x
// only right behind x, and none ends where B-y of another type follows B-x.
func (s *tagset) strictIOB1(to []chunk, labels []int32) []chunk {
	at := func(t int) tag {
		if t < 0 || t >= len(labels) {
			return outside
		}
		return s.tags[labels[t]]
	}
	for t := 0; t < len(labels); t++ {
		prev, first := at(t-1), at(t)
		switch same := prev.typ == first.typ; {
		case first.part == 'I' && (prev.part != 'I' || !same), first.part == 'B' && prev.part != 'O' && same:
		default:
			continue
		}
		start := t
		for at(t+1) == (tag{'I', first.typ}) {
			t++
		}
		last, next := at(t), at(t+1)
		if last.part == 'I' || next.part != 'B' || next.typ == last.typ {
			to = append(to, chunk{start, t + 1, first.typ})
		}
	}
	return to
}

// strictChunks appends the well-formed chunks of a labeling: B-x I-x … in IOB2, and S-x or B-x I-x … E-x if the
// alphabet marks ends. Any other sequence is not a chunk (seqeval's strict mode; Nakayama 2018).
func (s *tagset) strictChunks(to []chunk, labels []int32) []chunk {
	for t := 0; t < len(labels); {
		first, start := s.tags[labels[t]], t
		t++
		if first.part == 'S' {
			to = append(to, chunk{start, t, first.typ})
		}
		if first.part != 'B' {
			continue
		}
		for t < len(labels) && s.tags[labels[t]] == (tag{'I', first.typ}) {
			t++
		}
		if s.ends {
			if t == len(labels) || s.tags[labels[t]] != (tag{'E', first.typ}) {
				continue
			}
			t++
		}
		to = append(to, chunk{start, t, first.typ})
	}
	return to
}
