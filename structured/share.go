package structured

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"encoding/gob"
	"errors"
	"fmt"
	"iter"
	"math"
	"slices"
)

// Share says which examples have their attributes in this process, where several processes train together: First to Last−1. Of other examples the
// process knows everything else but their text, and their rows of attributes are empty. The shares of all processes follow each other, and together they are
// all examples.
type Share struct {
	First, Last int
	Kept        bool     // the attributes were made so; until then a share is a wish
	Text        *Dataset // the examples of the share with their columns, where this process has read no others; or nil

	Process, Processes int                                // which of how many this one is
	Cut                func(d *Dataset) (first, last int) // the share of this process
	// Gather returns what each process gives, in the order of their examples. All processes call it alike.
	Gather func(mine []byte) ([][]byte, error)

	// Pass hands a state from process to process, in the order of their examples; each changes it by its own add. All end with the last one's.
	Pass func(state []byte, add func() error) error
}

// HasShare reports whether some examples have their attributes in other processes.
func (d *Dataset) HasShare() bool { return d.Share != nil && d.Share.Kept }

// TakeShare gives this process its share of the examples.
func (d *Dataset) TakeShare(s *Share) {
	s.First, s.Last = s.Cut(d)
	d.Share = s
}

// Own returns the examples whose attributes this process makes, with their columns: d itself unless it has a share. They share the memory of d.
func (d *Dataset) Own() *Dataset {
	if d.Share == nil || d.Share.Text != nil {
		return d.Readable()
	}
	lo, hi := d.Offsets[d.Share.First], d.Offsets[d.Share.Last]
	own := &Dataset{Name: d.Name, ColumnNames: d.ColumnNames}
	for _, at := range d.Offsets[d.Share.First : d.Share.Last+1] {
		own.Offsets = append(own.Offsets, at-lo)
	}
	for _, column := range d.Columns {
		own.Columns = append(own.Columns, column[lo:hi])
	}
	return own
}

// Readable returns the examples whose columns this process has: d itself, or those of its share where it has read no others.
func (d *Dataset) Readable() *Dataset {
	if d.Share != nil && d.Share.Text != nil {
		return d.Share.Text
	}
	return d
}

// AllGather returns what each process tells, in the order of their examples. If some processes have an error, all get that of the first one, and bad input stays bad
// input. All processes call it alike.
func AllGather[T any](s *Share, mine T, err error) ([]T, error) {
	type told struct {
		What     T
		Failed   string
		BadInput bool
	}
	x := told{What: mine}
	if err != nil {
		x = told{Failed: err.Error(), BadInput: IsBadInput(err)}
	}
	var message bytes.Buffer
	if err := gob.NewEncoder(&message).Encode(x); err != nil {
		return nil, err
	}
	messages, lost := s.Gather(message.Bytes())
	if lost != nil {
		return nil, errors.Join(err, lost)
	}
	all := make([]T, len(messages))
	for process, m := range messages {
		var x told
		switch err2 := gob.NewDecoder(bytes.NewReader(m)).Decode(&x); {
		case err2 != nil:
			return nil, err2
		case x.Failed != "" && process == s.Process:
			return nil, err
		case x.BadInput:
			return nil, BadInput("%s", x.Failed)
		case x.Failed != "":
			return nil, errors.New(x.Failed)
		}
		all[process] = x.What
	}
	return all, nil
}

// gatherAtOnce is how many numbers a process tells at a time, so that few messages are in memory beside them.
const gatherAtOnce = 1 << 22

// AllGatherNumbers completes numbers x of all examples, of which each process has its own: mine, a part of x. The processes' parts follow each other. All processes call it alike.
func AllGatherNumbers[E int32 | float32](s *Share, x, mine []E) error {
	counts, err := AllGather(s, len(mine), nil)
	if err != nil {
		return err
	}
	at := make([]int, len(counts)+1)
	for process, n := range counts {
		at[process+1] = at[process] + n
	}
	if at[len(counts)] != len(x) {
		return fmt.Errorf("processes have %d numbers of %d", at[len(counts)], len(x))
	}
	for told := 0; told < slices.Max(counts); told += gatherAtOnce {
		next, err := binary.Append(nil, binary.LittleEndian, mine[min(told, len(mine)):min(told+gatherAtOnce, len(mine))])
		if err != nil {
			return err
		}
		all, err := s.Gather(next)
		if err != nil {
			return err
		}
		for process, m := range all {
			if process == s.Process || len(m) == 0 {
				continue
			}
			to := x[at[process]:at[process+1]][told:]
			if _, err := binary.Decode(m, binary.LittleEndian, to[:min(gatherAtOnce, len(to))]); err != nil {
				return err
			}
		}
	}
	return nil
}

// agreeParts is in how many parts processes agree on names, so that the rare names of all processes are never all in memory.
const agreeParts = 16

// Agree returns the alphabet that all processes have in common, how often each name occurs in all, and the number in it of each of this one's names. counts says
// how often each of these occurs here; what occurs fewer than least times in all is left out, and has the number −1. Names are in the order in which they first
// occur in the examples of all processes, if each process has its own in that order. Nil has none.
func (s *Share) Agree(mine *Alphabet, counts []int, least int) (common *Alphabet, times []int, number []int32, err error) {
	if mine == nil {
		return nil, nil, nil, nil
	}
	parts := make([]byte, mine.Len())
	for i, name := range mine.Names() {
		parts[i] = partOf(name)
	}
	var all []agreed
	for part := range byte(agreeParts) {
		var own []byte
		for i, name := range mine.Names() {
			if parts[i] == part {
				own = binary.AppendUvarint(own, uint64(i))
				own = binary.AppendUvarint(own, uint64(counts[i]))
				own = append(binary.AppendUvarint(own, uint64(len(name))), name...)
			}
		}
		lists, err := s.Gather(own)
		if err != nil {
			return nil, nil, nil, err
		}
		if all, err = appendAgreed(all, lists, least); err != nil {
			return nil, nil, nil, err
		}
	}
	slices.SortFunc(all, func(a, b agreed) int { return cmp.Or(cmp.Compare(a.process, b.process), cmp.Compare(a.place, b.place)) })
	common = NewAlphabet()
	for _, x := range all {
		common.Add(x.name)
		times = append(times, x.times)
	}
	return common, times, common.numbersOf(mine), nil
}

// Extend is Agree for data whose first names all processes know: these keep their numbers, however rare they are, and the others follow.
func (s *Share) Extend(known, mine *Alphabet, counts []int, least int) (all *Alphabet, number []int32, err error) {
	if known.Len() == 0 {
		all, _, number, err = s.Agree(mine, counts, least)
		return all, number, err
	}
	others, times := NewAlphabet(), []int(nil)
	for i, name := range mine.Names() {
		if known.Index(name) < 0 {
			others.Add(name)
			times = append(times, counts[i])
		}
	}
	found, _, _, err := s.Agree(others, times, least)
	if err != nil {
		return nil, nil, err
	}
	all = known.Clone()
	for _, name := range found.Names() {
		all.Add(name)
	}
	return all, all.numbersOf(mine), nil
}

// numbersOf returns the number of each name of another alphabet, −1 for those that a lacks.
func (a *Alphabet) numbersOf(other *Alphabet) []int32 {
	number := make([]int32, other.Len())
	for i, name := range other.Names() {
		number[i] = a.Index(name)
	}
	return number
}

// partOf returns the part of a name, which all processes give it (FNV-1a).
func partOf(name string) byte {
	hash := uint32(2166136261)
	for i := range len(name) {
		hash = (hash ^ uint32(name[i])) * 16777619
	}
	return byte((hash ^ hash>>16) % agreeParts)
}

// agreed is a name that processes have in common: the first process that has it, its number there, and how often all have it.
type agreed struct {
	name                  string
	process, place, times int
}

// appendAgreed appends those names in the lists of all processes that occur at least some times.
func appendAgreed(all []agreed, lists [][]byte, least int) ([]agreed, error) {
	union, found := NewAlphabet(), []agreed(nil)
	for process, x := range lists {
		for len(x) > 0 {
			place, a := binary.Uvarint(x)
			count, b := binary.Uvarint(x[max(0, a):])
			length, c := binary.Uvarint(x[max(0, a)+max(0, b):])
			if a <= 0 || b <= 0 || c <= 0 || uint64(len(x)-a-b-c) < length {
				return nil, errors.New("another process sent names that cannot be read")
			}
			x = x[a+b+c:]
			k := int(union.AddBytes(x[:length]))
			if k == len(found) {
				found = append(found, agreed{name: union.Name(int32(k)), process: process, place: int(place)})
			}
			found[k].times += int(count)
			x = x[length:]
		}
	}
	for _, x := range found {
		if x.times >= least {
			all = append(all, x)
		}
	}
	return all, nil
}

// valued reports whether x has values.
func (x *Sparse) valued() bool { return x != nil && x.Value != nil }

// spread makes rows of x, those of positions first to last−1 of n, rows of all positions. Others are empty.
func (x *Sparse) spread(first, last, n int) {
	offsets := make([]int, n+1)
	copy(offsets[first:], x.Offsets)
	for t := last + 1; t <= n; t++ {
		offsets[t] = x.Offsets[last-first]
	}
	x.Offsets = offsets
}

// SpreadTable makes rows of a table that are those of a share's examples alone rows of all examples. Others are empty.
func (d *Dataset) SpreadTable(name string) {
	if t := d.Table(name); d.Share != nil {
		t.Attributes.spread(t.Offsets[d.Share.First], t.Offsets[d.Share.Last], t.Offsets[d.Len()])
	}
}

// KeepShare makes attributes of the examples of a share, numbered by this process alone, those of the data set. The processes agree on their dictionary, which leaves out
// what occurs fewer than least times in all data, but begins with the known attributes. Rows have values in all processes if some have them in one.
func (d *Dataset) KeepShare(nodes, edges *Sparse, names, known *Dictionary, least int) error {
	s, common := d.Share, &Dictionary{HashBits: names.HashBits, Segment: names.Segment}
	first, last := d.Offsets[s.First], d.Offsets[s.Last]
	valued, err := AllGather(s, [2]bool{nodes.valued(), edges.valued()}, nil)
	if err != nil {
		return err
	}
	for k, x := range []*Sparse{nodes, edges} {
		if x != nil && x.Value == nil && slices.ContainsFunc(valued, func(has [2]bool) bool { return has[k] }) {
			x.Value = Ones(len(x.Index))
		}
	}
	for _, part := range []struct {
		rows *Sparse
		mine *Alphabet
		base *Alphabet
		to   **Alphabet
	}{{nodes, names.Node, known.Node, &common.Node}, {edges, names.Edge, known.Edge, &common.Edge}} {
		if part.rows == nil {
			continue
		}
		if part.mine != nil {
			counts := make([]int, part.mine.Len())
			for _, a := range part.rows.Index {
				counts[a]++
			}
			agreed, number, err := s.Extend(part.base, part.mine, counts, least)
			if err != nil {
				return err
			}
			part.rows.Renumber(number)
			*part.to = agreed
		}
		part.rows.spread(first, last, d.Positions())
	}
	d.Attributes, d.EdgeAttributes, d.Dictionary, s.Kept = nodes, edges, common, true
	return nil
}

// AttributeRows yields all attributes, of which processes have those of their own examples, and where the rows of each example begin.
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

// AllGatherAttributes fetches the attributes of other processes' examples. All processes call it.
func (d *Dataset) AllGatherAttributes() error {
	if !d.HasShare() {
		return nil
	}
	for x, offsets := range d.AttributeRows() {
		from, to := offsets[d.Share.First], offsets[d.Share.Last]
		count := x.Offsets[to] - x.Offsets[from]                             // is told first, so that others make room once
		own := binary.AppendUvarint(make([]byte, 0, 3*count), uint64(count)) // 3 bytes are room for most numbers
		for t := from; t < to; t++ {
			own = x.appendRow(own, t)
		}
		all, err := d.Share.Gather(own)
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
	d.Share.Kept = false
	d.Share.First, d.Share.Last = 0, d.Len()
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
