package chains

import (
	"slices"
	"strings"

	"github.com/dsp-go/dsp/structured"
)

// Bracketed reports whether labels mark entities with brackets, as OntoNotes and CoNLL-2012 do, none inside another:
// (X* opens an X, *) closes it, (X*) or (X) is one of a single token, and * stands inside and outside.
func Bracketed(labels []string) bool { return bracketed(labels, false) }

// bracketed is Bracketed; among others that have entities, text without any, whose labels are *, is told as well.
func bracketed(labels []string, among bool) bool {
	opens := among && len(labels) > 0
	for _, label := range labels {
		_, open, _, ok := bracket(label)
		if !ok {
			return false
		}
		opens = opens || open
	}
	return opens
}

// bracket splits a label of brackets.
func bracket(label string) (typ string, opens, closes, ok bool) {
	rest, opens := strings.CutPrefix(label, "(")
	rest, closes = strings.CutSuffix(rest, ")")
	typ, star := strings.CutSuffix(rest, "*")
	ok = !strings.ContainsAny(typ, "()*") && (star || closes) && opens == (typ != "") && (star || opens)
	return typ, opens, closes, ok
}

// ReadBrackets rewrites gold labels that are brackets (Bracketed) as tags of the scheme iob2, and reports whether they
// were. Brackets that do not match are bad input. With among, d is beside text that has entity tags, and * alone is
// outside of them. Columns keep the text of the file.
func ReadBrackets(d *structured.Dataset, among bool) (bool, error) {
	if d.LabelSets != nil || !bracketed(d.Alphabet.Names(), among) {
		return false, nil
	}
	outside := Spelling{}.outside()
	names := []string{outside}
	for _, label := range d.Alphabet.Names() {
		if typ, opens, _, _ := bracket(label); opens {
			names = append(names, Spelling{}.write('B', typ), Spelling{}.write('I', typ))
		}
	}
	slices.Sort(names)
	tags := structured.NewAlphabet(slices.Compact(names)...)
	labels := make([]int32, len(d.Labels))
	for i := range d.Len() {
		inside, at := "", 0 // of an entity that is open, and where it opened
		for t, l := range d.Gold(i) {
			label := d.Alphabet.Name(l)
			typ, opens, closes, _ := bracket(label)
			tag := outside
			switch {
			case opens && inside != "":
				return false, structured.BadInput("%s: %s opens inside of (%s*, expected *) before it: entities "+
					"in others are not read",
					d.WhereToken(i, t), label, inside)
			case opens:
				tag, inside, at = Spelling{}.write('B', typ), typ, t
			case inside != "":
				tag = Spelling{}.write('I', inside)
			case closes:
				return false, structured.BadInput("%s: %s closes nothing, expected a label such as (PER* before it",
					d.WhereToken(i, t), label)
			}
			if closes {
				inside = ""
			}
			labels[d.Offsets[i]+t] = tags.Index(tag)
		}
		if inside != "" {
			return false, structured.BadInput("%s: (%s* is open at the end of its sentence, expected *) behind it",
				d.WhereToken(i, at), inside)
		}
	}
	d.Labels, d.Alphabet = labels, tags
	return true, nil
}
