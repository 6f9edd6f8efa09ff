package chains

import (
	"slices"

	"github.com/dsp-go/dsp/structured"
)

// ConvertScheme rewrites the entity tags of d in another scheme of the table (Schemes). It reads the chunks by conlleval's rules,
// which understand all of them and accept any sequence: I-x after anything but x starts a chunk. d gets the alphabet
// labels, whose spelling it takes; tags that labels lacks come after these, in an alphabet of d's own. If labels is nil, the alphabet holds all tags of the scheme for the entity
// types of d. It returns the notation that d had. Columns keep the text of the file.
func ConvertScheme(d *structured.Dataset, to string, labels *structured.Alphabet) (Notation, error) {
	of, err := findScheme(to)
	if err != nil {
		return Notation{}, err
	}
	s := parseTags(d.Alphabet)
	if s == nil {
		return Notation{}, structured.BadInput("%s: tag scheme %s needs labels like O, B-x, I-x; found %s", d.Name, to, structured.SomeOf(d.Alphabet.Names()))
	}
	was, spelling := notationOf(d.Alphabet, d.Labels, d.Offsets), s.spelling
	if labels == nil {
		labels = s.alphabet(of)
	} else if known := parseTags(labels); known != nil {
		spelling = known.spelling
	}
	all := structured.NewAlphabet(labels.Names()...)
	converted := make([]int32, len(d.Labels))
	c := &Converter{from: s, to: of, spelling: spelling}
	for i := range d.Len() {
		for t, name := range c.Names(d.Gold(i)) {
			converted[d.Offsets[i]+t] = all.Add(name)
		}
	}
	if all.Len() == labels.Len() {
		all = labels
	}
	d.Labels, d.Alphabet = converted, all
	return was, nil
}

// Converter writes tags in another scheme.
type Converter struct {
	from     *tagset
	to       *scheme
	spelling Spelling
}

// NewConverter returns a converter of the tags labels to a scheme, spelt as they are.
func NewConverter(labels *structured.Alphabet, to string) (*Converter, error) {
	of, err := findScheme(to)
	if err != nil {
		return nil, err
	}
	s := parseTags(labels)
	if s == nil {
		return nil, structured.BadInput("tag scheme %s needs labels like O, B-x, I-x; the model's are %s", to, structured.SomeOf(labels.Names()))
	}
	return &Converter{s, of, s.spelling}, nil
}

// Spelt returns a converter that spells tags in another way.
func (c *Converter) Spelt(s Spelling) *Converter { return &Converter{c.from, c.to, s} }

// Names returns the tags of a sequence in the scheme. It reads them as ConvertScheme does.
func (c *Converter) Names(tags []int32) []string {
	row := make([]string, len(tags))
	for t := range row {
		row[t] = c.spelling.outside()
	}
	var before chunk
	for k, x := range c.from.chunks(nil, tags) {
		touching := k > 0 && before.end == x.start && before.typ == x.typ
		for t := x.start; t < x.end; t++ {
			row[t] = c.spelling.write(c.to.letter(x, t, touching), c.from.types.Name(x.typ))
		}
		before = x
	}
	return row
}

// alphabet returns all tags of a scheme, sorted.
func (s *tagset) alphabet(of *scheme) *structured.Alphabet {
	names := []string{s.spelling.outside()}
	for _, typ := range s.types.Names() {
		for _, letter := range []byte(of.all()) {
			names = append(names, s.spelling.write(letter, typ))
		}
	}
	return structured.NewAlphabet(slices.Sorted(slices.Values(names))...)
}

// CheckScheme returns a bad-input error about the first gold label of d that breaks a scheme, or nil.
func CheckScheme(d *structured.Dataset, scheme string) error {
	c, err := SchemeConstraints(d.Alphabet, scheme)
	if err != nil {
		return err
	}
	y := d.Alphabet.Len()
	for i := range d.Len() {
		gold := d.Gold(i)
		if d.Partial(i) {
			if !c.AllowsSome(d, i) {
				return structured.BadInput("%s: no labeling that the gold labels leave possible is one of the tag scheme %s", d.Where(i), scheme)
			}
			continue
		}
		for t, l := range gold {
			name := d.Alphabet.Name(l)
			switch {
			case t == 0 && c.Start[l]:
				return structured.BadInput("%s: %s starts a sequence, which the tag scheme %s does not allow", d.WhereToken(i, t), name, scheme)
			case t > 0 && c.Transition[int(gold[t-1])*y+int(l)]:
				return structured.BadInput("%s: %s after %s, which the tag scheme %s does not allow", d.WhereToken(i, t), name, d.Alphabet.Name(gold[t-1]), scheme)
			case t == len(gold)-1 && c.End[l]:
				return structured.BadInput("%s: %s ends a sequence, which the tag scheme %s does not allow", d.WhereToken(i, t), name, scheme)
			}
		}
	}
	return nil
}
