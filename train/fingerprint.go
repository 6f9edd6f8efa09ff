package train

import (
	"crypto/sha256"
	"encoding"
	"encoding/binary"
	"fmt"
	"hash"
	"slices"

	"github.com/dsp-go/dsp/structured"
)

// Fingerprint returns a short text that is equal for data sets that train alike: the same inputs, labels and weights,
// regardless of their source. The columns of a text file count only through the inputs computed from them.
func Fingerprint(d *structured.Dataset) string { return DividedFingerprint(d, structured.Whole(d)) }

// DividedFingerprint is Fingerprint for data of whose attributes each process has those of its share. All processes
// call it alike, and get what one process with all attributes does.
func DividedFingerprint(d *structured.Dataset, share structured.Share) string {
	h := sha256.New()
	add(h, d.Offsets)
	add(h, d.Labels)
	for _, set := range d.LabelSets {
		add(h, set)
	}
	for _, reading := range d.Readings {
		add(h, reading)
	}
	if d.Stored {
		head(h, d.Features, d.Positions()*d.Dim)
		if err := d.EachRow(func(row []float32) { write(h, row) }); err != nil {
			return fmt.Sprint(err) // it fails where it is used
		}
	} else {
		add(h, d.Features)
	}
	if d.Source != nil && !d.Stored {
		key, err := d.Source.Fingerprint()
		fmt.Fprintf(h, "%q %v\n", key, err) // a source that cannot be read fails where it is used
	}
	add(h, d.Ids)
	add(h, d.Weights)
	if d.Costs != nil {
		add(h, d.Costs)
	}
	for _, g := range d.Graphs {
		for _, e := range g.Ends {
			add(h, e[:])
		}
		add(h, g.Types)
	}
	if c := d.Characters; c != nil {
		add(h, c.Offsets)
		add(h, c.Ids)
	}
	if p := d.Pieces; p != nil {
		add(h, p.First)
		add(h, p.Offsets)
		add(h, p.Ids)
		for _, w := range p.Words {
			add(h, w[:])
		}
	}
	for _, t := range d.Tables {
		add(h, t.Offsets)
		if t.Features != nil {
			add(h, t.Features)
		}
	}
	for s, rows := range d.AttributeRows() {
		if err := addDivided(h, share, s, rows); err != nil {
			return fmt.Sprint(err) // other ranks are lost, which the next call says
		}
	}
	names := append([]*structured.Alphabet{d.Alphabet}, d.Vocab...)
	if d.Characters != nil {
		names = append(names, d.Characters.Vocab)
	}
	if d.Dictionary != nil {
		names = append(names, d.Dictionary.Node, d.Dictionary.Edge, d.Dictionary.Segment)
	}
	for _, a := range names {
		if a == nil {
			continue
		}
		fmt.Fprintf(h, "%d names\n", a.Len())
		for _, name := range a.Names() {
			fmt.Fprintf(h, "%q\n", name)
		}
	}
	return fmt.Sprintf("%x", h.Sum(nil)[:8])
}

// FingerprintOf returns a short text that is equal for equal numbers.
func FingerprintOf(x []float32) string {
	h := sha256.New()
	add(h, x)
	return fmt.Sprintf("%x", h.Sum(nil)[:8])
}

// DividedFingerprintOf is FingerprintOf for n numbers of which each process has its own: those of all processes follow
// each other. All call it alike.
func DividedFingerprintOf(peers structured.Peers, own []float32, n int) (string, error) {
	h := sha256.New()
	head(h, own, n)
	none := 0
	err := pass(h, peers, &none, func() { write(h, own) })
	return fmt.Sprintf("%x", h.Sum(nil)[:8]), err
}

// pass hands a hash and a number from process to process, each of which adds its own.
func pass(h hash.Hash, peers structured.Peers, n *int, own func()) error {
	state, err := save(h, *n)
	if err != nil {
		return err
	}
	err = peers.Pass(state, func() error {
		if *n, err = restore(h, state); err != nil {
			return err
		}
		own()
		now, err := save(h, *n)
		copy(state, now)
		return err
	})
	if err == nil {
		*n, err = restore(h, state)
	}
	return err
}

// addDivided adds attributes of which each process has those of its share, as if one had all; rows says where those of
// each example begin. All processes have values, or none has.
func addDivided(h hash.Hash, share structured.Share, s *structured.Sparse, rows []int) error {
	first, last := rows[share.First], rows[share.Last]
	entries := 0 // of the examples so far
	head(h, s.Offsets, len(s.Offsets))
	write(h, s.Offsets[:1])
	err := pass(h, share.Peers, &entries, func() {
		for ends := range slices.Chunk(s.Offsets[first+1:last+1], 4096) {
			moved := slices.Clone(ends)
			for k := range moved {
				moved[k] += entries
			}
			write(h, moved)
		}
		entries += len(s.Index)
	})
	if err != nil {
		return err
	}
	head(h, s.Index, entries)
	if err = pass(h, share.Peers, &entries, func() { write(h, s.Index) }); err != nil {
		return err
	}
	if s.Value == nil {
		add(h, s.Value)
		return nil
	}
	head(h, s.Value, entries)
	return pass(h, share.Peers, &entries, func() { write(h, s.Value) })
}

// save returns the state of a hash of SHA-256 and a number; restore returns to it.
func save(h hash.Hash, n int) ([]byte, error) {
	return h.(encoding.BinaryAppender).AppendBinary(binary.LittleEndian.AppendUint64(nil, uint64(n)))
}

func restore(h hash.Hash, state []byte) (n int, err error) {
	return int(binary.LittleEndian.Uint64(state)), h.(encoding.BinaryUnmarshaler).UnmarshalBinary(state[8:])
}

func add[E int | int32 | float32 | float64](h hash.Hash, x []E) {
	head(h, x, len(x))
	write(h, x)
}

// head adds the kind of numbers that follow, and how many they are.
func head[E any](h hash.Hash, x []E, n int) { fmt.Fprintf(h, "%T %d\n", x, n) }

func write[E int | int32 | float32 | float64](h hash.Hash, x []E) {
	var buf []byte
	for piece := range slices.Chunk(x, 4096) {
		buf = buf[:0]
		if ints, ok := any(piece).([]int); ok {
			for _, v := range ints {
				buf = binary.LittleEndian.AppendUint64(buf, uint64(v))
			}
		} else {
			buf, _ = binary.Append(buf, binary.LittleEndian, piece) // cannot fail: the size is fixed
		}
		h.Write(buf)
	}
}
