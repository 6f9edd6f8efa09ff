package endtoend

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"image"
	"image/png"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/dsp-go/dsp/models/data/arrays"
	"github.com/dsp-go/dsp/models/data/lines"
)

// A reader of lines learns on drawn ones, whose frames have no labels, and goes where other models go.
func TestTranscribe(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	dsp(t, "data", "lines", "--out", dir, "--examples", "100,10,20", "--difficulty", "0", "--seed", "3").ok()
	run, train, dev, test := filepath.Join(dir, "run"), filepath.Join(dir, "train"), filepath.Join(dir, "dev"), filepath.Join(dir, "test")
	small := []string{"--channels", "32", "--window", "7", "--quiet"}
	var r struct {
		Net, Method  string
		CER          float64
		LineAccuracy float64 `json:"line_accuracy"`
		Lines        int
		Likelihood   struct{ NLL float64 }
	}
	dsp(t, append([]string{"train", "--train", train, "--dev", dev, "--passes", "10", "--out", run, "--json"}, small...)...).ok().json(&r)
	if r.Net != "cnn" || r.Method != "prox-linear" {
		t.Errorf("got %+v", r)
	}
	dsp(t, "eval", "--model", run, "--data", test, "--json", "--nll").ok().json(&r)
	if !(r.CER < 0.9) || r.Lines != 20 || !(r.Likelihood.NLL > 0) {
		t.Errorf("got %+v", r)
	}
	greedy := r.CER
	dsp(t, "eval", "--model", run, "--data", test, "--json", "--beam", "10").ok().json(&r)
	if !(r.CER < greedy+0.1) {
		t.Errorf("greedily %g, by beam search %g", greedy, r.CER)
	}

	// Strings come in the layout of the file that says what lines read, with or without that file, and from a single
	// image.
	text := dsp(t, "predict", "--model", run, "--input", test).ok().stdout
	if strings.Count(text, "\n") != 20 || !strings.HasPrefix(text, "test-0001.png\t") {
		t.Errorf("%.300s", text)
	}
	listing, err := os.ReadFile(filepath.Join(test, lines.Listing))
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(filepath.Join(test, lines.Listing)); err != nil {
		t.Fatal(err)
	}
	if again := dsp(t, "predict", "--model", run, "--input", test).ok().stdout; again != text {
		t.Errorf("without the file: %.300s", again)
	}
	dsp(t, "eval", "--model", run, "--data", test).refused(exitBadInput, "no file lines.txt")
	if err := os.WriteFile(filepath.Join(test, lines.Listing), listing, 0o666); err != nil {
		t.Fatal(err)
	}
	first, _, _ := strings.Cut(text, "\n")
	if one := dsp(t, "predict", "--model", run, "--input", filepath.Join(test, "test-0001.png")).ok().stdout; one != first+"\n" {
		t.Errorf("%q, want %q", one, first)
	}
	var p struct {
		ID, Text    string
		Symbols     []string
		Probability float64
		NBest       []struct {
			Text        string
			Probability float64
		}
		Samples [][]string
	}
	out := dsp(t, "predict", "--model", run, "--input", test, "--beam", "20", "--nbest", "4", "--samples", "3", "--json").ok().stdout
	if err := json.Unmarshal([]byte(out[:strings.IndexByte(out, '\n')]), &p); err != nil {
		t.Fatal(err)
	}
	if p.ID != "test-0001.png" || strings.Join(p.Symbols, "") != p.Text || len(p.NBest) != 4 || p.NBest[0].Text != p.Text || p.NBest[0].Probability != p.Probability ||
		p.NBest[3].Probability > p.NBest[0].Probability || len(p.Samples) != 3 || !(p.Probability > 0 && p.Probability <= 1) {
		t.Errorf("%+v", p)
	}
	total := 0.0
	for k, s := range p.NBest {
		if total += s.Probability; k > 0 && s.Text == p.Text {
			t.Errorf("%q twice", s.Text)
		}
	}
	if total > 1+1e-6 {
		t.Errorf("the probabilities of strings sum to %g", total)
	}

	// Frames from arrays are read alike.
	d, err := lines.Reader{Height: 16, Columns: 2}.ReadFolder(test, nil, true)
	if err != nil {
		t.Fatal(err)
	}
	var texts []string
	lengths := []int64{}
	for i := range d.Len() {
		texts, lengths = append(texts, lines.Joined(d.Readings[i], d.Alphabet)), append(lengths, int64(d.Length(i)))
	}
	npz := framesFile(t, d.Features, d.Dim, lengths, texts)
	var same struct{ CER float64 }
	dsp(t, "eval", "--model", run, "--data", npz, "--format", "npz", "--json").ok().json(&same)
	if math.Abs(same.CER-greedy) > 1e-12 {
		t.Errorf("of arrays %g, of images %g", same.CER, greedy)
	}
	dsp(t, "train", "--task", "transcribe", "--train", npz, "--net", "rnn", "--recurrent", "8", "--passes", "1", "--out", filepath.Join(dir, "arrays"), "--quiet").ok()

	dsp(t, "calibrate", "--model", run, "--dev", dev, "--out", filepath.Join(dir, "calibrated.safetensors")).ok()
	dsp(t, "calibrate", "--model", run, "--dev", dev, "--likelihood", "tokens").refused(exitBadInput, "not the labels of frames")
	dsp(t, "predict", "--model", run, "--input", test, "--picture", filepath.Join(dir, "lines.svg")).ok()
	dsp(t, "export", "--model", run, "--data", test, "--to", filepath.Join(dir, "potentials.npz")).ok()
	dsp(t, "eval", "--model", run, "--data", test, "--errors", "2", "--intervals").ok()
	if o := dsp(t, "predict", "--model", run, "--input", test, "--select", "2", "--by", "margin", "--json").ok(); strings.Count(o.stdout, "\n") != 2 {
		t.Error(o.stdout)
	}
	image, err := os.ReadFile(filepath.Join(test, "test-0001.png"))
	if err != nil {
		t.Fatal(err)
	}
	s := serve(t, "--model", run)
	status, got := s.post("predict?beam=20&nbest=2", `{"image": "`+base64.StdEncoding.EncodeToString(image)+`"}`)
	var answer struct{ Text string }
	if err := json.Unmarshal([]byte(got), &answer); err != nil || status != 200 || answer.Text != p.Text {
		t.Errorf("%d, %s", status, got)
	}

	// New symbols follow those that are known: before training, lines of known ones are as probable as before.
	more := filepath.Join(dir, "more")
	if err := os.Mkdir(more, 0o777); err != nil {
		t.Fatal(err)
	}
	for name, content := range map[string][]byte{"a.png": image, lines.Listing: []byte("a.png\t%7!\n")} {
		if err := os.WriteFile(filepath.Join(more, name), content, 0o666); err != nil {
			t.Fatal(err)
		}
	}
	dsp(t, append([]string{"train", "--train", train, "--dev", more, "--passes", "1", "--out", filepath.Join(dir, "unknown")}, small...)...).ok()
	dsp(t, "train", "--train", train+","+more, "--init", run, "--method", "sgd", "--lr", "1e-12", "--passes", "1", "--quiet", "--out", filepath.Join(dir, "longer")).ok()
	if longer := dsp(t, "predict", "--model", filepath.Join(dir, "longer"), "--input", test).ok().stdout; longer != text {
		t.Errorf("with more symbols\n%.300s\nwant\n%.300s", longer, text)
	}
}

// framesFile writes lines of frames, and what they read, to an archive.
func framesFile(t *testing.T, features []float32, dim int, lengths []int64, texts []string) string {
	t.Helper()
	var archive bytes.Buffer
	err := arrays.WriteNPZ(&archive, func(n arrays.NPZWriter) error {
		if err := arrays.Add(n, "features", features, len(features)/dim, dim); err != nil {
			return err
		}
		if err := arrays.Add(n, "lengths", lengths, len(lengths)); err != nil {
			return err
		}
		return n.AddText("texts", texts)
	})
	if err != nil {
		t.Fatal(err)
	}
	return write(t, "frames.npz", archive.String())
}

// What is no line, or asks for what strings do not have, is refused with its place.
func TestTranscribeRefused(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	dsp(t, "data", "lines", "--out", dir, "--examples", "3,0,0", "--difficulty", "0").ok()
	train := filepath.Join(dir, "train")
	run := filepath.Join(dir, "run")
	dsp(t, "train", "--train", train, "--net", "linear", "--method", "lbfgs", "--passes", "2", "--out", run, "--quiet").ok()
	page, err := os.ReadFile(filepath.Join(train, "train-0001.png"))
	if err != nil {
		t.Fatal(err)
	}
	unread, named := filepath.Join(dir, "unread"), filepath.Join(dir, "named") // without and with a file that says what images read
	for path, content := range map[string][]byte{
		filepath.Join(unread, "a.png"): page, filepath.Join(unread, "broken.png"): page[:40],
		filepath.Join(named, "a.png"): page, filepath.Join(named, "broken.png"): nil, filepath.Join(named, lines.Listing): []byte("a.png\ta\nbroken.png\tb\n"),
	} {
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o777), os.WriteFile(path, content, 0o666)); err != nil {
			t.Fatal(err)
		}
	}
	features := make([]float32, 5)
	npz, tabs := framesFile(t, features, 1, []int64{5}, []string{"a"}), framesFile(t, features, 1, []int64{5}, []string{"a\tb"})
	for _, c := range []struct {
		args []string
		want string
	}{
		{[]string{"eval", "--model", run, "--data", train, "--confusion"}, "--confusion is about the labels of tokens"},
		{[]string{"train", "--train", train, "--loss", "hinge"}, "CTC"},
		{[]string{"train", "--train", train, "--net", "linear", "--method", "svrg", "--quiet"}, "which frame shows which symbol"},
		{[]string{"train", "--train", train, "--task-settings", "frame=40"}, "frames for a line of"},
		{[]string{"train", "--train", train, "--task-settings", "height=0"}, "height"},
		{[]string{"train", "--train", train, "--task-settings", "height=100000"}, "expected at most 1024"},
		{[]string{"train", "--task", "transcribe", "--train", npz, "--task-settings", "frame=4"}, "--format npz has frames"},
		{[]string{"train", "--task", "transcribe", "--train", tabs}, `texts[0] is "a\tb", expected text in UTF-8 without tabs`},
		{[]string{"train", "--train", train, "--method", "sdca"}, "Use --method prox-linear, or --net linear"},
		{[]string{"train", "--task", "transcribe", "--train", unread}, "no file lines.txt"},
		{[]string{"predict", "--model", run, "--input", train, "--picture", filepath.Join(dir, "x.svg"), "--beam", "3"}, "--beam has no effect with --picture"},
		{[]string{"train", "--train", train, "--teacher", run}, "--teacher"},
		{[]string{"data", "pack", "--train", train, "--out", filepath.Join(dir, "pack")}, "cannot be packed"},
		{[]string{"predict", "--model", run, "--input", train, "--nbest", "2"}, "--beam"},
		{[]string{"predict", "--model", run}, "standard input"},
		{[]string{"predict", "--model", run, "--input", train, "--beam", "-1"}, "--beam -1"},
		{[]string{"predict", "--model", run, "--input", train, "--marginals"}, "--marginals"},
		{[]string{"predict", "--model", run, "--input", train, "--confidence"}, "--confidence"},
		{[]string{"predict", "--model", run, "--input", train, "--entropy"}, "--entropy"},
		{[]string{"predict", "--model", run, "--input", train, "--select", "1", "--json"}, "use --by probability or --by margin"},
		{[]string{"predict", "--model", run, "--input", train, "--decode", "risk"}, "--decode risk"},
		{[]string{"predict", "--model", run, "--input", train, "--force"}, "--force"},
		{[]string{"eval", "--model", run, "--data", train, "--against", run, "--kl"}, "strings"},
		{[]string{"eval", "--model", run, "--data", train, "--beam", "3", "--errors", "2"}, "--beam 3"},
	} {
		args := c.args
		if args[0] == "train" {
			args = append(args, "--out", filepath.Join(dir, "refused"))
		}
		dsp(t, args...).refused(exitBadInput, c.want)
	}

	// Of a folder with a broken image, --bad skip leaves the others, with and without a file that names them.
	for _, dir := range []string{named, unread} {
		o := dsp(t, "predict", "--model", run, "--input", dir, "--bad", "skip").ok()
		if strings.Count(o.stdout, "\n") != 1 || strings.Count(o.stderr, "broken.png") != 1 || !strings.Contains(o.stderr, "bad examples are left out examples=1") {
			t.Errorf("%s: %q, %q", dir, o.stdout, o.stderr)
		}
		dsp(t, "predict", "--model", run, "--input", dir).refused(exitBadInput, "broken.png")
	}
	for text, want := range map[string]string{
		"train-0001.png\n":                       "lines.txt:1: \"train-0001.png\", expected the name of an image, a tab and what it reads",
		"\ntrain-0001.png\ta\ntrain-0001.png\tb": "lines.txt:3: train-0001.png is there twice, first on line 2",
		"none.png\ta\n":                          "none.png: no such file or folder, expected an image",
		"lines.txt\ta\n":                         "lines.txt:1",
		"../x.png\ta\n":                          "expected the name of an image in this folder",
		"\n":                                     "no lines",
		"train-0001.png\t\xff\n":                 "expected text in UTF-8",
		"train-0001.png\ta\tb\n":                 "expected one tab",
		"train-0001.png\t" + strings.Repeat("aa", 200) + "\n": "lines.txt:1: ",
	} {
		if err := os.WriteFile(filepath.Join(train, lines.Listing), []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
		dsp(t, "eval", "--model", run, "--data", train).refused(exitBadInput, want)
	}
}

// Images are scaled to the median height of the training images, within bounds, which the log says and the model keeps;
// who names a height gets it, and training that continues a model keeps the model's.
func TestHeightOfLines(t *testing.T) {
	t.Parallel()
	folder := func(height int) string {
		dir := t.TempDir()
		for k := range 4 {
			m := image.NewGray(image.Rect(0, 0, 3*height, height))
			for at := range m.Pix {
				m.Pix[at] = uint8(255 - 200*(at/(k+2)%2))
			}
			var file bytes.Buffer
			if err := png.Encode(&file, m); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(filepath.Join(dir, fmt.Sprintf("%d.png", k)), file.Bytes(), 0o666); err != nil {
				t.Fatal(err)
			}
		}
		if err := os.WriteFile(filepath.Join(dir, "lines.txt"), []byte("0.png\ta\n1.png\tb\n2.png\ta\n3.png\tb\n"), 0o666); err != nil {
			t.Fatal(err)
		}
		return dir
	}
	train := func(dir, out string, more ...string) string {
		return dsp(t, append([]string{"train", "--task", "transcribe", "--train", dir, "--net", "linear", "--method", "lbfgs", "--passes", "1", "--out", out}, more...)...).ok().stderr
	}
	runs := t.TempDir()
	for _, test := range []struct {
		height int
		more   []string
		want   int
	}{{10, nil, 16}, {24, nil, 24}, {80, nil, 32}, {80, []string{"--task-settings", "height=20"}, 20}, {24, []string{"--task-settings", "frame=3"}, 24}} {
		dir, out := folder(test.height), filepath.Join(runs, fmt.Sprint(test.height, len(test.more), test.want))
		if got := train(dir, out, test.more...); !strings.Contains(got, fmt.Sprintf("median_height=%d scaled_to=%d", test.height, test.want)) {
			t.Errorf("%d pixels %v: expected a height of %d in\n%s", test.height, test.more, test.want, got)
		}
		dsp(t, "eval", "--model", out, "--data", dir).ok()
	}
	if got := train(folder(24), filepath.Join(runs, "more"), "--init", filepath.Join(runs, fmt.Sprint(80, 0, 32))); !strings.Contains(got, "median_height=24 scaled_to=32") {
		t.Errorf("continued with another height:\n%s", got)
	}
	// Frames of 128 numbers, as images of letters have them, are frames all the same.
	for _, more := range [][]string{nil, {"--channels", "4"}, {"--window", "5"}} {
		var r struct{ Net string }
		out := filepath.Join(runs, fmt.Sprint("frames", len(more), more))
		dsp(t, append([]string{"train", "--train", folder(64), "--task-settings", "height=64,frame=2", "--passes", "1", "--out", out, "--json", "--quiet"}, more...)...).ok().json(&r)
		if r.Net != "cnn" {
			t.Errorf("%v: net %q, expected cnn", more, r.Net)
		}
	}
}
