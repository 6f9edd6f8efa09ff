package chains

import (
	"slices"

	"github.com/dsp-go/dsp/structured"
)

// ConvertScheme rewrites the entity tags of d in another scheme: iob1, iob2 or bioes. It reads the chunks by conlleval's rules,
// which understand all three schemes and accept any sequence: I-x after anything but x starts a chunk. d gets the alphabet
// labels, which must contain the tags that occur. If labels is nil, the alphabet holds all tags of the scheme for the entity
// types of d. Columns keep the text of the file.
func ConvertScheme(d *structured.Dataset, to string, labels *structured.Alphabet) error {
	if to != "iob1" && to != "iob2" && to != "bioes" {
		return structured.BadInput("tag scheme %q, expected %s", to, schemes)
	}
	s := parseTags(d.Alphabet)
	if s == nil {
		return structured.BadInput("%s: tag scheme %s needs labels like O, B-x, I-x; found %s", d.Name, to, structured.SomeOf(d.Alphabet.Names()))
	}
	if labels == nil {
		labels = s.alphabet(to)
	}
	converted := make([]int32, len(d.Labels))
	var chunks []chunk
	for i := range d.Len() {
		row := converted[d.Offsets[i]:d.Offsets[i+1]]
		for t := range row {
			row[t] = labels.Index("O")
		}
		chunks = s.chunks(chunks[:0], d.Gold(i))
		for k, c := range chunks {
			touching := k > 0 && chunks[k-1].end == c.start && chunks[k-1].typ == c.typ
			for t := c.start; t < c.end; t++ {
				row[t] = labels.Index(tagName(partOf(to, c, t, touching), s.types.Name(c.typ)))
			}
		}
		if t := slices.Index(row, -1); t >= 0 {
			return structured.BadInput("%s: %s is none of the known labels in the scheme %s: %s",
				d.WhereToken(i, t), d.Alphabet.Name(d.Gold(i)[t]), to, structured.SomeOf(labels.Names()))
		}
	}
	d.Labels, d.Alphabet = converted, labels
	return nil
}

// Converter writes tags in another scheme.
type Converter struct {
	from *tagset
	to   string
}

// NewConverter returns a converter of the tags labels to a scheme: iob1, iob2 or bioes.
func NewConverter(labels *structured.Alphabet, to string) (*Converter, error) {
	if to != "iob1" && to != "iob2" && to != "bioes" {
		return nil, structured.BadInput("tag scheme %q, expected %s", to, schemes)
	}
	s := parseTags(labels)
	if s == nil {
		return nil, structured.BadInput("tag scheme %s needs labels like O, B-x, I-x; the model's are %s", to, structured.SomeOf(labels.Names()))
	}
	return &Converter{s, to}, nil
}

// Names returns the tags of a sequence in the scheme. It reads them as ConvertScheme does.
func (c *Converter) Names(tags []int32) []string {
	row := make([]string, len(tags))
	for t := range row {
		row[t] = "O"
	}
	var before chunk
	for k, x := range c.from.chunks(nil, tags) {
		touching := k > 0 && before.end == x.start && before.typ == x.typ
		for t := x.start; t < x.end; t++ {
			row[t] = tagName(partOf(c.to, x, t, touching), c.from.types.Name(x.typ))
		}
		before = x
	}
	return row
}

// partOf returns the tag letter of position t of a chunk. touching says that a chunk of the same type ends right before it.
func partOf(scheme string, c chunk, t int, touching bool) byte {
	first, last := t == c.start, t == c.end-1
	switch {
	case scheme == "bioes" && first && last:
		return 'S'
	case scheme == "bioes" && last:
		return 'E'
	case first && (scheme != "iob1" || touching):
		return 'B'
	}
	return 'I'
}

// alphabet returns all tags of a scheme, sorted.
func (s *tagset) alphabet(scheme string) *structured.Alphabet {
	parts := "BI"
	if scheme == "bioes" {
		parts = "BIES"
	}
	names := []string{"O"}
	for _, typ := range s.types.Names() {
		for k := range len(parts) {
			names = append(names, tagName(parts[k], typ))
		}
	}
	return structured.NewAlphabet(slices.Sorted(slices.Values(names))...)
}

func tagName(part byte, typ string) string {
	if typ == "" {
		return string(part)
	}
	return string(part) + "-" + typ
}

// CheckScheme returns a bad-input error about the first gold label of d that breaks a scheme (iob1, iob2 or bioes), or nil.
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
