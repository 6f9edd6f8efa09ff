package endtoend

import (
	"bytes"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/dsp-go/dsp/models/data/treebank"
)

// drawnTrees returns a folder of small treebanks, drawn once for all tests.
func drawnTrees(t *testing.T) string {
	t.Helper()
	dir, err := drawTreesOnce()
	if err != nil {
		t.Fatal(err)
	}
	return dir
}

var drawTreesOnce = sync.OnceValues(func() (string, error) {
	dir := filepath.Join(shared, "treebanks")
	return dir, runProgram("data", "trees", "--out", dir, "--examples", "50,20,20")
})

// parser returns the run folder of a parser, trained once for all tests.
func parser(t *testing.T) string {
	t.Helper()
	drawnTrees(t)
	dir, err := parserOnce()
	if err != nil {
		t.Fatal(err)
	}
	return dir
}

var parserOnce = sync.OnceValues(func() (string, error) {
	dir, data := filepath.Join(shared, "parser"), filepath.Join(shared, "treebanks")
	return dir, runProgram("train", "--task", "parse", "--train", filepath.Join(data, "train.conllu"), "--dev", filepath.Join(data, "dev.conllu"),
		"--gap", "0.05", "--out", dir, "--quiet")
})

type attachmentJSON struct {
	UAS, LAS, Root float64
	UASNoPunct     float64 `json:"uas_nopunct"`
	LASNoPunct     float64 `json:"las_nopunct"`
	Words          int
	Relations      []struct{ Name string }
}

// A parser chooses its own training settings, certifies the optimum, and reports attachment scores.
func TestParserByDefault(t *testing.T) {
	t.Parallel()
	dir := parser(t)
	config, err := os.ReadFile(filepath.Join(dir, "config.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	for _, line := range []string{"task: parse", "format: conllu", "net: linear", "features: parse", "loss: crf", "method: sdca", "tree: projective"} {
		if !strings.Contains(string(config), line+"\n") {
			t.Errorf("no %q in\n%s", line, config)
		}
	}
	var m attachmentJSON
	test := filepath.Join(drawnTrees(t), "test.conllu")
	dsp(t, "eval", "--model", dir, "--data", test, "--json").ok().json(&m)
	if m.UAS < 0.6 || m.LAS > m.UAS || m.LAS < 0.5 || m.Root == 0 || m.Words == 0 || len(m.Relations) < 10 || m.UASNoPunct == m.UAS {
		t.Errorf("got %+v", m)
	}
	o := dsp(t, "eval", "--model", dir, "--data", test).ok()
	if !strings.Contains(o.stdout, fmt.Sprintf("%.2f", 100*m.UAS)) || !strings.Contains(o.stdout, "nsubj") {
		t.Errorf("printed\n%s", o.stdout)
	}
	if o := dsp(t, "info", dir).ok(); !strings.Contains(o.stdout, "attributes of arcs") || !strings.Contains(o.stdout, "# Template") {
		t.Errorf("info printed\n%s", o.stdout)
	}
}

// Predictions fill HEAD and DEPREL, copy all other bytes of the file, and agree with what eval measures.
func TestPredictTrees(t *testing.T) {
	t.Parallel()
	dir, test := parser(t), filepath.Join(drawnTrees(t), "test.conllu")
	text, err := os.ReadFile(test)
	if err != nil {
		t.Fatal(err)
	}
	var blank strings.Builder
	for line := range strings.Lines(string(text)) {
		if cells := strings.Split(line, "\t"); len(cells) == 10 && !strings.ContainsAny(cells[0], "-.") {
			cells[6], cells[7] = "_", "_"
			line = strings.Join(cells, "\t")
		}
		blank.WriteString(line)
	}
	o := dspWith(t, blank.String(), "predict", "--model", dir, "--format", "conllu").ok()
	if whole := dsp(t, "predict", "--model", dir, "--input", test).ok(); whole.stdout != o.stdout {
		t.Error("gold trees in the input change the predictions")
	}
	if one := dsp(t, "predict", "--model", dir, "--input", test, "--threads", "1").ok(); one.stdout != o.stdout {
		t.Error("another number of threads changes the predictions")
	}
	in, out := strings.Split(string(text), "\n"), strings.Split(o.stdout, "\n")
	if len(in) != len(out) {
		t.Fatalf("%d lines, the input has %d", len(out), len(in))
	}
	words, heads, labeled := 0, 0, 0
	for k, line := range in {
		a, b := strings.Split(line, "\t"), strings.Split(out[k], "\t")
		if len(a) != 10 || strings.ContainsAny(a[0], "-.") {
			if line != out[k] {
				t.Fatalf("line %d: %q, the input has %q", k+1, out[k], line)
			}
			continue
		}
		words++
		if a[6] == b[6] {
			heads++
			relation, _, _ := strings.Cut(a[7], ":")
			if predicted, _, _ := strings.Cut(b[7], ":"); predicted == relation {
				labeled++
			}
		}
		a[6], a[7], b[6], b[7] = "", "", "", ""
		if strings.Join(a, "\t") != strings.Join(b, "\t") {
			t.Fatalf("line %d: other columns change: %q", k+1, out[k])
		}
	}
	var m attachmentJSON
	dsp(t, "eval", "--model", dir, "--data", test, "--json").ok().json(&m)
	if math.Abs(m.UAS-float64(heads)/float64(words)) > 1e-9 || math.Abs(m.LAS-float64(labeled)/float64(words)) > 1e-9 {
		t.Errorf("counted UAS %d/%d, LAS %d/%d; eval says %+v", heads, words, labeled, words, m)
	}
	b, err := treebank.Reader{}.Read(strings.NewReader(o.stdout), "predicted")
	if err != nil || b.Crossing().Sentences > 0 {
		t.Errorf("predicted trees: %v, %d not projective", err, b.Crossing().Sentences)
	}
}

// N-best trees are sorted and have probabilities, marginals sum to 1 over the heads of a word, and the most probable
// trees are consistent with the marginals.
func TestTreeProbabilities(t *testing.T) {
	t.Parallel()
	dir := parser(t)
	sentence := "1\tthe\tthe\tDET\t_\t_\t_\t_\t_\t_\n2\tdog\tdog\tNOUN\t_\t_\t_\t_\t_\tSpaceAfter=No\n3\tsleeps\tsleep\tVERB\t_\t_\t_\t_\t_\t_\n\n"
	var a struct {
		Heads       []int
		Relations   []string
		Score       float64
		Probability float64
		Nbest       []struct {
			Heads       []int
			Probability float64
			Score       float64
		}
		Marginals [][]float64
	}
	dspWith(t, sentence, "predict", "--model", dir, "--format", "conllu", "--json", "--nbest", "400", "--marginals").ok().json(&a)
	if len(a.Heads) != 3 || len(a.Relations) != 3 || len(a.Nbest) != 400 || a.Nbest[0].Score != a.Score {
		t.Fatalf("got %+v", a)
	}
	sums := make([][]float64, 3)
	for d, row := range a.Marginals {
		total := 0.0
		for _, p := range row {
			total += p
		}
		if len(row) != 4 || math.Abs(total-1) > 1e-5 {
			t.Errorf("word %d: marginals %v sum to %g", d+1, row, total)
		}
		sums[d] = make([]float64, 4)
	}
	for k, one := range a.Nbest {
		if k > 0 && one.Score > a.Nbest[k-1].Score {
			t.Errorf("score %d rises", k)
		}
		for d, head := range one.Heads {
			sums[d][head] += one.Probability
		}
	}
	for d, row := range a.Marginals {
		for head, p := range row {
			if sums[d][head] > p+1e-5 {
				t.Errorf("word %d, head %d: the best trees have probability %g, the marginal is %g", d+1, head, sums[d][head], p)
			}
		}
	}
	o := dspWith(t, sentence, "predict", "--model", dir, "--format", "conllu", "--marginals", "--confidence", "--score").ok()
	for line := range strings.Lines(o.stdout) {
		cells := strings.Split(strings.TrimSpace(line), "\t")
		if len(cells) != 10 {
			continue
		}
		d, _ := strconv.Atoi(cells[0])
		head, _ := strconv.Atoi(cells[6])
		if want := fmt.Sprintf("ArcProb=%.4f", a.Marginals[d-1][head]); !strings.Contains(cells[9], want) || !strings.Contains(cells[9], "HeadProbs=") {
			t.Errorf("word %d: MISC %q, want %s", d, cells[9], want)
		}
		if d == 2 && !strings.HasPrefix(cells[9], "SpaceAfter=No|") {
			t.Errorf("MISC %q lost what it had", cells[9])
		}
	}
	if !strings.HasPrefix(o.stdout, "# ") {
		t.Errorf("no score in\n%s", o.stdout)
	}
	risk := dspWith(t, sentence, "predict", "--model", dir, "--format", "conllu", "--decode", "risk").ok()
	if _, err := (treebank.Reader{}).Read(strings.NewReader(risk.stdout), "risk"); err != nil {
		t.Errorf("decoded by risk: %v\n%s", err, risk.stdout)
	}
}

// Every convex method certifies the linear parser, projective or not, and their intervals overlap.
func TestParserMethods(t *testing.T) {
	t.Parallel()
	data := filepath.Join(t.TempDir(), "few")
	dsp(t, "data", "trees", "--out", data, "--examples", "12,2,2").ok()
	for _, tree := range []string{"projective", "nonprojective"} {
		for loss, methods := range map[string][]string{
			"hinge": {"bcfw", "bcpfw", "svrg", "casimir", "saga"}, "crf": {"sdca", "lbfgs", "svrg"}, "softmax-margin": {"sdca"},
		} {
			dual, primal := math.Inf(-1), math.Inf(1)
			for _, method := range methods {
				var r struct{ Objective, Dual, Gap float64 }
				dsp(t, "train", "--task", "parse", "--train", filepath.Join(data, "train.conllu"), "--tree", tree, "--loss", loss, "--method", method,
					"--passes", "4", "--min-count", "3", "--quiet", "--json", "--out", filepath.Join(t.TempDir(), method)).ok().json(&r)
				if !(r.Gap >= 0) || !(r.Dual < r.Objective) {
					t.Errorf("%s, %s, %s: got %+v", tree, loss, method, r)
				}
				dual, primal = max(dual, r.Dual), min(primal, r.Objective)
			}
			if dual > primal*(1+1e-5) {
				t.Errorf("%s, %s: a lower bound %g exceeds an objective %g", tree, loss, dual, primal)
			}
		}
	}
}

// A seed gives the same parser, bit for bit, with any number of threads.
func TestParserThreads(t *testing.T) {
	t.Parallel()
	data := filepath.Join(drawnTrees(t), "test.conllu")
	for _, method := range []string{"sdca", "bcfw", "svrg"} {
		var want []byte
		for _, threads := range []string{"1", "3"} {
			out := filepath.Join(t.TempDir(), threads)
			dsp(t, "train", "--task", "parse", "--train", data, "--method", method, "--passes", "3", "--quiet", "--out", out, "--threads", threads).ok()
			got, err := os.ReadFile(filepath.Join(out, "model.safetensors"))
			if err != nil {
				t.Fatal(err)
			}
			if want == nil {
				want = got
			} else if !bytes.Equal(got, want) {
				t.Errorf("%s: another model with %s threads", method, threads)
			}
		}
	}
}

// An interrupted run on trees resumes to the same bits.
func TestParserResumes(t *testing.T) {
	t.Parallel()
	data := filepath.Join(drawnTrees(t), "test.conllu")
	for _, method := range []string{"sdca", "bcpfw"} {
		whole, parts := filepath.Join(t.TempDir(), "whole"), filepath.Join(t.TempDir(), "parts")
		flags := []string{"train", "--task", "parse", "--train", data, "--method", method, "--gap", "0", "--quiet"}
		dsp(t, with(flags, "--passes", "4", "--out", whole)...).ok()
		dsp(t, with(flags, "--passes", "2", "--out", parts)...).ok()
		dsp(t, "train", "--resume", parts, "--passes", "4", "--quiet").ok()
		a, err := os.ReadFile(filepath.Join(whole, "model.safetensors"))
		if err != nil {
			t.Fatal(err)
		}
		b, err := os.ReadFile(filepath.Join(parts, "model.safetensors"))
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(a, b) {
			t.Errorf("%s: another model after resuming", method)
		}
	}
}

// Files without trees, and settings that contradict each other, are refused with what was found.
func TestParserRefusals(t *testing.T) {
	t.Parallel()
	dir := parser(t)
	cycle := write(t, "cycle.conllu", "1\ta\ta\tX\t_\t_\t2\tdep\t_\t_\n2\tb\tb\tX\t_\t_\t1\tdep\t_\t_\n\n")
	crossing := write(t, "crossing.conllu", "1\ta\ta\tX\t_\t_\t3\tdep\t_\t_\n2\tb\tb\tX\t_\t_\t4\tdep\t_\t_\n3\tc\tc\tX\t_\t_\t0\troot\t_\t_\n4\td\td\tX\t_\t_\t3\tdep\t_\t_\n\n")
	dsp(t, "train", "--task", "parse", "--train", cycle).refused(exitBadInput, "cycle.conllu:1")
	dsp(t, "train", "--task", "parse", "--train", crossing, "--crossing", "refuse").refused(exitBadInput, "crossing.conllu:1", "--tree nonprojective")
	dsp(t, "train", "--task", "parse", "--train", write(t, "tags.conll", sentences)).refused(exitBadInput, "conllu")
	dsp(t, "predict", "--model", dir, "--input", crossing, "--force").refused(exitBadInput, "crossing.conllu:1", `"dep"`)
	known := write(t, "known.conllu", "1\ta\ta\tX\t_\t_\t3\tdet\t_\t_\n2\tb\tb\tX\t_\t_\t4\tdet\t_\t_\n3\tc\tc\tX\t_\t_\t0\troot\t_\t_\n4\td\td\tX\t_\t_\t3\tdet\t_\t_\n\n")
	dsp(t, "predict", "--model", dir, "--input", known, "--force").refused(exitBadInput, "known.conllu:1", "no crossing arcs", "--tree nonprojective")
	dsp(t, "predict", "--model", dir, "--input", crossing, "--decode", "best").refused(exitBadInput, "use max, risk")
	dsp(t, "info", dir, "--top", "3").refused(exitBadInput, "--top")
	if o := dsp(t, "train", "--task", "parse", "--train", crossing, "--out", filepath.Join(t.TempDir(), "lifted"), "--passes", "1"); o.code != 0 || !strings.Contains(o.stderr, "lifted") {
		t.Errorf("lifted: %d, %s", o.code, o.stderr)
	}
}

// The export of tree potentials holds every part under its name.
func TestExportTreePotentials(t *testing.T) {
	t.Parallel()
	dir, out := parser(t), filepath.Join(t.TempDir(), "potentials.safetensors")
	dsp(t, "export", "--model", dir, "--data", filepath.Join(drawnTrees(t), "dev.conllu"), "--to", out).ok()
	content, err := os.ReadFile(out)
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{`"arc"`, `"label"`, `"offsets"`, `"arc_offsets"`, `"labels"`, `label_names`} {
		if !bytes.Contains(content[:min(len(content), 1<<16)], []byte(name)) {
			t.Errorf("no %s in the file", name)
		}
	}
}

// The built-in template is printed, and training with the printed template gives the same parser.
func TestParserTemplate(t *testing.T) {
	t.Parallel()
	template := dsp(t, "info", "--features", "parse").ok().stdout
	data := filepath.Join(drawnTrees(t), "dev.conllu")
	var models [][]byte
	for _, flags := range [][]string{nil, {"--template", write(t, "mine.template", template)}} {
		out := filepath.Join(t.TempDir(), "run")
		dsp(t, with([]string{"train", "--task", "parse", "--train", data, "--passes", "2", "--quiet", "--out", out}, flags...)...).ok()
		weights := filepath.Join(t.TempDir(), "weights.npz")
		dsp(t, "export", "--model", out, "--weights", "--to", weights).ok()
		content, err := os.ReadFile(weights)
		if err != nil {
			t.Fatal(err)
		}
		models = append(models, content)
	}
	if !bytes.Equal(models[0], models[1]) {
		t.Error("the printed template trains another parser")
	}
}

// smallBiaffine holds the flags of a small network for trees.
var smallBiaffine = []string{"--task", "parse", "--net", "biaffine", "--channels", "12", "--embed", "8,4,4,4,4,4", "--arc-units", "8", "--label-units", "6"}

// The biaffine network trains by sgd and by prox-linear, to the same bits with any number of threads and after
// resuming, and parses.
func TestBiaffineParser(t *testing.T) {
	t.Parallel()
	data := drawnTrees(t)
	for _, method := range []string{"sgd", "prox-linear", "prox-linear --model-batch all"} {
		train := func(trees, out string, more ...string) string {
			flags := with(with([]string{"train", "--train", filepath.Join(data, trees), "--quiet", "--method"}, strings.Fields(method)...), smallBiaffine...)
			to := filepath.Join(t.TempDir(), out)
			dsp(t, with(with(flags, more...), "--out", to)...).ok()
			return to
		}
		var m attachmentJSON
		dsp(t, "eval", "--model", train("train.conllu", "parser", "--passes", "5"), "--data", filepath.Join(data, "test.conllu"), "--json").ok().json(&m)
		if m.UAS < 0.5 || m.LAS < 0.4 {
			t.Errorf("%s: got %+v", method, m)
		}
		want := modelOf(t, train("dev.conllu", "1", "--passes", "4", "--threads", "1"))
		if !bytes.Equal(modelOf(t, train("dev.conllu", "3", "--passes", "4", "--threads", "3")), want) {
			t.Errorf("%s: another model with 3 threads", method)
		}
		if method == "prox-linear" { // η depends on the number of passes
			continue
		}
		parts := train("dev.conllu", "parts", "--passes", "2")
		dsp(t, "train", "--resume", parts, "--passes", "4", "--quiet").ok()
		if !bytes.Equal(modelOf(t, parts), want) {
			t.Errorf("%s: another model after resuming", method)
		}
	}
	dsp(t, "train", "--task", "parse", "--net", "cnn", "--train", filepath.Join(data, "dev.conllu")).refused(exitBadInput, "biaffine")
	dsp(t, with(with([]string{"train", "--train", filepath.Join(data, "dev.conllu")}, smallBiaffine...), "--method", "sdca")...).refused(exitBadInput, "sdca", "linear")
}

// dsp data trees writes the requested number of sentences, with trees, and the requested amount of extraposition.
func TestDrawnTrees(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "new")
	var drawn struct{ Train, Dev, Test int }
	dsp(t, "data", "trees", "--out", dir, "--examples", "40,20,30", "--seed", "3", "--extraposition", "1", "--json").ok().json(&drawn)
	for name, n := range map[string]int{"train": 40, "dev": 20, "test": 30} {
		text, err := os.ReadFile(filepath.Join(dir, name+".conllu"))
		if err != nil {
			t.Fatal(err)
		}
		b, err := treebank.Reader{}.Read(bytes.NewReader(text), name)
		if err != nil || b.Len() != n {
			t.Fatalf("%s: %d sentences, want %d: %v", name, b.Len(), n, err)
		}
		if b.Crossing().Sentences == 0 {
			t.Errorf("%s: every tree is projective", name)
		}
	}
	if drawn.Train != 40 || drawn.Dev != 20 || drawn.Test != 30 {
		t.Errorf("printed %+v", drawn)
	}
}
