package structured

import (
	"encoding/binary"
	"errors"
	"iter"
	"math"
)

// Share is the examples First to Last−1 of a data set, which this process has of those of its peers. The shares of all
// processes follow each other, and together they are all examples.
type Share struct {
	Peers
	First, Last int
}

// Whole returns the share of a process alone: all examples.
func Whole(d *Dataset) Share { return Share{Last: d.Len()} }

// Of returns the examples of the share as a data set of their own: their text and what Label gives them, in the memory
// of d. For a process alone it is d itself.
func (s Share) Of(d *Dataset) *Dataset {
	if s.Size() == 1 {
		return d
	}
	own := &Dataset{Name: d.Name, ColumnNames: d.ColumnNames}
	for _, at := range d.Offsets[s.First : s.Last+1] {
		own.Offsets = append(own.Offsets, at-d.Offsets[s.First])
	}
	for _, column := range d.Columns {
		own.Columns = append(own.Columns, column[d.Offsets[s.First]:d.Offsets[s.Last]])
	}
	s.Label(own, d)
	return own
}

// Label gives the examples of the share what does not come from their text: gold outputs and dense features, in the
// memory of d.
func (s Share) Label(own, d *Dataset) {
	if at := d.outputs(); d.Labels != nil {
		own.Labels = d.Labels[at[s.First]:at[s.Last]]
	}
	own.LabelSets, own.Alphabet = d.LabelSets, d.Alphabet
	if d.Features != nil {
		own.Features, own.Dim = d.Features[d.Offsets[s.First]*d.Dim:d.Offsets[s.Last]*d.Dim], d.Dim
	}
}

// Spread makes rows of the share's own examples, whose rows begin at offsets [n+1] of all examples', rows of all
// examples. Others are empty.
func (s Share) Spread(own *Sparse, offsets []int) *Sparse {
	if own == nil || s.Size() == 1 {
		return own
	}
	first, last, n := offsets[s.First], offsets[s.Last], offsets[len(offsets)-1]
	all := &Sparse{Offsets: make([]int, n+1), Index: own.Index, Value: own.Value}
	copy(all.Offsets[first:], own.Offsets)
	for t := last + 1; t <= n; t++ {
		all.Offsets[t] = own.Offsets[last-first]
	}
	return all
}

func (x *Sparse) valued() bool { return x != nil && x.Value != nil }

// AttributeRows yields all attributes, and where the rows of each example begin.
func (d *Dataset) AttributeRows() iter.Seq2[*Sparse, []int] {
	return func(yield func(*Sparse, []int) bool) {
		for _, x := range []*Sparse{d.Attributes, d.EdgeAttributes} {
			if x != nil && !yield(x, d.Offsets) {
				return
			}
		}
		for _, t := range d.Tables {
			if t.Attributes != nil && !yield(t.Attributes, t.Offsets) {
				return
			}
		}
	}
}

// AllGatherAttributes completes attributes of which each process has those of its share.
func (s Share) AllGatherAttributes(d *Dataset) error {
	if s.Size() == 1 {
		return nil
	}
	for x, offsets := range d.AttributeRows() {
		from, to := offsets[s.First], offsets[s.Last]
		count := x.Offsets[to] - x.Offsets[from]                             // is told first, so that others make room once
		own := binary.AppendUvarint(make([]byte, 0, 3*count), uint64(count)) // 3 bytes are room for most numbers
		for t := from; t < to; t++ {
			own = x.appendRow(own, t)
		}
		all, err := s.Gather(own)
		if err != nil {
			return err
		}
		whole := Sparse{Offsets: make([]int, 1, len(x.Offsets))}
		n := 0
		for _, from := range all {
			count, k := binary.Uvarint(from)
			if k <= 0 || count > uint64(len(from)) { // an attribute takes a byte at least
				return errUnreadable
			}
			n += int(count)
		}
		whole.Index = make([]int32, 0, n)
		if x.valued() {
			whole.Value = make([]float32, 0, n)
		}
		for _, from := range all {
			_, k := binary.Uvarint(from)
			for from = from[k:]; len(from) > 0; {
				if from = whole.takeRow(from); from == nil {
					return errUnreadable
				}
			}
		}
		if len(whole.Offsets) != len(x.Offsets) || len(whole.Index) != n {
			return errUnreadable
		}
		*x = whole // that copies of the data set point to, too
	}
	return nil
}

var errUnreadable = errors.New("another process sent attributes that cannot be read")

// appendRow appends row t to bytes: how many attributes it has, and each with its value if there are values.
func (x *Sparse) appendRow(to []byte, t int) []byte {
	row, values := x.Row(t)
	to = binary.AppendUvarint(to, uint64(len(row)))
	for k, a := range row {
		to = binary.AppendUvarint(to, uint64(a))
		if values != nil {
			to = binary.LittleEndian.AppendUint32(to, math.Float32bits(values[k]))
		}
	}
	return to
}

// takeRow appends the row that appendRow wrote at the front of bytes, and returns the rest; nil if there is none.
func (x *Sparse) takeRow(from []byte) (rest []byte) {
	n, k := binary.Uvarint(from)
	if k <= 0 {
		return nil
	}
	for from = from[k:]; n > 0; n-- {
		var a uint64
		if a, k = binary.Uvarint(from); k <= 0 {
			return nil
		}
		from = from[k:]
		x.Index = append(x.Index, int32(a))
		if x.Value == nil {
			continue
		}
		if len(from) < 4 {
			return nil
		}
		x.Value, from = append(x.Value, math.Float32frombits(binary.LittleEndian.Uint32(from))), from[4:]
	}
	x.Offsets = append(x.Offsets, len(x.Index))
	return from
}
