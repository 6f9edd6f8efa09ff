package chains

import (
	"strings"

	"github.com/dsp-go/dsp/structured"
)

// schemes are the ways to write chunks as tags.
const schemes = "iob1, iob2 or bioes"

// SchemeConstraints forbids the starts, ends and transitions that are no well-formed tagging: in "iob2", I-x follows B-x
// or I-x; in "bioes", I-x and E-x follow B-x or I-x, and B-x and I-x are followed by I-x or E-x; in "iob1" (Ramshaw and
// Marcus 1995), where I-x begins a chunk too, B-x follows B-x or I-x. The alphabet's labels must be tags of that scheme.
// (Gold labels may break their scheme: see Constraints.Allows.)
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
	// A label is inside if it continues a chunk, late if it must have a chunk before it, and open if it must be continued.
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
