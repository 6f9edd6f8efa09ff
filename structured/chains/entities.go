package chains

import "github.com/dsp-go/dsp/structured"

// Entities reads the entities of labelings by conlleval's lenient rules, which understand all schemes of the table
// (Schemes), as NewEvaluator does.
type Entities struct{ tags *tagset }

// Entity is an entity of a labeling.
type Entity struct {
	First, Last int   // its positions, from 0; Last belongs to it
	Type        int32 // a number of Entities.Types
}

// NewEntities returns a reader for labels of the alphabet, or nil if they are not entity tags.
func NewEntities(labels *structured.Alphabet) *Entities {
	tags := parseTags(labels)
	if tags == nil {
		return nil
	}
	return &Entities{tags}
}

// Over returns the rules for other numbers, of which number k stands for the label of[k].
func (e *Entities) Over(of []int32) *Entities {
	tags := *e.tags
	tags.tags = nil
	for _, l := range of {
		tags.tags = append(tags.tags, e.tags.tags[l])
	}
	return &Entities{&tags}
}

// Types returns the names of the types.
func (e *Entities) Types() *structured.Alphabet { return e.tags.types }

// Type returns the type of a label's entity, −1 for a label outside entities.
func (e *Entities) Type(label int32) int32 { return e.tags.tags[label].typ }

// Continue reports whether label to continues the entity of label from at the position before. Otherwise an entity that
// is there ends with from, and label to, unless it is outside, starts another one.
func (e *Entities) Continue(from, to int32) bool {
	prev, cur := e.tags.tags[from], e.tags.tags[to]
	return prev.part != 'O' && cur.part != 'O' && !endOfChunk(prev, cur)
}

// Of appends the entities of a labeling, in order.
func (e *Entities) Of(to []Entity, labels []int32) []Entity {
	for _, c := range e.tags.chunks(nil, labels) {
		to = append(to, Entity{c.start, c.end - 1, c.typ})
	}
	return to
}
