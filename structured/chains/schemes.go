package chains

import (
	"slices"
	"strings"

	"github.com/dsp-go/dsp/structured"
)

// scheme is a way to mark entities by tags. A tag has a letter and a type; O is the tag outside entities.
type scheme struct {
	name string
	// The letters of the first, an inner and the last token of an entity of several tokens, and of an entity of one
	// token.
	letters string
	touches byte // the letter of the first token right behind an entity of the same type, if it has one of its own; else 0
	ends    bool // the letters tell where an entity ends
}

// schemes is the table of tag schemes. Ramshaw and Marcus (1995) wrote what is called iob1 today; iob2 is also called
// BIO, bioes IOBES, and bmewo BMEOW.
var schemes = []scheme{
	{"io", "IIII", 0, false},
	{"iob1", "IIII", 'B', false},
	{"iob2", "BIIB", 0, false},
	{"bioes", "BIES", 0, true},
	{"bilou", "BILU", 0, true},
	{"bmes", "BMES", 0, true},
	{"bmewo", "BMEW", 0, true},
}

// otherNames are what schemes of the table are called elsewhere.
var otherNames = map[string]string{
	"iob": "iob1", "bio": "iob2", "bio2": "iob2", "iobes": "bioes", "bieso": "bioes", "bmeso": "bmes", "bioul": "bilou",
	"bmeow": "bmewo", "bmweo": "bmewo",
}

// SchemeNamed returns the name in the table of a scheme that may be called otherwise, in letters of any case; another
// name comes back as it is.
func SchemeNamed(name string) string {
	lower := strings.ToLower(name)
	if other, ok := otherNames[lower]; ok {
		return other
	}
	if slices.Contains(Schemes(), lower) {
		return lower
	}
	return name
}

// Schemes returns the names of the tag schemes.
func Schemes() []string {
	var names []string
	for _, s := range schemes {
		names = append(names, s.name)
	}
	return names
}

// findScheme returns the scheme of a name, or bad input.
func findScheme(name string) (*scheme, error) {
	for k := range schemes {
		if schemes[k].name == name {
			return &schemes[k], nil
		}
	}
	names := Schemes()
	last := len(names) - 1
	return nil, structured.BadInput("tag scheme %q, expected %s or %s", name, strings.Join(names[:last], ", "),
		names[last])
}

// all returns the letters of all tags of the scheme.
func (s *scheme) all() string {
	var all []byte
	for _, letter := range append([]byte(s.letters), s.touches) {
		if letter > 0 && !slices.Contains(all, letter) {
			all = append(all, letter)
		}
	}
	return string(all)
}

// letter returns the letter of position t of a chunk. touching says that a chunk of the same type ends right before it.
func (s *scheme) letter(c chunk, t int, touching bool) byte {
	first, last := t == c.start, t == c.end-1
	switch {
	case first && touching && s.touches > 0:
		return s.touches
	case first && last:
		return s.letters[3]
	case first:
		return s.letters[0]
	case last:
		return s.letters[2]
	}
	return s.letters[1]
}

// parts maps the letters of all schemes to what they mean.
var parts = map[byte]byte{'B': 'B', 'I': 'I', 'M': 'I', 'E': 'E', 'L': 'E', 'S': 'S', 'U': 'S', 'W': 'S'}

// Spelling is how tags are written. The zero value writes B-PER and O.
type Spelling struct {
	Underscore bool // B_PER
	Behind     bool // the letter stands behind the type: PER-B
	Lower      bool // the letter is small: b-per, and o
	Capital    bool // but the tag outside entities is O

	Brackets bool // tags of bioes are written as (PER*, *, *) and (PER), and outside is *
	Star     bool // (PER*) in place of (PER)
	Typed    bool // *PER) in place of *), and (PER*PER)
}

// spellings are all of them, the usual one first.
var spellings = []Spelling{{}, {Lower: true}, {Underscore: true}, {Underscore: true, Lower: true}, {Behind: true},
	{Behind: true, Lower: true}, {Behind: true, Underscore: true}, {Behind: true, Underscore: true, Lower: true}}

func (s Spelling) separator() string {
	if s.Underscore {
		return "_"
	}
	return "-"
}

// outside returns the tag outside entities.
func (s Spelling) outside() string {
	if s.Brackets {
		return "*"
	}
	if s.Lower && !s.Capital {
		return "o"
	}
	return "O"
}

// write returns a tag; a type may be empty.
func (s Spelling) write(letter byte, typ string) string {
	if s.Brackets {
		return s.writeBracket(letter, typ)
	}
	text := string(letter)
	if s.Lower {
		text = strings.ToLower(text)
	}
	switch {
	case typ == "":
		return text
	case s.Behind:
		return typ + s.separator() + text
	}
	return text + s.separator() + typ
}

// read returns the letter, in capitals, and the type of a tag; joined says that a separator is between them. Letter 'O'
// is outside, 0 no tag.
func (s Spelling) read(name string) (letter byte, typ string, joined bool) {
	text := name
	if s.Behind {
		if at := strings.LastIndex(name, s.separator()); at >= 0 {
			typ, text, joined = name[:at], name[at+1:], true
		}
	} else {
		text, typ, joined = strings.Cut(name, s.separator())
	}
	if len(text) != 1 {
		return 0, "", false
	}
	letter = text[0]
	switch {
	case !joined && (text == "O" || text == s.outside()):
		return 'O', "", false
	case !joined && s != Spelling{}:
		return 0, "", false
	case s.Lower && letter >= 'a':
		letter -= 'a' - 'A'
	case s.Lower:
		return 0, "", false
	}
	if _, known := parts[letter]; !known && letter != 'O' {
		return 0, "", false
	}
	return letter, typ, joined
}

// SchemeConstraints forbids the starts, ends and transitions that a scheme does not allow. In "iob2", I-x must follow
// B-x or I-x. In "bioes" and its like, I-x and E-x must follow B-x or I-x, and I-x or E-x must follow B-x and I-x. In
// "iob1" (Ramshaw and Marcus 1995), where I-x may start a chunk, B-x must follow B-x or I-x. "io" forbids nothing. The
// alphabet's labels must be tags of that scheme. (Gold labels may break their scheme: see Constraints.Allows.)
func SchemeConstraints(labels *structured.Alphabet, scheme string) (*Constraints, error) {
	of, err := findScheme(scheme)
	if err != nil {
		return nil, err
	}
	s := parseTags(labels)
	switch {
	case s == nil:
		return nil, structured.BadInput("tag scheme %s needs labels like O, B-x, I-x; found %s", scheme,
			structured.SomeOf(labels.Names()))
	case !of.ends && s.ends:
		return nil, structured.BadInput("tag scheme %s has no labels like E-x and S-x, found %s; is it bioes?", scheme,
			structured.SomeOf(labels.Names()))
	}
	y := labels.Len()
	c := &Constraints{Start: make([]bool, y), End: make([]bool, y), Transition: make([]bool, y*y)}
	// A tag is inside if it continues a chunk, late if a chunk must precede it, and open if the next tag must continue
	// its chunk.
	inside := func(t tag) bool { return t.part == 'I' || t.part == 'E' }
	late := func(t tag) bool {
		if of.touches > 0 {
			return t.part == of.touches
		}
		return of.name != "io" && inside(t)
	}
	open := func(t tag) bool { return of.ends && (t.part == 'B' || t.part == 'I') }
	for to, cur := range s.tags {
		c.Start[to] = late(cur)
		c.End[to] = open(cur)
		for from, prev := range s.tags {
			unfinished := strings.IndexByte("BI", prev.part) >= 0 && prev.typ == cur.typ
			c.Transition[from*y+to] = late(cur) && !unfinished || open(prev) && !(unfinished && inside(cur))
		}
	}
	return c, nil
}
