package structured

// Batch is a choice of examples of one data set. Its own positions are numbered 0 to N-1: chain b, which is example
// Examples[b], owns positions Offsets[b] to Offsets[b+1]-1. Reset makes one; the buffers are reused.
type Batch struct {
	Data     *Dataset
	Examples []int // [B] indices into Data
	Offsets  []int // [B+1]
}

// Reset makes b the batch of the given examples of data. It keeps no reference to examples.
func (b *Batch) Reset(data *Dataset, examples []int) {
	b.Data = data
	b.Examples = append(b.Examples[:0], examples...)
	b.Offsets = append(b.Offsets[:0], 0)
	n := 0
	for _, i := range examples {
		n += data.Length(i)
		b.Offsets = append(b.Offsets, n)
	}
}

// Len returns B, the number of chains.
func (b *Batch) Len() int { return len(b.Examples) }

// Positions returns N, the number of positions.
func (b *Batch) Positions() int { return b.Offsets[len(b.Offsets)-1] }

// Gold returns the labels of chain c, or nil where the data has none.
func (b *Batch) Gold(c int) []int32 { return b.Data.Gold(b.Examples[c]) }
