package structured

import "math"

// Extent measures a data set of text, so that the memory for a whole file can be predicted from its beginning.
type Extent struct {
	Sequences, Positions       float64
	Columns                    float64 // text columns
	Entries                    float64 // attributes of all positions and steps, with repetitions
	EntryBytes                 float64 // bytes per entry: 4, or 8 with values
	Attributes, EdgeAttributes float64 // distinct attributes, which have weights
	Characters                 float64 // of all words
	Names, NameBytes           float64 // strings that are kept in memory, and their bytes
	Labels                     float64
}

// Extent measures d.
func (d *Dataset) Extent() Extent {
	e := Extent{Sequences: float64(d.Len()), Positions: float64(d.Positions()), Columns: float64(len(d.Columns)),
		EntryBytes: 4}
	if d.Alphabet != nil {
		e.Labels = float64(d.Alphabet.Len())
	}
	for _, s := range []*Sparse{d.Attributes, d.EdgeAttributes} {
		if s != nil {
			e.Entries += float64(len(s.Index))
			if s.Value != nil {
				e.EntryBytes = 8
			}
		}
	}
	if d.Characters != nil {
		e.Characters = float64(len(d.Characters.Ids))
	}
	count := func(names []string) {
		e.Names += float64(len(names))
		for _, name := range names {
			e.NameBytes += float64(len(name))
		}
	}
	if d.Dictionary != nil {
		e.Attributes, e.EdgeAttributes = float64(d.Dictionary.Nodes()), float64(d.Dictionary.Edges())
		for _, a := range []*Alphabet{d.Dictionary.Node, d.Dictionary.Edge} {
			if a != nil {
				count(a.Names())
			}
		}
		if d.Dictionary.Node == nil {
			e.Attributes = 0 // hashing fixes their number
		}
	}
	for _, column := range d.Columns {
		distinct := map[string]bool{}
		for _, cell := range column {
			if !distinct[cell] {
				distinct[cell] = true
				e.Names++
				e.NameBytes += float64(len(cell))
			}
		}
	}
	return e
}

// Divided returns the extent of what each of n processes has that divide text and attributes among themselves.
func (e Extent) Divided(n int) Extent {
	e.Columns, e.Entries = e.Columns/float64(n), e.Entries/float64(n)
	return e
}

// heaps is the exponent in Heaps' law: the number of distinct words and attributes grows as this power of a text's
// length. On English web text with the built-in features it measures 0.6 to 0.75.
const heaps = 0.7

// Times returns the extent of a text k times as long, assuming that it continues in the same way.
func (e Extent) Times(k float64) Extent {
	distinct := math.Pow(k, heaps)
	e.Sequences, e.Positions, e.Entries = e.Sequences*k, e.Positions*k, e.Entries*k
	e.Attributes, e.EdgeAttributes = e.Attributes*distinct, e.EdgeAttributes*distinct
	e.Characters *= k
	e.Names, e.NameBytes = e.Names*distinct, e.NameBytes*distinct
	return e
}

// Bytes estimates the memory that reading the data takes at its peak, when two copies of the attributes exist.
func (e Extent) Bytes() float64 {
	const name = 16 + 8 + 14 // a string's header, the rounding of its bytes, and its entry in an alphabet
	perPosition := 4 + 8 + 16*e.Columns
	return 16*e.Sequences + perPosition*e.Positions + 2*(8*e.Positions+e.EntryBytes*e.Entries) + name*e.Names +
		e.NameBytes + 4*e.Characters
}

// Weights returns how many weights a linear scorer has: attributes × labels + step attributes × pairs of labels.
func (e Extent) Weights() float64 {
	return e.Attributes*e.Labels + (1+e.EdgeAttributes)*e.Labels*e.Labels
}
