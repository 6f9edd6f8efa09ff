package pairs

import (
	"encoding/binary"
	"slices"

	"github.com/dsp-go/dsp/structured"
)

// statisticsMagic begins encoded statistics; its number is the version of the encoding.
const statisticsMagic = "dsp word pair statistics 1\n"

// Names returns the words of both sides.
func (s *Statistics) Names() []*structured.Alphabet {
	return []*structured.Alphabet{s.source.words, s.target.words}
}

// MarshalBinary implements encoding.BinaryMarshaler. Equal statistics give equal bytes. After the magic line come, as
// varints, for each side the number of words and each word's length, bytes and count; for each source word the number
// of its partners, and for each partner the distance from the one before and the count together; and the number of
// counted sentence pairs and their hashes in order, as the distances between them, but no pairs where words are hashed.
func (s *Statistics) MarshalBinary() ([]byte, error) {
	to := []byte(statisticsMagic)
	for _, a := range []*side{&s.source, &s.target} {
		to = binary.AppendUvarint(to, uint64(a.words.Len()))
		for k, w := range a.words.Names() {
			to = append(binary.AppendUvarint(to, uint64(len(w))), w...)
			to = binary.AppendUvarint(to, uint64(a.counts[k]))
		}
	}
	for w := range s.source.words.Len() {
		lo, hi := s.offsets[w], s.offsets[w+1]
		to = binary.AppendUvarint(to, uint64(hi-lo))
		before := int32(0)
		for k := lo; k < hi; k++ {
			to = binary.AppendUvarint(to, uint64(s.partners[k]-before))
			to = binary.AppendUvarint(to, uint64(s.together[k]))
			before = s.partners[k]
		}
	}
	counted := s.counted
	// they would tell who knows a sentence pair that it was counted
	if s.source.words.Hashed() || s.target.words.Hashed() {
		counted = nil
	}
	to = binary.AppendUvarint(to, uint64(len(counted)))
	before := uint64(0)
	for _, h := range counted {
		to = binary.AppendUvarint(to, h-before)
		before = h
	}
	return to, nil
}

// UnmarshalBinary implements encoding.BinaryUnmarshaler. Broken data are bad input.
func (s *Statistics) UnmarshalBinary(data []byte) error {
	d := &decoder{rest: data}
	if len(data) < len(statisticsMagic) || string(data[:len(statisticsMagic)]) != statisticsMagic {
		return structured.BadInput("statistics of word pairs begin with %.40q, expected %q", data, statisticsMagic)
	}
	d.rest = data[len(statisticsMagic):]
	var read Statistics
	for _, a := range []*side{&read.source, &read.target} {
		a.words = structured.NewAlphabet()
		for range d.count() {
			a.words.Add(string(d.bytes(d.count())))
			a.counts = append(a.counts, int32(d.below(1<<31)))
		}
		d.broken = d.broken || a.words.Len() != len(a.counts)
	}
	read.offsets = append(make([]int, 0, read.source.words.Len()+1), 0)
	targets := uint64(read.target.words.Len())
	for range read.source.words.Len() {
		next := uint64(0)
		for k := range d.count() {
			step := d.below(targets)
			next += step
			d.broken = d.broken || next >= targets || k > 0 && step == 0
			read.partners = append(read.partners, int32(next))
			read.together = append(read.together, int32(d.below(1<<31)))
		}
		read.offsets = append(read.offsets, len(read.partners))
	}
	before := uint64(0)
	for range d.count() {
		before += d.number()
		read.counted = append(read.counted, before)
	}
	if d.broken || len(d.rest) > 0 || !slices.IsSorted(read.counted) {
		return structured.BadInput("statistics of word pairs are broken after %d of %d bytes",
			len(data)-len(d.rest), len(data))
	}
	*s = read
	return nil
}

// decoder reads varints. After the end of the data, or a number out of range, it is broken and all numbers are 0.
type decoder struct {
	rest   []byte
	broken bool
}

func (d *decoder) number() uint64 {
	x, n := binary.Uvarint(d.rest)
	if n <= 0 || d.broken {
		d.broken = true
		return 0
	}
	d.rest = d.rest[n:]
	return x
}

// below reads a number less than bound.
func (d *decoder) below(bound uint64) uint64 {
	x := d.number()
	if x >= bound {
		d.broken = true
		return 0
	}
	return x
}

// count reads how many items follow, each of which takes at least one byte.
func (d *decoder) count() int { return int(d.below(uint64(len(d.rest)) + 1)) }

func (d *decoder) bytes(n int) []byte {
	if d.broken || n > len(d.rest) {
		d.broken = true
		return nil
	}
	b := d.rest[:n]
	d.rest = d.rest[n:]
	return b
}
