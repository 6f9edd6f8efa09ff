package inputs

// Counts are the numbers of attributes that a model knows, by what they belong to.
type Counts struct {
	Attributes     int `json:"attributes"`      // of positions
	EdgeAttributes int `json:"edge_attributes"` // of transitions

	SegmentAttributes int `json:"segment_attributes,omitempty"` // of whole segments

	ArcAttributes   int `json:"arc_attributes,omitempty"`   // that score arcs, or spans
	LabelAttributes int `json:"label_attributes,omitempty"` // that score their relations, or labels

	PairAttributes   int `json:"pair_attributes,omitempty"`   // attributes or features that score pairs of items
	SourceAttributes int `json:"source_attributes,omitempty"` // that score unmatched source words, or steps
}

// AttributeCounts counts the attributes that the inputs are made of.
func (in Inputs) AttributeCounts() (c Counts) {
	if d := in.Dictionary; d != nil {
		c.Attributes, c.EdgeAttributes, c.SegmentAttributes = d.Nodes(), d.Edges(), d.Segments()
	}
	if arcs := ArcsOf(in.Own); arcs != nil {
		c.ArcAttributes, c.LabelAttributes = arcs.Dictionary.Arc.Len(), arcs.Dictionary.Label.Len()
	}
	if pairs, ok := in.Own.(*Pairs); ok {
		c.PairAttributes, c.SourceAttributes = pairs.Attributes()
	}
	return c
}

// Total returns how many there are.
func (c Counts) Total() int {
	return c.Attributes + c.EdgeAttributes + c.SegmentAttributes + c.ArcAttributes + c.LabelAttributes +
		c.PairAttributes + c.SourceAttributes
}
