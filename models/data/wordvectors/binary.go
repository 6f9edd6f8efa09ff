package wordvectors

import (
	"encoding/binary"
	"errors"
	"io"
	"math"

	"github.com/dsp-go/dsp/structured"
)

// binary reads count vectors in the binary format of word2vec. A line feed may end each vector.
func (in *reader) binary(count int) error {
	numbers := make([]byte, 4*in.v.Dim)
	for ; in.v.Read < count; in.v.Read++ {
		word, err := in.word()
		if err == nil {
			_, err = io.ReadFull(in.r, numbers)
		}
		switch {
		case errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF):
			return structured.BadInput("%s: ends within vector %d, expected %d of length %d, as line 1 says", in.name,
				in.v.Read+1, count, in.v.Dim)
		case err != nil && !structured.IsBadInput(err):
			return structured.BadInput("%s: vector %d: %w", in.name, in.v.Read+1, err)
		case err != nil:
			return err
		case !in.takes(word):
			continue
		}
		for k := range in.v.Dim {
			x := math.Float32frombits(binary.LittleEndian.Uint32(numbers[4*k:]))
			if x-x != 0 { // NaN or ±∞
				return structured.BadInput("%s: number %d of vector %d, of the word %q, is %v, expected a finite number", in.name,
					k+1, in.v.Read+1, word, x)
			}
			in.v.Rows = append(in.v.Rows, x)
		}
		in.v.Words.AddBytes(word)
	}
	for {
		switch b, err := in.r.ReadByte(); {
		case err == io.EOF:
			return nil
		case err != nil:
			return structured.BadInput("%s: %w", in.name, err)
		case b != '\n' && b != '\r':
			return structured.BadInput("%s: goes on after vector %d, expected %d of length %d, as line 1 says",
				in.name, count, count, in.v.Dim)
		}
	}
}

// word reads a word and the space after it.
func (in *reader) word() ([]byte, error) {
	in.long = in.long[:0]
	for {
		b, err := in.r.ReadByte()
		switch {
		case err != nil:
			return nil, err
		case b == '\n' && len(in.long) == 0: // ends the vector before
		case b == ' ':
			return in.long, nil
		case len(in.long) == longestWord:
			return nil, structured.BadInput("%s: vector %d has a word of more than %d bytes, expected a space after the word",
				in.name, in.v.Read+1, longestWord)
		default:
			in.long = append(in.long, b)
		}
	}
}
