package arrays

import (
	"io"

	"github.com/dsp-go/dsp/structured"
)

// ReadFeatures reads the dense features of a text's tokens from an npz archive with the array features
// [tokens×features] and, optionally, lengths [sentences], which must be those of the text. Offsets are the text's
// sentences; dim is the number of features per token if the training data determines it, else 0. It returns the
// features and their number per token. Errors name the array, what it holds and what was expected.
func ReadFeatures(r io.Reader, name string, offsets []int, dim int) (features []float32, width int, err error) {
	archive, err := openArchive(r, name)
	if err != nil {
		return nil, 0, err
	}
	in := denseReader{archive: archive, d: &structured.Dataset{Name: name, Dim: dim}}
	if err := in.features(); err != nil {
		return nil, 0, err
	}
	d, tokens := in.d, offsets[len(offsets)-1]
	if n := len(d.Features) / d.Dim; n != tokens {
		return nil, 0, structured.BadInput("%s: features has %d rows, expected %d, one per token of the text", name, n,
			tokens)
	}
	_, err = readNPY(archive, name, "lengths", func(a *npyArray) error {
		if err := a.expect("[sentences]", 1, "iu", "integers"); err != nil {
			return err
		}
		lengths, err := a.ints()
		if err != nil {
			return err
		}
		if len(lengths) != len(offsets)-1 {
			return a.bad(" has %d entries, expected %d, one per sentence of the text", len(lengths), len(offsets)-1)
		}
		for i, n := range lengths {
			if want := offsets[i+1] - offsets[i]; n != want {
				return a.bad("[%d] is %d, expected %d tokens as in the text", i, n, want)
			}
		}
		return nil
	})
	return d.Features, d.Dim, err
}
