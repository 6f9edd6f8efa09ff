package chains

import (
	"slices"

	"github.com/dsp-go/dsp/structured"
)

// ConvertScheme rewrites the entity tags of d in another scheme of the table (Schemes). It reads the chunks by
// conlleval's rules, which understand all of them and accept any sequence: I-x after anything but x starts a chunk. d
// gets the alphabet labels, whose spelling it takes; tags that labels lacks come after these, in an alphabet of d's
// own. If labels is nil, the alphabet holds all tags of the scheme for the entity types of d. It returns the notation
// that d had. Columns keep the text of the file.
func ConvertScheme(d *structured.Dataset, to string, labels *structured.Alphabet) (Notation, error) {
	of, err := findScheme(to)
	if err != nil {
		return Notation{}, err
	}
	s := parseTags(d.Alphabet)
	if s == nil {
		return Notation{}, structured.BadInput("%s: tag scheme %s needs labels like O, B-x, I-x; found %s", d.Name, to,
			structured.SomeOf(d.Alphabet.Names()))
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

// Touching returns how many entities of d begin where another one of their type ends, which the scheme io does not tell
// apart, and the place of the first: file and line.
func Touching(d *structured.Dataset) (count int, first string) {
	s := parseTags(d.Alphabet)
	if s == nil {
		return 0, ""
	}
	var all []chunk
	for i := range d.Len() {
		all = s.chunks(all[:0], d.Gold(i))
		for k := 1; k < len(all); k++ {
			if all[k-1].end != all[k].start || all[k-1].typ != all[k].typ {
				continue
			}
			if count++; first == "" {
				first = d.WhereToken(i, all[k].start)
			}
		}
	}
	return count, first
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
		return nil, structured.BadInput("tag scheme %s needs labels like O, B-x, I-x; the model's are %s", to,
			structured.SomeOf(labels.Names()))
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

// Tags returns all tags that c may write.
func (c *Converter) Tags() *structured.Alphabet {
	spelt := *c.from
	spelt.spelling = c.spelling
	return spelt.alphabet(c.to)
}

// Shares returns the probabilities [T×Y'] of the tags that c writes at each position, numbered as tags (Tags), if the
// tags that it reads are a chain with the probabilities node [T×Y] of tags, and edge [T×Y×Y] of steps, where row t is
// of the step from position t−1 to t. They are exact: given the tag of a position, the tags before it and those behind
// it are independent.
func (c *Converter) Shares(tags *structured.Alphabet, node, edge []float32) []float32 {
	from := c.from.tags
	y, z := len(from), tags.Len()
	outsideTag := int(tags.Index(c.spelling.outside()))
	number := make(map[[2]int32]int) // of a tag by its letter and type
	for k, typ := range c.from.types.Names() {
		for _, letter := range []byte(c.to.all()) {
			number[[2]int32{int32(letter), int32(k)}] = int(tags.Index(c.spelling.write(letter, typ)))
		}
	}
	length := len(node) / y
	shares := make([]float32, length*z)
	row := make([]float64, z)
	for t := range length {
		clear(row)
		for l, cur := range from {
			p := float64(node[t*y+l])
			if cur.part == 'O' {
				row[outsideTag] += p
				continue
			}
			if p == 0 {
				continue
			}
			var begins [2]float64 // a chunk, and one that touches another of its type
			for k, prev := range from {
				q := p
				if t > 0 {
					q = float64(edge[(t*y+k)*y+l])
				} else if prev = outside; k > 0 { // one is outside, before the first
					break
				}
				if startOfChunk(prev, cur) {
					begins[0] += q
					if prev.part != 'O' && prev.typ == cur.typ {
						begins[1] += q
					}
				}
			}
			ends := p
			if t < length-1 {
				ends = 0
				for k, next := range from {
					if endOfChunk(cur, next) {
						ends += float64(edge[((t+1)*y+l)*y+k])
					}
				}
			}
			begin, touch, end := min(1, begins[0]/p), min(1, begins[1]/p), min(1, ends/p)
			for _, place := range []struct {
				of    chunk // of which this is the position 1
				touch bool
				share float64
			}{
				{chunk{start: 0, end: 3}, false, (1 - begin) * (1 - end)}, {chunk{start: 0, end: 2}, false, (1 - begin) * end},
				{chunk{start: 1, end: 3}, false, (begin - touch) * (1 - end)},
				{chunk{start: 1, end: 2}, false, (begin - touch) * end},
				{chunk{start: 1, end: 3}, true, touch * (1 - end)}, {chunk{start: 1, end: 2}, true, touch * end},
			} {
				row[number[[2]int32{int32(c.to.letter(place.of, 1, place.touch)), cur.typ}]] += p * max(0, place.share)
			}
		}
		for k, p := range row {
			shares[t*z+k] = float32(p)
		}
	}
	return shares
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
				return structured.BadInput("%s: no labeling that the gold labels leave possible is one of the tag scheme %s",
					d.Where(i), scheme)
			}
			continue
		}
		for t, l := range gold {
			name := d.Alphabet.Name(l)
			switch {
			case t == 0 && c.Start[l]:
				return structured.BadInput("%s: %s starts a sequence, which the tag scheme %s does not allow",
					d.WhereToken(i, t), name, scheme)
			case t > 0 && c.Transition[int(gold[t-1])*y+int(l)]:
				return structured.BadInput("%s: %s after %s, which the tag scheme %s does not allow", d.WhereToken(i, t), name,
					d.Alphabet.Name(gold[t-1]), scheme)
			case t == len(gold)-1 && c.End[l]:
				return structured.BadInput("%s: %s ends a sequence, which the tag scheme %s does not allow",
					d.WhereToken(i, t), name, scheme)
			}
		}
	}
	return nil
}
