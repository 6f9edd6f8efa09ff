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
	tags  []tag                // [Y]
	types *structured.Alphabet // the entity types
	ends  bool                 // some label is E-x or S-x: the scheme marks the ends of chunks
}

// parseTags parses the labels of a as tags: O, B-x, I-x, E-x, S-x, and BILOU's L-x and U-x, which mean E-x and S-x. The type
// is everything after the first hyphen; it may be missing. parseTags returns nil if some label is not a tag, or if the
// alphabet has neither O nor a hyphen, or no chunk.
func parseTags(a *structured.Alphabet) *tagset {
	s := &tagset{tags: make([]tag, a.Len()), types: structured.NewAlphabet()}
	outsides, hyphens := 0, 0
	for i, name := range a.Names() {
		part, typ, hyphen := strings.Cut(name, "-")
		if len(part) != 1 {
			return nil
		}
		if hyphen {
			hyphens++
		}
		switch part[0] {
		case 'O':
			s.tags[i] = outside
			outsides++
			continue
		case 'B', 'I', 'E', 'S':
			s.tags[i].part = part[0]
		case 'L':
			s.tags[i].part = 'E'
		case 'U':
			s.tags[i].part = 'S'
		default:
			return nil
		}
		s.ends = s.ends || s.tags[i].part == 'E' || s.tags[i].part == 'S'
		s.tags[i].typ = s.types.Add(typ)
	}
	if outsides+hyphens == 0 || s.types.Len() == 0 {
		return nil
	}
	return s
}

// EntityTags reports whether the labels are entity tags: O, B-x, I-x, E-x, S-x.
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

// strictChunks appends the well-formed chunks of a labeling: B-x I-x … in IOB2, and S-x or B-x I-x … E-x if the alphabet
// marks ends. Any other sequence is not a chunk (seqeval's strict mode; Nakayama 2018).
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
