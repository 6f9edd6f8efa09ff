package structured

// Batch is a selection of examples of one data set. Its positions are numbered 0 to N-1: example b of the batch, which
// is example Examples[b] of the data, owns positions Offsets[b] to Offsets[b+1]-1. The rows of other tables are
// numbered alike. Reset fills a batch and reuses its memory.
type Batch struct {
	Data     *Dataset
	Examples []int // [B] indices into Data
	Offsets  []int // [B+1]
	Outputs  []int // [B+1] where each example's output begins in the concatenated outputs of the batch

	tables [][]int // per table of Data.Tables, its offsets in the batch [B+1]
	sizes  []int   // memory of Outputs if it differs from Offsets

	counting []int // 0, 1, 2, …: the offsets of the table of examples
}

// Reset makes b the batch of the given examples of data. It keeps no reference to examples.
func (b *Batch) Reset(data *Dataset, examples []int) {
	b.Data = data
	b.Examples = append(b.Examples[:0], examples...)
	b.Offsets = sumLengths(b.Offsets, data.Offsets, examples)
	b.Outputs = b.Offsets
	if data.Outputs != nil {
		b.sizes = sumLengths(b.sizes, data.Outputs, examples)
		b.Outputs = b.sizes
	}
	b.tables = growKeeping(b.tables, len(data.Tables))
	for k, t := range data.Tables {
		b.tables[k] = sumLengths(b.tables[k], t.Offsets, examples)
	}
}

// sumLengths returns the offsets of the examples' rows when they are concatenated, given their offsets in the data.
func sumLengths(to, offsets, examples []int) []int {
	to, n := append(to[:0], 0), 0
	for _, i := range examples {
		n += offsets[i+1] - offsets[i]
		to = append(to, n)
	}
	return to
}

// Len returns B, the number of examples.
func (b *Batch) Len() int { return len(b.Examples) }

// Positions returns N, the number of positions.
func (b *Batch) Positions() int { return b.Offsets[len(b.Offsets)-1] }

// Rows returns the offsets of the examples' rows of a table in the batch [B+1]. It panics if the data lacks the table,
// which is a bug in the caller.
func (b *Batch) Rows(table string) []int {
	switch {
	case PerPosition(table):
		return b.Offsets
	case table == Examples:
		for len(b.counting) <= b.Len() {
			b.counting = append(b.counting, len(b.counting))
		}
		return b.counting[:b.Len()+1]
	}
	for k, t := range b.Data.Tables {
		if t.Name == table {
			return b.tables[k]
		}
	}
	panic("the data has no table of rows " + table)
}

// Gold returns the gold output of example b, or nil if the data has none.
func (b *Batch) Gold(c int) []int32 { return b.Data.Gold(b.Examples[c]) }

// GoldOf returns the gold output of example b with its sets of possible numbers.
func (b *Batch) GoldOf(c int) Gold { return b.Data.GoldOf(b.Examples[c]) }
