package endtoend

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"path/filepath"
	"strings"
	"testing"

	"github.com/sbinet/npyio/npz"
)

// The arrays that predict writes hold what it prints as JSON.
func TestLabelArrays(t *testing.T) {
	t.Parallel()
	model, input := attributeTagger(t), "the\nred\nfox\nruns\n\nthe\nfox\n\nruns\n"
	to := filepath.Join(t.TempDir(), "p.npz")
	dspWith(t, input, "predict", "--model", model, "--marginals", "--confidence", "--to", to).ok()
	var labels []int32
	var offsets []int64
	var scores, probabilities []float64
	var marginals, confidence []float32
	f, err := npz.Open(to)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	for name, into := range map[string]any{
		"labels": &labels, "offsets": &offsets, "scores": &scores, "probabilities": &probabilities, "marginals": &marginals, "confidence": &confidence,
	} {
		if err := f.Read(name+".npy", into); err != nil {
			t.Fatal(name, err)
		}
	}
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
	dspWith(t, input, "predict", "--model", model, "--to", "p.txt").refused(exitBadInput, "p.txt", ".npz")
	dspWith(t, input, "predict", "--model", model, "--text", "--to", to).refused(exitBadInput, "--to has no use with --text")
}
