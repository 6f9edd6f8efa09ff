package endtoend

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/sbinet/npyio/npz"

	"github.com/dsp-go/dsp/structured/boxes"
	"github.com/dsp-go/dsp/structured/sys/safetensors"
)

// drawnObjects returns a folder of few small scenes, drawn once for all tests.
func drawnObjects(t *testing.T) string {
	t.Helper()
	dir, err := drawObjectsOnce()
	if err != nil {
		t.Fatal(err)
	}
	return dir
}

var drawObjectsOnce = sync.OnceValues(func() (string, error) {
	dir := filepath.Join(shared, "objects")
	return dir, runProgram("data", "objects", "--out", dir, "--examples", "24,8,8", "--pixels", "96,72", "--difficulty", "0.3")
})

// onObjects are the flags that train on the drawn scenes.
func onObjects(dir string, more ...string) []string {
	return append([]string{"train", "--train", filepath.Join(dir, "train.json"), "--class", "ladybird", "--quiet"}, more...)
}

// locator returns the run folder of a model that finds ladybirds, trained once for all tests.
func locator(t *testing.T) string {
	t.Helper()
	drawnObjects(t)
	dir, err := locatorOnce()
	if err != nil {
		t.Fatal(err)
	}
	return dir
}

var locatorOnce = sync.OnceValues(func() (string, error) {
	data, dir := filepath.Join(shared, "objects"), filepath.Join(shared, "locator")
	return dir, runProgram(onObjects(data, "--dev", filepath.Join(data, "dev.json"), "--candidates", "250", "--candidate-pixels", "16", "--gap", "0.02", "--out", dir)...)
})

// finder returns the run folder of a model that searches windows, trained once for all tests.
func finder(t *testing.T) string {
	t.Helper()
	drawnObjects(t)
	dir, err := finderOnce()
	if err != nil {
		t.Fatal(err)
	}
	return dir
}

var finderOnce = sync.OnceValues(func() (string, error) {
	data, dir := filepath.Join(shared, "objects"), filepath.Join(shared, "finder")
	return dir, runProgram(onObjects(data, "--search", "windows", "--search-grid", "10", "--passes", "10", "--out", dir)...)
})

type boxJSON struct {
	ID          string
	Box         [4]float64
	Score       float64
	Probability *float64
	Bound       *float64
	IoU         *float64
	Confidence  float64
	Marginals   []float64
	Nbest       []struct {
		Box   [4]float64
		Score float64
	}
}

// jsonLines decodes one value per line.
func jsonLines[T any](t *testing.T, text string) []T {
	t.Helper()
	var all []T
	for line := range strings.Lines(text) {
		var x T
		if err := json.Unmarshal([]byte(line), &x); err != nil {
			t.Fatalf("%v in %s", err, line)
		}
		all = append(all, x)
	}
	return all
}

// A model of candidates chooses its settings, certifies its optimum, and reports metrics beside what the candidates
// allow.
func TestLocaliseCandidates(t *testing.T) {
	t.Parallel()
	dir, data := locator(t), drawnObjects(t)
	config, err := os.ReadFile(filepath.Join(dir, "config.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	for _, line := range []string{"task: localise", "format: coco", "net: linear", "loss: hinge", "search: candidates"} {
		if !strings.Contains(string(config), line+"\n") {
			t.Errorf("no %q in\n%s", line, config)
		}
	}
	var m map[string]float64
	dsp(t, "eval", "--model", dir, "--data", filepath.Join(data, "train.json"), "--json").ok().json(&m)
	if m["corloc"] < 0.4 || m["mean_iou"] > m["oracle_iou"]+1e-9 || m["corloc"] > m["oracle_corloc"]+1e-9 || m["images"] != 24 || m["images_used"] != 24 || m["ap"] > m["ap50"] {
		t.Errorf("got %v", m)
	}
	if o := dsp(t, "eval", "--model", dir, "--data", filepath.Join(data, "test.json")).ok(); !strings.Contains(o.stdout, "8 images with one ladybird") {
		t.Errorf("printed\n%s", o.stdout)
	}
	records := metricsOf(t, dir)
	if last := records[len(records)-1]; !(last["gap"].(float64) >= 0) || last["dev"].(map[string]any)["corloc"] == nil {
		t.Errorf("recorded %v", last)
	}
}

// Candidates are windows that are learned from all training files together, and that the model keeps. A model without
// any, from before, has those of boxes.DefaultWindows.
func TestLearnedWindows(t *testing.T) {
	t.Parallel()
	data, dir := drawnObjects(t), filepath.Join(t.TempDir(), "run")
	files := filepath.Join(data, "train.json") + "," + filepath.Join(data, "dev.json")
	o := dsp(t, "train", "--train", files, "--class", "ladybird", "--candidates", "60", "--candidate-pixels", "8", "--passes", "2", "--out", dir).ok()
	if !strings.Contains(o.stderr, "shapes learned from the training boxes") {
		t.Errorf("no word of windows in\n%s", o.stderr)
	}
	model := filepath.Join(dir, "model.safetensors")
	f, err := safetensors.Read(model)
	if err != nil {
		t.Fatal(err)
	}
	var learned boxes.Windows
	if err := json.Unmarshal([]byte(f.Metadata["windows"]), &learned); err != nil {
		t.Fatal(err)
	}
	learned.Most = 60
	usual := boxes.DefaultWindows()
	usual.Most = 60
	among := func(w boxes.Windows, input string) {
		t.Helper()
		all := map[[4]float64]bool{}
		for _, b := range w.Boxes(96, 72) {
			all[[4]float64{b.X, b.Y, b.Width, b.Height}] = true
		}
		for _, one := range jsonLines[boxJSON](t, dsp(t, "predict", "--model", model, "--input", input, "--nbest", "60", "--json").ok().stdout) {
			if len(one.Nbest) != len(all) {
				t.Fatalf("%s: %d candidates, expected %d", input, len(one.Nbest), len(all))
			}
			for _, b := range one.Nbest {
				if !all[b.Box] {
					t.Fatalf("%s: a candidate %v, expected one of %v", input, b.Box, all)
				}
			}
		}
	}
	among(learned, filepath.Join(data, "test.json"))
	among(learned, filepath.Join(data, "test"))
	delete(f.Metadata, "windows")
	if err := safetensors.Write(model, f); err != nil {
		t.Fatal(err)
	}
	among(usual, filepath.Join(data, "test.json"))
	f.Metadata["windows"] = `{"shapes": [{"scale": 2, "aspect": 1, "stride": 0.2}]}`
	if err := safetensors.Write(model, f); err != nil {
		t.Fatal(err)
	}
	dsp(t, "predict", "--model", model, "--input", filepath.Join(data, "test.json")).refused(exitBadInput, "scale 2")
}

// Predictions are COCO's results; the best boxes fall in score; confidences are the marginals of the predicted boxes;
// eval agrees.
func TestPredictBoxes(t *testing.T) {
	t.Parallel()
	dir, test := locator(t), filepath.Join(drawnObjects(t), "test.json")
	all := jsonLines[boxJSON](t, dsp(t, "predict", "--model", dir, "--input", test, "--json", "--nbest", "3", "--marginals", "--confidence").ok().stdout)
	sum := 0.0
	for _, one := range all {
		sum += *one.IoU
		total := 0.0
		for _, p := range one.Marginals {
			total += p
		}
		if math.Abs(total-1) > 1e-4 || math.Abs(one.Confidence-*one.Probability) > 1e-6 || len(one.Nbest) != 3 || one.Nbest[0].Box != one.Box || one.Nbest[1].Score > one.Score {
			t.Errorf("got %+v", one)
		}
	}
	var m map[string]float64
	dsp(t, "eval", "--model", dir, "--data", test, "--json").ok().json(&m)
	if len(all) != 8 || math.Abs(sum/8-m["mean_iou"]) > 1e-9 {
		t.Errorf("mean IoU %g of %d images; eval says %v", sum/8, len(all), m)
	}
	var results []struct {
		ImageID    int64 `json:"image_id"`
		CategoryID int64 `json:"category_id"`
		BBox       [4]float64
		Score      float64
	}
	if err := json.Unmarshal([]byte(dsp(t, "predict", "--model", dir, "--input", test, "--nbest", "2", "--threads", "1").ok().stdout), &results); err != nil {
		t.Fatal(err)
	}
	if len(results) != 16 {
		t.Fatalf("%d results", len(results))
	}
	for k, r := range results {
		if one := all[k/2]; fmt.Sprint(r.ImageID) != one.ID || r.CategoryID != 1 || r.BBox != one.Nbest[k%2].Box || r.Score != one.Nbest[k%2].Score {
			t.Errorf("result %d is %+v, expected %+v", k, r, one.Nbest[k%2])
		}
	}
	folder := dsp(t, "predict", "--model", dir, "--input", strings.TrimSuffix(test, ".json"), "--json").ok()
	for k, one := range jsonLines[boxJSON](t, folder.stdout) {
		if one.IoU != nil || one.Box != all[k].Box {
			t.Errorf("without annotations: %+v, expected the box %v", one, all[k].Box)
		}
	}
	images := strings.TrimSuffix(test, ".json")
	files, err := filepath.Glob(filepath.Join(images, "*.png"))
	if err != nil || len(files) < 3 {
		t.Fatal(files, err)
	}
	if one := jsonLines[boxJSON](t, dsp(t, "predict", "--model", dir, "--input", files[1], "--json").ok().stdout); len(one) != 1 || one[0].Box != all[1].Box {
		t.Errorf("one image: %+v, expected the box %v", one, all[1].Box)
	}
	bad := filepath.Join(t.TempDir(), "bad")
	if err := os.CopyFS(bad, os.DirFS(images)); err != nil {
		t.Fatal(err)
	}
	broken := filepath.Base(files[0])
	if text, err := os.ReadFile(files[0]); err != nil || os.WriteFile(filepath.Join(bad, broken), text[:len(text)/2], 0o666) != nil {
		t.Fatal("cannot break an image")
	}
	dsp(t, "predict", "--model", dir, "--input", bad, "--json").refused(exitBadInput, broken)
	left := dsp(t, "predict", "--model", dir, "--input", bad, "--json", "--bad", "skip").ok()
	if some := jsonLines[boxJSON](t, left.stdout); len(some) != len(all)-1 || some[0].Box != all[1].Box || !strings.Contains(left.stderr, broken) {
		t.Errorf("without the broken image: %+v, %s", some, left.stderr)
	}
	// The results are candidates: the model chooses its own best box among its three best.
	candidates := write(t, "candidates.json", dsp(t, "predict", "--model", dir, "--input", test, "--nbest", "3").ok().stdout)
	for k, one := range jsonLines[boxJSON](t, dsp(t, "predict", "--model", dir, "--input", test, "--boxes", candidates, "--json").ok().stdout) {
		if one.Box != all[k].Box {
			t.Errorf("among three candidates: %v, expected %v", one.Box, all[k].Box)
		}
	}
}

// Windows are found, with an upper bound of the score where the search is cut short.
func TestLocaliseWindows(t *testing.T) {
	t.Parallel()
	dir, data := finder(t), drawnObjects(t)
	var m map[string]float64
	dsp(t, "eval", "--model", dir, "--data", filepath.Join(data, "train.json"), "--json").ok().json(&m)
	if m["corloc"] < 0.5 || m["oracle_iou"] < 0.6 {
		t.Errorf("got %v", m)
	}
	for _, one := range jsonLines[boxJSON](t, dsp(t, "predict", "--model", dir, "--input", filepath.Join(data, "test.json"), "--json", "--nbest", "2").ok().stdout) {
		if one.Probability != nil || one.Bound != nil || len(one.Nbest) != 2 || one.Nbest[0].Score != one.Score {
			t.Errorf("got %+v", one)
		}
	}
	short := filepath.Join(t.TempDir(), "short")
	o := dsp(t, "train", "--train", filepath.Join(data, "train.json"), "--class", "ladybird", "--search", "windows", "--search-grid", "10", "--search-limit", "1", "--passes", "2",
		"--out", short).ok()
	if !strings.Contains(o.stderr, "stops after 1 sets of boxes") {
		t.Errorf("nothing says that answers are inexact:\n%s", o.stderr)
	}
	bounded := 0
	for _, one := range jsonLines[boxJSON](t, dsp(t, "predict", "--model", short, "--input", filepath.Join(data, "test.json"), "--json").ok().stdout) {
		if one.Bound != nil {
			bounded++
			if *one.Bound < one.Score {
				t.Errorf("bound %g below the score %g", *one.Bound, one.Score)
			}
		}
	}
	if bounded == 0 {
		t.Error("no search was cut short")
	}
	dsp(t, "predict", "--model", dir, "--input", filepath.Join(data, "test.json"), "--marginals").refused(exitBadInput, "sums over all outputs", "window")
	dsp(t, onObjects(data, "--search", "windows", "--loss", "crf")...).refused(exitBadInput, "crf", "hinge")
	dsp(t, onObjects(data, "--search", "windows", "--method", "casimir", "--smoothing", "entropy")...).refused(exitBadInput, "--smoothing entropy", "l2")
}

// Deep networks train on maps and on pixels, and every convex method certifies intervals that overlap.
func TestLocaliseMethods(t *testing.T) {
	t.Parallel()
	data := drawnObjects(t)
	for _, net := range []string{"mlp", "conv-map", "conv-crop"} {
		var r struct {
			Method    string
			Objective float64
		}
		dsp(t, onObjects(data, "--net", net, "--candidate-pixels", "16", "--candidates", "40", "--passes", "16", "--json", "--out", filepath.Join(t.TempDir(), net))...).ok().json(&r)
		if r.Method != "prox-linear" || !(r.Objective < 3) { // that of initial weights is about 6
			t.Errorf("%s: got %+v", net, r)
		}
	}
	for loss, methods := range map[string][]string{"hinge": {"bcfw", "casimir", "saga"}, "crf": {"svrg", "lbfgs"}, "softmax-margin": {"svrg"}} {
		dual, primal := math.Inf(-1), math.Inf(1)
		for _, method := range methods {
			var r struct{ Objective, Dual, Gap float64 }
			dsp(t, onObjects(data, "--candidates", "60", "--candidate-pixels", "8", "--loss", loss, "--method", method, "--passes", "8", "--json",
				"--out", filepath.Join(t.TempDir(), method))...).ok().json(&r)
			if !(r.Gap >= 0) || !(r.Dual <= r.Objective) {
				t.Errorf("%s, %s: got %+v", loss, method, r)
			}
			dual, primal = max(dual, r.Dual), min(primal, r.Objective)
		}
		if dual > primal*(1+1e-5) {
			t.Errorf("%s: a lower bound %g exceeds an objective %g", loss, dual, primal)
		}
	}
}

// A seed gives the same bits with any number of threads, and after a run was resumed.
func TestLocaliseBits(t *testing.T) {
	t.Parallel()
	data := drawnObjects(t)
	for name, flags := range map[string][]string{
		"candidates": {"--candidates", "50", "--candidate-pixels", "8", "--method", "bcfw"},
		"crops":      {"--candidates", "20", "--candidate-pixels", "12", "--net", "conv-crop"},
		"windows":    {"--search", "windows", "--search-grid", "8"},
	} {
		run := func(name string, more ...string) []byte {
			out := filepath.Join(t.TempDir(), name)
			dsp(t, onObjects(data, with(flags, append(more, "--out", out)...)...)...).ok()
			return modelOf(t, out)
		}
		one, two := run("one", "--passes", "4", "--gap", "0", "--threads", "1"), run("two", "--passes", "4", "--gap", "0", "--threads", "2")
		if !bytes.Equal(one, two) {
			t.Errorf("%s: another model with 2 threads", name)
		}
		if strings.Contains(strings.Join(flags, " "), "conv-crop") { // its steps shrink over the passes that are planned
			continue
		}
		parts := filepath.Join(t.TempDir(), "parts")
		dsp(t, onObjects(data, with(flags, "--passes", "2", "--gap", "0", "--out", parts)...)...).ok()
		dsp(t, "train", "--resume", parts, "--passes", "4", "--quiet").ok()
		if !bytes.Equal(one, modelOf(t, parts)) {
			t.Errorf("%s: another model after resuming", name)
		}
	}
}

// Potentials are exported under the names of their parts, and pictures are drawn.
func TestExportBoxesAndPictures(t *testing.T) {
	t.Parallel()
	test := filepath.Join(drawnObjects(t), "test.json")
	for dir, parts := range map[string][]string{locator(t): {"candidate"}, finder(t): {"cell", "size", "loss"}} {
		out := filepath.Join(t.TempDir(), "potentials.npz")
		dsp(t, "export", "--model", dir, "--data", test, "--to", out).ok()
		f, err := npz.Open(out)
		if err != nil {
			t.Fatal(err)
		}
		for _, part := range parts {
			if f.Header(part+".npy") == nil {
				t.Errorf("%s: no array %s among %v", dir, part, f.Keys())
			}
		}
		_ = f.Close()
		for _, name := range []string{"boxes.svg", "boxes.png"} {
			path := filepath.Join(t.TempDir(), name)
			dsp(t, "predict", "--model", dir, "--input", test, "--picture", path).ok()
			if info, err := os.Stat(path); err != nil || info.Size() < 10000 {
				t.Errorf("%s: %v, %v", name, info, err)
			}
		}
	}
}
