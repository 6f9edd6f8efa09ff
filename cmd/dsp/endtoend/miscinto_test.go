package endtoend

import (
	"path/filepath"
	"strings"
	"testing"
)

// predict --into label writes labels of MISC where they were read, and no eleventh column.
func TestIntoMisc(t *testing.T) {
	t.Parallel()
	line := func(id, word, misc string) string {
		return strings.Join([]string{id, word, word, "X", "_", "_", "0", "root", "_", misc}, "\t")
	}
	for label, item := range map[string]string{"misc:name": "name=", "misc": ""} {
		var file strings.Builder
		for range 6 {
			file.WriteString("# text = Ann seesit\n" + line("1", "Ann", "SpaceAfter=No|"+item+"B-PER|Gloss=x") + "\n" + line("2-3", "seesit", "_") + "\n" +
				line("2", "sees", item+"O") + "\n" + line("3", "it", "_") + "\n\n")
		}
		gold := write(t, "gold.conllu", file.String())
		dir := filepath.Join(t.TempDir(), "run")
		dsp(t, "train", "--train", gold, "--label", label, "--passes", "30", "--quiet", "--out", dir).ok()
		if got := dsp(t, "predict", "--model", dir, "--input", gold, "--into", "label").ok().stdout; got != file.String() {
			t.Errorf("%s: predicted\n%.300s\nexpected\n%.300s", label, got, file.String())
		}
		bare := strings.NewReplacer("|"+item+"B-PER", "", item+"O", "_").Replace(file.String())
		want := strings.NewReplacer("SpaceAfter=No|Gloss=x", "SpaceAfter=No|Gloss=x|"+item+"B-PER").Replace(bare)
		dsp(t, "predict", "--model", dir, "--input", gold, "--into", "misc").refused(exitBadInput, "--into misc: it would replace all", "--into label replaces these")
		if got := dsp(t, "predict", "--model", dir, "--input", write(t, "bare.conllu", bare), "--into", "label").ok().stdout; got != want {
			t.Errorf("%s, without labels: predicted\n%.300s\nexpected\n%.300s", label, got, want)
		}
	}
}

// Schemes of entity tags may be called by their other names.
func TestOtherNamesOfSchemes(t *testing.T) {
	t.Parallel()
	file := write(t, "x.conll", strings.Repeat("Ann B-PER\nLee I-PER\nsees O\nBo B-PER\n\n", 5))
	for name, want := range map[string]string{"iobes": "bioes", "BIOES": "bioes", "BIO": "iob2", "IOB": "iob1", "BIOUL": "bilou", "bmeow": "bmewo", "IO": "io"} {
		dir := filepath.Join(t.TempDir(), "run")
		dsp(t, "train", "--train", file, "--scheme", name, "--passes", "3", "--quiet", "--out", dir).ok()
		a := dsp(t, "predict", "--model", dir, "--input", file, "--scheme", name).ok().stdout
		if b := dsp(t, "predict", "--model", dir, "--input", file, "--scheme", want).ok().stdout; a != b {
			t.Errorf("--scheme %s: %s, expected as %s", name, a, want)
		}
	}
	dsp(t, "train", "--train", file, "--scheme", "iobs").refused(exitBadInput, `--scheme "iobs" is not known`)
}
