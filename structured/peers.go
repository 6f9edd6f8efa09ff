package structured

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"encoding/gob"
	"errors"
	"fmt"
	"slices"
)

// Peers are the processes that train together, as those see them who count or number what occurs in the examples of
// all. The zero value is a process alone, whose exchanges return what it gives. All processes call its methods, and
// the functions that take it, alike.
type Peers struct {
	rank, size int
	gather     func(mine []byte) ([][]byte, error)
	pass       func(state []byte, add func() error) error
}

// NewPeers returns the processes of which this one has number rank of size. gather returns what each gives, in their
// order; pass hands a state from process to process, in that order, of which each changes it by its own add, and all
// end with the last one's.
func NewPeers(rank, size int, gather func(mine []byte) ([][]byte, error),
	pass func(state []byte, add func() error) error) Peers {
	return Peers{rank, size, gather, pass}
}

// Rank is the number of this process, from 0 on.
func (p Peers) Rank() int { return p.rank }

// Size is how many processes there are.
func (p Peers) Size() int { return max(1, p.size) }

// Gather returns what each process gives, in the order of the processes.
func (p Peers) Gather(mine []byte) ([][]byte, error) {
	if p.gather == nil {
		return [][]byte{mine}, nil
	}
	return p.gather(mine)
}

// Pass hands a state from process to process, in their order; each changes it by its own add. All end with the last
// one's.
func (p Peers) Pass(state []byte, add func() error) error {
	if p.pass == nil {
		return add()
	}
	return p.pass(state, add)
}

// AllGather returns what each process tells, in the order of the processes. If some have an error, all get that of the
// first one, and bad input stays bad input.
func AllGather[T any](p Peers, mine T, err error) ([]T, error) {
	if p.Size() == 1 {
		return []T{mine}, err
	}
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
	messages, lost := p.Gather(message.Bytes())
	if lost != nil {
		return nil, errors.Join(err, lost)
	}
	all := make([]T, len(messages))
	for process, m := range messages {
		var x told
		switch err2 := gob.NewDecoder(bytes.NewReader(m)).Decode(&x); {
		case err2 != nil:
			return nil, err2
		case x.Failed != "" && process == p.rank:
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

// AllGatherNumbers completes numbers x of all examples, of which each process has its own: mine, a part of x. The
// processes' parts follow each other.
func AllGatherNumbers[E int32 | float32](p Peers, x, mine []E) error {
	counts, err := AllGather(p, len(mine), nil)
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
	if p.Size() == 1 {
		return nil
	}
	for told := 0; told < slices.Max(counts); told += gatherAtOnce {
		next, err := binary.Append(nil, binary.LittleEndian, mine[min(told, len(mine)):min(told+gatherAtOnce, len(mine))])
		if err != nil {
			return err
		}
		all, err := p.Gather(next)
		if err != nil {
			return err
		}
		for process, m := range all {
			if process == p.rank || len(m) == 0 {
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

// agreeParts is in how many parts processes agree on names, so that the rare names of all processes are never all in
// memory.
const agreeParts = 16

// Agree returns the alphabet that all processes have in common, how often each name occurs in all, and the number in it
// of each of this one's names. counts says how often each of these occurs here; what occurs fewer than least times in
// all is left out, and has the number −1. Names are in the order in which they first occur in the examples of all
// processes, if each process has its own in that order. Nil has none.
func (p Peers) Agree(mine *Alphabet, counts []int,
	least int) (common *Alphabet, times []int, number []int32, err error) {
	if mine == nil {
		return nil, nil, nil, nil
	}
	if p.Size() == 1 {
		common = NewAlphabet()
		for i, name := range mine.Names() {
			if counts[i] >= least {
				common.Add(name)
				times = append(times, counts[i])
			}
		}
		return common, times, common.numbersOf(mine), nil
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
		lists, err := p.Gather(own)
		if err != nil {
			return nil, nil, nil, err
		}
		if all, err = appendAgreed(all, lists, least); err != nil {
			return nil, nil, nil, err
		}
	}
	slices.SortFunc(all, func(a, b agreed) int {
		return cmp.Or(cmp.Compare(a.process, b.process), cmp.Compare(a.place, b.place))
	})
	common = NewAlphabet()
	for _, x := range all {
		common.Add(x.name)
		times = append(times, x.times)
	}
	return common, times, common.numbersOf(mine), nil
}

// Extend is Agree for data whose first names all processes know: these keep their numbers, however rare they are, and
// the others follow.
func (p Peers) Extend(known, mine *Alphabet, counts []int, least int) (all *Alphabet, number []int32, err error) {
	if known.Len() == 0 {
		all, _, number, err = p.Agree(mine, counts, least)
		return all, number, err
	}
	others, times := NewAlphabet(), []int(nil)
	for i, name := range mine.Names() {
		if known.Index(name) < 0 {
			others.Add(name)
			times = append(times, counts[i])
		}
	}
	found, _, _, err := p.Agree(others, times, least)
	if err != nil {
		return nil, nil, err
	}
	all = known.Clone()
	for _, name := range found.Names() {
		all.Add(name)
	}
	return all, all.numbersOf(mine), nil
}

// NumberAttributes numbers the attributes of d, which this process has numbered by itself, as all processes do. Their
// dictionary leaves out what occurs fewer than least times in the data of all, but begins with the known attributes.
// Rows have values in all processes if some have them in one.
func (p Peers) NumberAttributes(d *Dataset, known *Dictionary, least int) error {
	own := d.Dictionary
	common := &Dictionary{HashBits: own.HashBits, Segment: own.Segment}
	valued, err := AllGather(p, [2]bool{d.Attributes.valued(), d.EdgeAttributes.valued()}, nil)
	if err != nil {
		return err
	}
	for k, x := range []*Sparse{d.Attributes, d.EdgeAttributes} {
		if x != nil && x.Value == nil && slices.ContainsFunc(valued, func(has [2]bool) bool { return has[k] }) {
			x.Value = Ones(len(x.Index))
		}
	}
	for _, part := range []struct {
		rows *Sparse
		mine *Alphabet
		base *Alphabet
		to   **Alphabet
	}{{d.Attributes, own.Node, known.Node, &common.Node}, {d.EdgeAttributes, own.Edge, known.Edge, &common.Edge}} {
		if part.rows == nil || part.mine == nil {
			continue
		}
		if *part.to, err = p.number(part.rows, part.mine, part.base, least); err != nil {
			return err
		}
	}
	d.Dictionary = common
	return nil
}

// number gives rows the numbers of the alphabet that it returns, in place of those of mine.
func (p Peers) number(rows *Sparse, mine, known *Alphabet, least int) (*Alphabet, error) {
	if p.Size() == 1 && least <= 1 {
		return mine, nil // which begins with what is known
	}
	counts := make([]int, mine.Len())
	for _, a := range rows.Index {
		counts[a]++
	}
	agreed, number, err := p.Extend(known, mine, counts, least)
	if err != nil {
		return nil, err
	}
	rows.Renumber(number)
	return agreed, nil
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

// agreed is a name that processes have in common: the first process that has it, its number there, and how often all
// have it.
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
