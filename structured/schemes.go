package structured

import "strings"

// SchemeConstraints forbids the starts, ends and transitions that are no well-formed tagging: in "iob2", I-x follows B-x
// or I-x; in "bioes", I-x and E-x follow B-x or I-x, and B-x and I-x are followed by I-x or E-x. The alphabet's labels
// must be tags of that scheme. (Gold labels may break their scheme: see Constraints.Allows.)
func SchemeConstraints(labels *Alphabet, scheme string) (*Constraints, error) {
	s := parseTags(labels)
	switch {
	case scheme != "iob2" && scheme != "bioes":
		return nil, BadInput("tag scheme %q, expected iob2 or bioes", scheme)
	case s == nil:
		return nil, BadInput("tag scheme %s needs labels like O, B-x, I-x; found %s", scheme, someOf(labels.Names()))
	case scheme == "iob2" && s.ends:
		return nil, BadInput("tag scheme iob2 has no labels like E-x and S-x, found %s; is it bioes?", someOf(labels.Names()))
	}
	y := labels.Len()
	c := &Constraints{Start: make([]bool, y), End: make([]bool, y), Transition: make([]bool, y*y)}
	// A label is inside if it continues a chunk, and open if it must itself be continued.
	inside := func(t tag) bool { return t.part == 'I' || t.part == 'E' }
	open := func(t tag) bool { return scheme == "bioes" && (t.part == 'B' || t.part == 'I') }
	for to, cur := range s.tags {
		c.Start[to] = inside(cur)
		c.End[to] = open(cur)
		for from, prev := range s.tags {
			continues := inside(cur) && strings.IndexByte("BI", prev.part) >= 0 && prev.typ == cur.typ
			c.Transition[from*y+to] = !continues && (inside(cur) || open(prev))
		}
	}
	return c, nil
}
