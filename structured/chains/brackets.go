package chains

import (
	"slices"
	"strings"

	"github.com/dsp-go/dsp/structured"
)

// Bracketed reports whether labels mark entities with brackets, as OntoNotes and the CoNLL tasks do: (X* opens an X, *)
// or *X) closes it, (X*), (X) or (X*X) is one of a single token, and * stands inside and outside. A label may open and
// close several.
func Bracketed(labels []string) bool { return bracketed(labels, false) }

// bracketed is Bracketed; among others that have entities, text without any, whose labels are *, is told as well.
func bracketed(labels []string, among bool) bool {
	opens := among && len(labels) > 0
	for _, label := range labels {
		b, ok := readBracket(label)
		if !ok {
			return false
		}
		opens = opens || len(b.opens) > 0
	}
	return opens
}

// bracket is a label of brackets: the types that it opens, the outer first, and those that it closes, the inner first,
// which may be empty.
type bracket struct {
	opens, closes []string
	star          bool
}

// readBracket splits a label of brackets; false if it is none.
func readBracket(label string) (b bracket, ok bool) {
	const marks = "()*"
	rest := label
	for strings.HasPrefix(rest, "(") {
		rest = rest[1:]
		end := strings.IndexAny(rest, marks)
		if end <= 0 {
			return bracket{}, false // no type, or nothing that tells an open bracket from another word
		}
		b.opens, rest = append(b.opens, rest[:end]), rest[end:]
	}
	rest, b.star = strings.CutPrefix(rest, "*")
	for rest != "" {
		end := strings.IndexAny(rest, marks)
		if end < 0 || rest[end] != ')' {
			return bracket{}, false
		}
		b.closes, rest = append(b.closes, rest[:end]), rest[end+1:]
	}
	return b, b.star || len(b.opens) > 0 && len(b.closes) > 0
}

// CheckBrackets returns bad input if the brackets of sentence i do not match, or one opens inside of another. The gold
// labels of d are brackets (Bracketed).
func CheckBrackets(d *structured.Dataset, i int) error {
	return entitiesIn(d, i, func(int, byte, string) {})
}

// entitiesIn calls visit for the positions of sentence i that are in an entity, with the letter of their tag in iob2.
func entitiesIn(d *structured.Dataset, i int, visit func(t int, letter byte, typ string)) error {
	inside, at := "", 0 // of an entity that is open, and where it opened
	for t, l := range d.Gold(i) {
		label := d.Alphabet.Name(l)
		b, _ := readBracket(label)
		if len(b.opens) > 1 || len(b.opens) > 0 && inside != "" {
			outer := inside
			if outer == "" {
				outer = b.opens[0]
			}
			return structured.BadInput("%s: %s opens inside of (%s*, expected * before its end: a label per token has no entities in others; "+
				"write the outer ones alone", d.WhereToken(i, t), label, outer)
		}
		for _, typ := range b.opens {
			visit(t, 'B', typ)
			inside, at = typ, t
		}
		if len(b.opens) == 0 && inside != "" {
			visit(t, 'I', inside)
		}
		for _, typ := range b.closes {
			switch {
			case inside == "":
				return structured.BadInput("%s: %s closes nothing, expected a label such as (PER* before it", d.WhereToken(i, t), label)
			case typ != "" && typ != inside:
				return structured.BadInput("%s: %s closes %s, expected the end of (%s*", d.WhereToken(i, t), label, typ, inside)
			}
			inside = ""
		}
	}
	if inside != "" {
		return structured.BadInput("%s: (%s* is open at the end of its sentence, expected *) behind it", d.WhereToken(i, at), inside)
	}
	return nil
}

// AreBrackets reports whether ReadBrackets will rewrite the gold labels of d.
func AreBrackets(d *structured.Dataset, among bool) bool {
	return d.LabelSets == nil && d.Alphabet != nil && bracketed(d.Alphabet.Names(), among)
}

// ReadBrackets rewrites gold labels that are brackets (Bracketed) as tags of the scheme iob2, and reports whether they
// were. Brackets that do not match, or that open inside of others, are bad input. With among, d is beside text that has
// entity tags, and * alone is outside of them. Columns keep the text of the file.
func ReadBrackets(d *structured.Dataset, among bool) (bool, error) {
	if !AreBrackets(d, among) {
		return false, nil
	}
	names := []string{Spelling{}.outside()}
	for i := range d.Len() {
		err := entitiesIn(d, i, func(_ int, letter byte, typ string) {
			if letter == 'B' {
				names = append(names, Spelling{}.write('B', typ), Spelling{}.write('I', typ))
			}
		})
		if err != nil {
			return false, err
		}
	}
	slices.Sort(names)
	tags := structured.NewAlphabet(slices.Compact(names)...)
	labels := slices.Repeat([]int32{tags.Index(Spelling{}.outside())}, len(d.Labels))
	for i := range d.Len() {
		_ = entitiesIn(d, i, func(t int, letter byte, typ string) { // which is well-formed
			labels[d.Offsets[i]+t] = tags.Index(Spelling{}.write(letter, typ))
		})
	}
	d.Labels, d.Alphabet = labels, tags
	return true, nil
}

// bracketNotation returns how labels of brackets (Bracketed) are written: as tags of bioes, which tell first and last
// tokens of entities.
func bracketNotation(labels []string) Notation {
	n := Notation{Scheme: "bioes", Spelling: Spelling{Brackets: true}}
	for _, label := range labels {
		b, _ := readBracket(label)
		n.Star = n.Star || b.star && len(b.opens) > 0 && len(b.closes) > 0
		n.Typed = n.Typed || slices.ContainsFunc(b.closes, func(typ string) bool { return typ != "" })
	}
	return n
}

// writeBracket returns the label of a token with a letter of bioes.
func (s Spelling) writeBracket(letter byte, typ string) string {
	open, star, closes := "("+typ, "*", ")"
	if s.Typed {
		closes = typ + ")"
	}
	switch letter {
	case 'B':
		return open + star
	case 'I':
		return star
	case 'E':
		return star + closes
	}
	if s.Star || s.Typed {
		return open + star + closes
	}
	return open + ")"
}
