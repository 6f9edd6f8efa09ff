package endtoend

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/dsp-go/dsp/models/data/arrays/arraystest"
)

// The arrays that predict writes hold what it prints as JSON.
func TestLabelArrays(t *testing.T) {
	t.Parallel()
	model, input := attributeTagger(t), "the\nred\nfox\nruns\n\nthe\nfox\n\nruns\n"
	to := filepath.Join(t.TempDir(), "p.npz")
	dspWith(t, input, "predict", "--model", model, "--marginals", "--confidence", "--to", to).ok()
	labels, _ := arraystest.Read[int32](t, to, "labels")
	offsets, _ := arraystest.Read[int64](t, to, "offsets")
	scores, _ := arraystest.Read[float64](t, to, "scores")
	probabilities, _ := arraystest.Read[float64](t, to, "probabilities")
	marginals, _ := arraystest.Read[float32](t, to, "marginals")
	confidence, _ := arraystest.Read[float32](t, to, "confidence")
	if fmt.Sprint(offsets) != "[0 4 6 7]" || len(labels) != 7 || len(marginals) != 7*3 || len(scores) != 3 {
		t.Fatalf("%v, %d labels, %d marginals, %d scores", offsets, len(labels), len(marginals), len(scores))
	}
	near := func(a, b float64) bool { return math.Abs(a-b) < 1e-5*(1+math.Abs(b)) }
	names := map[int32]string{} // they come from the file only as far as labels agree
	lines := strings.Split(strings.TrimSpace(dspWith(t, input, "predict", "--model", model, "--marginals", "--confidence", "--json").ok().stdout), "\n")
	for i, line := range lines {
		var want struct {
			Labels             []string
			Score, Probability float64
			Marginals          [][]float64
			Confidence         []float64
		}
		if err := json.NewDecoder(bytes.NewReader([]byte(line))).Decode(&want); err != nil {
			t.Fatal(err)
		}
		if !near(scores[i], want.Score) || !near(probabilities[i], want.Probability) {
			t.Errorf("sequence %d: score %v, probability %v, expected %+v", i, scores[i], probabilities[i], want)
		}
		for k, label := range want.Labels {
			at := int(offsets[i]) + k
			if name, known := names[labels[at]]; known && name != label {
				t.Errorf("label %d is %s and %s", labels[at], name, label)
			}
			names[labels[at]] = label
			if !near(float64(confidence[at]), want.Confidence[k]) || !near(float64(marginals[3*at+int(labels[at])]), want.Confidence[k]) {
				t.Errorf("position %d: confidence %v, expected %v", at, confidence[at], want.Confidence[k])
			}
			for l, m := range want.Marginals[k] {
				if !near(float64(marginals[3*at+l]), m) {
					t.Errorf("position %d: marginal %d is %v, expected %v", at, l, marginals[3*at+l], m)
				}
			}
		}
	}
	dspWith(t, input, "predict", "--model", model, "--text", "--to", to).refused(exitBadInput, "--text has no effect with --to "+to)
	dspWith(t, input, "predict", "--model", model, "--pretokenised", "--to", to).refused(exitBadInput, "--pretokenised has no effect with --to "+to)
	dspWith(t, input, "predict", "--model", model, "--nbest", "2", "--to", to).refused(exitBadInput, "--nbest has no effect with --to "+to)
}

// A file has what is printed without --to, or is not there.
func TestPredictionsToFile(t *testing.T) {
	t.Parallel()
	pipeline, _ := aPipeline(t)
	text := "Le chat aime la maison. La maison admire l'ami.\n"
	for name, c := range map[string]struct {
		input string
		flags []string
	}{
		"columns":            {sentences, []string{"--model", tagger(t), "--nbest", "2"}},
		"objects":            {sentences, []string{"--model", tagger(t), "--json", "--samples", "2"}},
		"read whole":         {sentences, []string{"--model", tagger(t), "--decode", "f1", "--into", "label"}},
		"raw text":           {"the red fox", []string{"--model", tagger(t), "--text", "--inline"}},
		"text of a pipeline": {text, []string{"--model", pipeline, "--text"}},
		"drawn data":         {"", []string{"--model", reader(t), "--input", "builtin", "--confidence"}},
	} {
		to := filepath.Join(t.TempDir(), "labelled.txt")
		want := dspWith(t, c.input, with([]string{"predict"}, c.flags...)...).ok().stdout
		said := dspWith(t, c.input, with([]string{"predict", "--to", to}, c.flags...)...).ok().stdout
		if readFile(t, to) != want || strings.Count(said, "\n") != 1 || !strings.Contains(said, to) {
			t.Errorf("%s: printed %s, and written\n%s\nexpected\n%s", name, said, readFile(t, to), want)
		}
	}
	dir := t.TempDir()
	bad := strings.Repeat(sentences+"\n", 10000) + "\tX\n"
	dspWith(t, bad, "predict", "--model", tagger(t), "--to", filepath.Join(dir, "labelled")).refused(exitBadInput, "standard input:150001")
	if left, err := os.ReadDir(dir); err != nil || len(left) > 0 {
		t.Errorf("%v is left: %v", left, err)
	}
	dspWith(t, sentences, "predict", "--model", tagger(t), "--to", dir).refused(exitBadInput, "--to "+dir+": this is a folder")
	dspWith(t, sentences, "predict", "--model", tagger(t), "--to", filepath.Join(dir, "missing", "labelled")).refused(exitBadInput, "there is no folder "+filepath.Join(dir, "missing"))
	dspWith(t, text, "predict", "--model", pipeline, "--text", "--to", "x.NPZ").refused(exitBadInput, "a pipeline has no arrays")
	dspWith(t, "", "predict", "--model", parser(t), "--to", "x.npz", "--input", filepath.Join(drawnTrees(t), "test.conllu")).refused(exitBadInput, "--task parse has no arrays; a name that does not end in .npz gets what is printed")
	dspWith(t, sentences, "predict", "--model", tagger(t), "--to", "a.svg", "--picture", "b.svg").refused(exitBadInput, "give one of the two")
}
