package structured

import "math"

// Extent counts what a data set of text holds, so that the memory for a whole file can be told from its beginning.
type Extent struct {
	Sequences, Positions       float64
	Columns                    float64 // of text
	Entries                    float64 // attributes of all positions and steps
	EntryBytes                 float64 // of each: 4, and 4 more where there are values
	Attributes, EdgeAttributes float64 // different ones, that have weights
	Names, NameBytes           float64 // strings that are kept, and their bytes
	Labels                     float64
}

// Extent counts what d holds.
func (d *Dataset) Extent() Extent {
	e := Extent{Sequences: float64(d.Len()), Positions: float64(d.Positions()), Columns: float64(len(d.Columns)), EntryBytes: 4}
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
			e.Attributes = 0 // their number does not grow with the text
		}
	}
	for _, column := range d.Columns {
		different := map[string]bool{}
		for _, cell := range column {
			if !different[cell] {
				different[cell] = true
				e.Names++
				e.NameBytes += float64(len(cell))
			}
		}
	}
	return e
}

// heaps is the power of a text's length that the number of different words and attributes grows with (Heaps' law);
// measured on English web text with the built-in features, where it is 0.6 to 0.75.
const heaps = 0.7

// Times returns the extent of a text that goes on in the same way until it is k times as long.
func (e Extent) Times(k float64) Extent {
	different := math.Pow(k, heaps)
	e.Sequences, e.Positions, e.Entries = e.Sequences*k, e.Positions*k, e.Entries*k
	e.Attributes, e.EdgeAttributes = e.Attributes*different, e.EdgeAttributes*different
	e.Names, e.NameBytes = e.Names*different, e.NameBytes*different
	return e
}

// Bytes returns about how much memory the data take while they are read, when attributes are there twice.
func (e Extent) Bytes() float64 {
	const name = 16 + 8 + 14 // a string's header, the rounding of its bytes, and its entry in an alphabet
	perPosition := 4 + 8 + 16*e.Columns
	return 16*e.Sequences + perPosition*e.Positions + 2*(8*e.Positions+e.EntryBytes*e.Entries) + name*e.Names + e.NameBytes
}

// Weights returns how many weights a linear scorer has: attributes × labels, and attributes of steps × pairs of labels.
func (e Extent) Weights() float64 {
	return e.Attributes*e.Labels + (1+e.EdgeAttributes)*e.Labels*e.Labels
}
