package chains

import (
	"strings"

	"github.com/dsp-go/dsp/structured"
)

// schemes lists the tag schemes, for messages.
const schemes = "iob1, iob2 or bioes"

// SchemeConstraints forbids the starts, ends and transitions that a scheme does not allow. In "iob2", I-x must follow B-x or
// I-x. In "bioes", I-x and E-x must follow B-x or I-x, and I-x or E-x must follow B-x and I-x. In "iob1" (Ramshaw and Marcus
// 1995), where I-x may start a chunk, B-x must follow B-x or I-x. The alphabet's labels must be tags of that scheme. (Gold
// labels may break their scheme: see Constraints.Allows.)
func SchemeConstraints(labels *structured.Alphabet, scheme string) (*Constraints, error) {
	s := parseTags(labels)
	switch {
	case scheme != "iob1" && scheme != "iob2" && scheme != "bioes":
		return nil, structured.BadInput("tag scheme %q, expected %s", scheme, schemes)
	case s == nil:
		return nil, structured.BadInput("tag scheme %s needs labels like O, B-x, I-x; found %s", scheme, structured.SomeOf(labels.Names()))
	case scheme != "bioes" && s.ends:
		return nil, structured.BadInput("tag scheme %s has no labels like E-x and S-x, found %s; is it bioes?", scheme, structured.SomeOf(labels.Names()))
	}
	y := labels.Len()
	c := &Constraints{Start: make([]bool, y), End: make([]bool, y), Transition: make([]bool, y*y)}
	// A tag is inside if it continues a chunk, late if a chunk must precede it, and open if the next tag must continue its chunk.
	inside := func(t tag) bool { return t.part == 'I' || t.part == 'E' }
	late := func(t tag) bool { return scheme == "iob1" && t.part == 'B' || scheme != "iob1" && inside(t) }
	open := func(t tag) bool { return scheme == "bioes" && (t.part == 'B' || t.part == 'I') }
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
