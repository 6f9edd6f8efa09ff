package endtoend

import (
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/sbinet/npyio/npz"
)

// featuresOf writes three dense features for each token of a file of columns.
func featuresOf(t *testing.T, text string) string {
	t.Helper()
	content, err := os.ReadFile(text)
	if err != nil {
		t.Fatal(err)
	}
	r, features := rand.New(rand.NewPCG(1, 2)), [][3]float32{}
	for line := range strings.Lines(string(content)) {
		if strings.TrimSpace(line) != "" {
			features = append(features, [3]float32{r.Float32(), r.Float32(), r.Float32()})
		}
	}
	path := filepath.Join(t.TempDir(), "dense.npz")
	w, err := npz.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := w.Write("features", features); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return path
}

// The linear net reads attributes and dense features: the same bits for all threads, resumed and from a pack, and in
// predictions.
func TestAttributesAndDenseFeatures(t *testing.T) {
	t.Parallel()
	folder := drawnText(t)
	train, dev := filepath.Join(folder, "train.conll"), filepath.Join(folder, "dev.conll")
	dense, denseDev := featuresOf(t, train), featuresOf(t, dev)
	args := []string{"--task", "tag", "--train", train, "--net", "linear", "--method", "svrg", "--passes", "4", "--quiet", "--dense", dense}
	run := func(more ...string) string {
		out := filepath.Join(t.TempDir(), "run")
		dsp(t, append(append([]string{"train", "--out", out}, args...), more...)...).ok()
		return out
	}
	whole := run("--threads", "1")
	sameModel(t, whole, run("--threads", "2"))
	half := run("--passes", "2")
	dsp(t, "train", "--resume", half, "--passes", "4", "--quiet").ok()
	if a, b := tensorsIn(t, whole), tensorsIn(t, half); a != b {
		t.Error("a resumed run has other weights")
	}
	pack := packed(t, "--task", "tag", "--train", train, "--net", "linear", "--dense", dense)
	out := filepath.Join(t.TempDir(), "run")
	dsp(t, "train", "--train", pack, "--method", "svrg", "--passes", "4", "--quiet", "--out", out).ok()
	if a, b := tensorsIn(t, whole), tensorsIn(t, out); a != b {
		t.Error("training on a pack gives other weights")
	}
	dsp(t, "eval", "--model", whole, "--data", dev, "--dense", denseDev).ok()
	dsp(t, "eval", "--model", whole, "--data", dev).refused(exitBadInput, "give them with --dense FILE")
}

// tensorsIn returns the bytes of the tensors of a run's model.
func tensorsIn(t *testing.T, run string) string {
	t.Helper()
	_, data := modelIn(t, run)
	return string(data)
}
