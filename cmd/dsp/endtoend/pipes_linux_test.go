package endtoend

import (
	"path/filepath"
	"testing"
)

// A pipe can be read only once: training and packing do so if the format is given, and say so if it is not.
func TestPipes(t *testing.T) {
	t.Parallel()
	const pipe = "/dev/stdin"
	dspWith(t, sentences, "train", "--train", pipe, "--out", filepath.Join(t.TempDir(), "run")).refused(exitBadInput, pipe, "read only once", "give --format")
	dspWith(t, sentences, "train", "--train", pipe, "--format", "conll", "--passes", "1", "--out", filepath.Join(t.TempDir(), "run")).ok()
	type summary struct{ Examples, Positions, Labels, Attributes int }
	var file, piped summary
	pack := []string{"data", "pack", "--json", "--format", "conll", "--out", filepath.Join(t.TempDir(), "pack"), "--train"}
	dsp(t, append(pack, write(t, "train.conll", sentences))...).ok().json(&file)
	dspWith(t, sentences, append(pack, pipe)...).ok().json(&piped)
	if piped != file || file.Examples == 0 {
		t.Errorf("packed %+v of a pipe, %+v of a file", piped, file)
	}
}
