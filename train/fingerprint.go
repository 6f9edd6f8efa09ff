package train

import (
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"hash"
	"slices"

	"github.com/dsp-go/dsp/structured"
)

// Fingerprint returns a short text that is equal for data sets that train alike: the same inputs, labels and weights,
// regardless of their source. The columns of a text file count only through the inputs computed from them.
func Fingerprint(d *structured.Dataset) string {
	h := sha256.New()
	add(h, d.Offsets)
	add(h, d.Labels)
	for _, set := range d.LabelSets {
		add(h, set)
	}
	for _, reading := range d.Readings {
		add(h, reading)
	}
	add(h, d.Features)
	if d.Source != nil {
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
	sparse := []*structured.Sparse{d.Attributes, d.EdgeAttributes}
	for _, t := range d.Tables {
		add(h, t.Offsets)
		sparse = append(sparse, t.Attributes)
		if t.Features != nil {
			add(h, t.Features)
		}
	}
	for _, s := range sparse {
		if s != nil {
			add(h, s.Offsets)
			add(h, s.Index)
			add(h, s.Value)
		}
	}
	names := append([]*structured.Alphabet{d.Alphabet}, d.Vocab...)
	if d.Characters != nil {
		names = append(names, d.Characters.Vocab)
	}
	if d.Dictionary != nil {
		names = append(names, d.Dictionary.Node, d.Dictionary.Edge)
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

func add[E int | int32 | float32 | float64](h hash.Hash, x []E) {
	fmt.Fprintf(h, "%T %d\n", x, len(x))
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
