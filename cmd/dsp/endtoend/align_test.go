package endtoend

import (
	"bytes"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/dsp-go/dsp/models/data/alignments"
	"github.com/dsp-go/dsp/models/data/arrays"
)

// drawnPairs returns a folder of a few sentence pairs, drawn once for all tests.
func drawnPairs(t *testing.T) string {
	t.Helper()
	dir, err := drawPairsOnce()
	if err != nil {
		t.Fatal(err)
	}
	return dir
}

var drawPairsOnce = sync.OnceValues(func() (string, error) {
	dir := filepath.Join(shared, "pairs")
	return dir, runProgram("data", "pairs", "--out", dir, "--examples", "200,40,40", "--bitext", "300")
})

// aligner returns the run folder of an aligner, trained once for all tests.
func aligner(t *testing.T) string {
	t.Helper()
	drawnPairs(t)
	dir, err := alignerOnce()
	if err != nil {
		t.Fatal(err)
	}
	return dir
}

var alignerOnce = sync.OnceValues(func() (string, error) {
	dir, data := filepath.Join(shared, "aligner"), filepath.Join(shared, "pairs")
	return dir, runProgram("train", "--train", filepath.Join(data, "train.pairs"), "--dev", filepath.Join(data, "dev.pairs"), "--gap", "0.05", "--out", dir, "--quiet")
})

type linksJSON struct {
	AER, Precision, Recall, F1       float64
	Predicted, Sure, Possible, Pairs int
}

// An aligner chooses its own training settings, certifies the optimum, and does far better than association alone.
func TestAlignerByDefault(t *testing.T) {
	t.Parallel()
	dir, test := aligner(t), filepath.Join(drawnPairs(t), "test.pairs")
	config, err := os.ReadFile(filepath.Join(dir, "config.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	for _, line := range []string{"task: align", "format: pairs", "net: linear", "features: align", "loss: hinge", "method: bcpfw", "unmatched: learned"} {
		if !strings.Contains(string(config), line+"\n") {
			t.Errorf("no %q in\n%s", line, config)
		}
	}
	var m linksJSON
	dsp(t, "eval", "--model", dir, "--data", test, "--json").ok().json(&m)
	if m.AER > 0.12 || m.AER == 0 || m.Pairs != 40 || m.Possible <= m.Sure || m.F1 < 0.88 {
		t.Errorf("got %+v", m)
	}
	if o := dsp(t, "eval", "--model", dir, "--data", test).ok(); !strings.Contains(o.stdout, fmt.Sprintf("%.2f %%", 100*m.AER)) {
		t.Errorf("printed\n%s", o.stdout)
	}
	if o := dsp(t, "info", dir).ok(); !strings.Contains(o.stdout, "attributes of pairs") || !strings.Contains(o.stdout, "# Template") || strings.Contains(o.stdout, "labels      ") {
		t.Errorf("info printed\n%s", o.stdout)
	}
}

// On built-in data the result compares with alignment by association.
func TestAlignerBaseline(t *testing.T) {
	t.Parallel()
	var r struct {
		Gap, Objective float64
		Dev            linksJSON
		Baselines      []struct {
			Method string
			Test   linksJSON
		}
		Test linksJSON
	}
	out := filepath.Join(t.TempDir(), "run")
	dsp(t, "train", "--task", "align", "--examples", "100,20,30", "--passes", "5", "--quiet", "--json", "--out", out).ok().json(&r)
	if len(r.Baselines) != 1 || r.Baselines[0].Method != "greedy by Dice" || r.Test.AER > 0.75*r.Baselines[0].Test.AER || !(r.Gap > 0) {
		t.Errorf("got %+v", r)
	}
	dsp(t, "eval", "--model", out, "--data", "builtin").ok()
	first := dsp(t, "predict", "--model", out, "--input", "builtin").ok().stdout
	if strings.Count(first, "\n") != 30 {
		t.Errorf("predicted\n%s", first)
	}
}

// Predictions are the lines of a Pharaoh file, whether gold links are given or not, and agree with what eval measures.
func TestPredictLinks(t *testing.T) {
	t.Parallel()
	dir, test := aligner(t), filepath.Join(drawnPairs(t), "test.pairs")
	text, err := os.ReadFile(test)
	if err != nil {
		t.Fatal(err)
	}
	gold, err := alignments.Reader{}.Read(bytes.NewReader(text), test)
	if err != nil {
		t.Fatal(err)
	}
	var blind strings.Builder
	for i := range gold.Len() {
		blind.Write(append(alignments.AppendPair(nil, gold.Source(i), gold.Target(i)), '\n'))
	}
	o := dspWith(t, blind.String(), "predict", "--model", dir).ok()
	for _, flags := range [][]string{nil, {"--threads", "1"}, {"--threads", "2"}} {
		if with := dsp(t, with([]string{"predict", "--model", dir, "--input", test}, flags...)...).ok(); with.stdout != o.stdout {
			t.Errorf("with gold links and %v, other predictions", flags)
		}
	}
	predicted, err := alignments.Reader{}.ReadLinks(gold, strings.NewReader(o.stdout), "predicted")
	if err != nil {
		t.Fatal(err)
	}
	all, sure, both, correct := 0, 0, 0, 0 // |A|, |S|, |A∩P|, |A∩S|
	for i, links := range predicted {
		kinds := map[[2]int32]bool{}
		for _, l := range gold.LinksOf(i) {
			kinds[[2]int32{l.Source, l.Target}] = l.Sure
			if l.Sure {
				sure++
			}
		}
		sources, targets := map[int32]bool{}, map[int32]bool{}
		for _, l := range links {
			all++
			if sources[l.Source] || targets[l.Target] {
				t.Errorf("pair %d: a word has two links: %v", i, links)
			}
			sources[l.Source], targets[l.Target] = true, true
			isSure, isPossible := kinds[[2]int32{l.Source, l.Target}]
			if isPossible {
				both++
			}
			if isSure {
				correct++
			}
		}
	}
	var m linksJSON
	dsp(t, "eval", "--model", dir, "--data", test, "--json").ok().json(&m)
	if want := 1 - float64(correct+both)/float64(all+sure); math.Abs(m.AER-want) > 1e-9 || m.Predicted != all || m.Sure != sure {
		t.Errorf("counted AER %v of %d links; eval says %+v", want, all, m)
	}
	links := write(t, "gold.links", "")
	var lines []byte
	for i := range gold.Len() {
		lines = append(alignments.AppendLinks(lines, gold.LinksOf(i), nil), '\n')
	}
	if err := os.WriteFile(links, lines, 0o666); err != nil {
		t.Fatal(err)
	}
	var beside linksJSON
	dsp(t, "eval", "--model", dir, "--data", write(t, "blind.pairs", blind.String()), "--links", links, "--json").ok().json(&beside)
	if beside != m {
		t.Errorf("links beside the pairs: %+v, expected %+v", beside, m)
	}
}

// N-best alignments are sorted and differ. The margin of a predicted link is the score of the best alignment less that
// of the best one without the link; that of another link is the reverse. Both are found among all alignments of a short
// pair.
func TestLinkMargins(t *testing.T) {
	t.Parallel()
	dir, pair := aligner(t), "naung la .\t||| no maintrue .\n"
	var a struct {
		ID    string
		Links [][2]int
		Score float64
		Nbest []struct {
			Links [][2]int
			Score float64
		}
		Margins [][]float64
		Own     []float64 `json:"link_margins"`
	}
	dspWith(t, pair, "predict", "--model", dir, "--json", "--nbest", "100", "--marginals", "--confidence").ok().json(&a)
	if a.ID != "0" || len(a.Nbest) != 34 || a.Nbest[0].Score != a.Score { // 1 + 9 + 18 + 6 matchings of 3 by 3
		t.Fatalf("got %d alignments, %+v", len(a.Nbest), a)
	}
	seen := map[string]bool{}
	for k, one := range a.Nbest {
		if seen[fmt.Sprint(one.Links)] || k > 0 && one.Score > a.Nbest[k-1].Score {
			t.Errorf("alignment %d: %+v is repeated or out of order", k, one)
		}
		seen[fmt.Sprint(one.Links)] = true
	}
	for i := range 3 {
		for j := range 3 {
			with, without := math.Inf(-1), math.Inf(-1)
			for _, one := range a.Nbest {
				if strings.Contains(fmt.Sprint(one.Links), fmt.Sprintf("[%d %d]", i, j)) {
					with = max(with, one.Score)
				} else {
					without = max(without, one.Score)
				}
			}
			if math.Abs(a.Margins[i][j]-(with-without)) > 1e-4 {
				t.Errorf("link %d-%d: margin %v, expected %v", i, j, a.Margins[i][j], with-without)
			}
		}
	}
	for k, l := range a.Links {
		if a.Own[k] != a.Margins[l[0]][l[1]] || a.Own[k] < 0 {
			t.Errorf("link %v: margin %v, in the matrix %v", l, a.Own[k], a.Margins[l[0]][l[1]])
		}
	}
	line := dspWith(t, pair, "predict", "--model", dir, "--confidence", "--score", "--marginals").ok().stdout
	fields := strings.Split(strings.TrimSpace(line), " ||| ")
	if len(fields) != 3 || strings.Count(fields[0], ":") != len(a.Links) || strings.Count(fields[2], ":") != 9 {
		t.Errorf("printed %q", line)
	}
	best := strings.Split(dspWith(t, pair, "predict", "--model", dir, "--nbest", "2").ok().stdout, "\n")
	if len(best) != 3 || !strings.HasPrefix(best[0], "0 ||| ") || !strings.HasPrefix(best[1], "1 ||| ") {
		t.Errorf("printed %q", best)
	}
	dspWith(t, pair, "predict", "--model", dir, "--decode", "risk").refused(exitBadInput, "sums")

	// What is given is kept, and the rest is the best that agrees with it.
	dspWith(t, pair, "predict", "--model", dir, "--force").refused(exitBadInput, "no links, expected lines of source words")
	dspWith(t, strings.TrimSpace(pair)+" ||| 0-99\n", "predict", "--model", dir, "--force").refused(exitBadInput, "standard input:1: link 0-99: target word 99")
	for given, agrees := range map[string]func(links map[[2]int]bool, of int) bool{
		"":            func(map[[2]int]bool, int) bool { return true },
		"1-0":         func(links map[[2]int]bool, of int) bool { return links[[2]int{1, 0}] },
		"1-2 0?0 0?1": func(links map[[2]int]bool, of int) bool { return links[[2]int{1, 2}] && of != 2 },
	} {
		want := ""
		for _, one := range a.Nbest {
			links, of := map[[2]int]bool{}, -1 // the target of source word 0
			for _, l := range one.Links {
				if links[l] = true; l[0] == 0 {
					of = l[1]
				}
			}
			if agrees(links, of) {
				want = fmt.Sprint(one.Links)
				break
			}
		}
		var forced struct{ Links [][2]int }
		dspWith(t, strings.TrimSpace(pair)+" ||| "+given+"\n", "predict", "--model", dir, "--force", "--json", "--confidence").ok().json(&forced)
		if fmt.Sprint(forced.Links) != want {
			t.Errorf("given %s: %v, expected %s", given, forced.Links, want)
		}
	}
	dspWith(t, strings.TrimSpace(pair)+" ||| 0-1 2-1\n", "predict", "--model", dir, "--force").refused(exitBadInput, "target word 1 has sure links to source words 0 and 2")
}

// Every method for the hinge certifies the linear aligner, and their intervals overlap.
func TestAlignerMethods(t *testing.T) {
	t.Parallel()
	data := filepath.Join(drawnPairs(t), "dev.pairs")
	dual, primal := math.Inf(-1), math.Inf(1)
	for _, flags := range []string{"bcfw", "bcpfw", "svrg", "saga", "casimir", "casimir-adapt", "casimir --k 2", "lbfgs --mu 1"} {
		var r struct{ Objective, Dual, Gap float64 }
		dsp(t, with([]string{"train", "--train", data, "--passes", "4", "--quiet", "--json", "--out", filepath.Join(t.TempDir(), "run"), "--method"},
			strings.Fields(flags)...)...).ok().json(&r)
		if !(r.Gap >= 0) || !(r.Dual < r.Objective) {
			t.Errorf("%s: got %+v", flags, r)
		}
		dual, primal = max(dual, r.Dual), min(primal, r.Objective)
	}
	if dual > primal*(1+1e-5) {
		t.Errorf("a lower bound %g exceeds an objective %g", dual, primal)
	}
	for flags, says := range map[string]string{
		"--loss crf": "--loss hinge", "--loss softmax-margin": "#P-complete", "--smoothing entropy": "l2", "--method sdca": "bcfw", "--method lbfgs": "--mu",
		"--net cnn": "bilinear", "--features ner": "--features align", "--features none": "--net bilinear", "--constraints bioes": "--task",
	} {
		dsp(t, with([]string{"train", "--task", "align", "--train", data}, strings.Fields(flags)...)...).refused(exitBadInput, says)
	}
}

// A seed gives the same aligner, bit for bit, with any number of threads and after resuming.
func TestAlignerThreadsAndResumes(t *testing.T) {
	t.Parallel()
	data := filepath.Join(drawnPairs(t), "dev.pairs")
	for _, flags := range []string{"--method bcpfw --gap 0", "--method casimir --gap 0", "--net bilinear --channels 8 --embed 6 --pair-units 5 --method sgd"} {
		flags := with([]string{"train", "--train", data, "--quiet"}, strings.Fields(flags)...)
		var want []byte
		for _, threads := range []string{"1", "2"} {
			out := filepath.Join(t.TempDir(), threads)
			dsp(t, with(flags, "--passes", "4", "--threads", threads, "--out", out)...).ok()
			if got := modelOf(t, out); want == nil {
				want = got
			} else if !bytes.Equal(got, want) {
				t.Errorf("%v: another model with %s threads", flags, threads)
			}
		}
		parts := filepath.Join(t.TempDir(), "parts")
		dsp(t, with(flags, "--passes", "2", "--out", parts)...).ok()
		dsp(t, "train", "--resume", parts, "--passes", "4", "--quiet").ok()
		if !bytes.Equal(modelOf(t, parts), want) {
			t.Errorf("%v: another model after resuming", flags)
		}
	}
}

// The bilinear network aligns, with attributes of pairs and without them, trained by prox-linear.
func TestBilinearAligner(t *testing.T) {
	t.Parallel()
	data := drawnPairs(t)
	for features, most := range map[string]float64{"auto": 0.15, "none": 0.7} {
		out := filepath.Join(t.TempDir(), features)
		dsp(t, "train", "--train", filepath.Join(data, "train.pairs"), "--net", "bilinear", "--features", features, "--channels", "16", "--embed", "16", "--pair-units", "8",
			"--passes", "4", "--quiet", "--out", out).ok()
		var m linksJSON
		dsp(t, "eval", "--model", out, "--data", filepath.Join(data, "test.pairs"), "--json").ok().json(&m)
		if m.AER > most {
			t.Errorf("features %s: got %+v", features, m)
		}
		dsp(t, "predict", "--model", out, "--input", filepath.Join(data, "test.pairs"), "--nbest", "2", "--confidence").ok()
		dsp(t, "info", out).ok()
	}
}

// Costs of missed and of false links trade recall for precision; more text changes the statistics.
func TestAlignerCosts(t *testing.T) {
	t.Parallel()
	data := drawnPairs(t)
	measure := func(flags ...string) (m linksJSON) {
		out := filepath.Join(t.TempDir(), "run")
		dsp(t, with([]string{"train", "--train", filepath.Join(data, "train.pairs"), "--passes", "4", "--quiet", "--out", out}, flags...)...).ok()
		dsp(t, "eval", "--model", out, "--data", filepath.Join(data, "test.pairs"), "--json").ok().json(&m)
		return m
	}
	plain, bold, timid := measure(), measure("--miss-cost", "8"), measure("--false-cost", "8")
	if !(bold.Predicted > plain.Predicted && plain.Predicted > timid.Predicted && timid.Precision > bold.Precision && bold.Recall > timid.Recall) {
		t.Errorf("costs 1 and 1: %+v\nmisses cost 8: %+v\nfalse links cost 8: %+v", plain, bold, timid)
	}
	if more := measure("--bitext", filepath.Join(data, "bitext.pairs")); more.AER >= plain.AER {
		t.Errorf("more text: AER %v, without it %v", more.AER, plain.AER)
	}
}

// The printed template trains the same aligner. The export of potentials holds both parts.
func TestAlignerTemplateAndExport(t *testing.T) {
	t.Parallel()
	template := dsp(t, "info", "--features", "align").ok().stdout
	data := filepath.Join(drawnPairs(t), "dev.pairs")
	var models [][]byte
	for _, flags := range [][]string{nil, {"--template", write(t, "mine.template", template)}} {
		out, weights := filepath.Join(t.TempDir(), "run"), filepath.Join(t.TempDir(), "weights.npz")
		dsp(t, with([]string{"train", "--train", data, "--passes", "2", "--quiet", "--out", out}, flags...)...).ok()
		dsp(t, "export", "--model", out, "--weights", "--to", weights).ok()
		content, err := os.ReadFile(weights)
		if err != nil {
			t.Fatal(err)
		}
		models = append(models, content)
	}
	if !bytes.Equal(models[0], models[1]) {
		t.Error("the printed template trains another aligner")
	}
	out := filepath.Join(t.TempDir(), "potentials.safetensors")
	dsp(t, "export", "--model", aligner(t), "--data", data, "--to", out).ok()
	content, err := os.ReadFile(out)
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{`"pair"`, `"unmatched"`, `"offsets"`, `"pair_offsets"`, `"source_offsets"`, `"labels"`} {
		if !bytes.Contains(content[:min(len(content), 1<<16)], []byte(name)) {
			t.Errorf("no %s in the file", name)
		}
	}
}

// pairArrays writes an npz archive of examples in which the first feature marks the links of a complete matching.
func pairArrays(t *testing.T, name string, examples int) string {
	t.Helper()
	var features []float32
	var sizes, links []int64
	for e := range examples {
		n, m := 2+e%3, 4
		sizes = append(sizes, int64(n), int64(m))
		for i := range n {
			for j := range m {
				linked := j == (i+e)%m
				x := float32((7*e+5*i+3*j)%11) / 11 // noise
				if linked {
					links = append(links, int64(e), int64(i), int64(j))
					x++
				}
				features = append(features, x, float32(j))
			}
		}
	}
	var b bytes.Buffer
	err := arrays.WriteNPZ(&b, func(w arrays.NPZWriter) error {
		if err := arrays.Add(w, "features", features, len(features)/2, 2); err != nil {
			return err
		}
		if err := arrays.Add(w, "sizes", sizes, examples, 2); err != nil {
			return err
		}
		return arrays.Add(w, "links", links, len(links)/3, 3)
	})
	if err != nil {
		t.Fatal(err)
	}
	return write(t, name, b.String())
}

// Dense features of pairs train linear nets and networks, and matchings may have to be complete.
func TestAlignFeatures(t *testing.T) {
	t.Parallel()
	train, test := pairArrays(t, "train.npz", 60), pairArrays(t, "test.npz", 20)
	for _, flags := range [][]string{nil, {"--unmatched", "never"}, {"--net", "mlp"}} {
		out := filepath.Join(t.TempDir(), "run")
		dsp(t, with([]string{"train", "--task", "align", "--train", train, "--quiet", "--out", out}, flags...)...).ok()
		var m linksJSON
		dsp(t, "eval", "--model", out, "--data", test, "--json").ok().json(&m)
		if m.AER > 0.05 || m.Pairs != 20 {
			t.Errorf("%v: got %+v", flags, m)
		}
		if o := dsp(t, "predict", "--model", out, "--input", test, "--confidence").ok(); strings.Count(o.stdout, "\n") != 20 {
			t.Errorf("%v: predicted\n%s", flags, o.stdout)
		}
		dsp(t, "predict", "--model", out, "--input", filepath.Join(drawnPairs(t), "dev.pairs"), "--format", "pairs").refused(exitBadInput, "features of pairs")
	}
	dsp(t, "train", "--task", "align", "--train", filepath.Join(drawnPairs(t), "dev.pairs"), "--unmatched", "never").refused(exitBadInput, "dev.pairs:", "--unmatched learned")
}

// Files that are not sentence pairs with links are refused: which file, which line, and what was expected. No folder is
// left behind.
func TestBadPairs(t *testing.T) {
	t.Parallel()
	text, links := write(t, "a.txt", "a b ||| c\nd ||| e\n"), write(t, "a.links", "0-0\n0-0\n")
	for name, c := range map[string]struct {
		flags, messages []string
	}{
		"beyond the sentence": {[]string{"--train", write(t, "x.pairs", "a ||| b ||| 0-0\na b ||| c ||| 0-0 2-0\n")}, []string{"x.pairs:2", "2-0", "0 to 1"}},
		"no target words":     {[]string{"--train", write(t, "x.pairs", "a ||| ||| \n")}, []string{"x.pairs:1", "no target words"}},
		"no source words":     {[]string{"--train", write(t, "x.pairs", "||| a ||| 0-0\n")}, []string{"x.pairs:1", "no source words"}},
		"an empty line":       {[]string{"--train", write(t, "x.pairs", "a ||| b ||| 0-0\n\n")}, []string{"x.pairs:2", "empty"}},
		"no links":            {[]string{"--task", "align", "--train", text}, []string{"a.txt", "no links"}},
		"some links":          {[]string{"--train", write(t, "x.pairs", "a ||| b ||| 0-0\na ||| b\n")}, []string{"x.pairs:2", "no links"}},
		"not a link":          {[]string{"--train", write(t, "x.pairs", "a ||| b ||| 0:0\n")}, []string{"x.pairs:1", "0:0", "0-1"}},
		"too few links":       {[]string{"--train", text, "--links", write(t, "x.links", "0-0\n")}, []string{"x.links", "2 lines"}},
		"too many links":      {[]string{"--train", text, "--links", write(t, "x.links", "0-0\n0-0\n0-0\n")}, []string{"x.links:3"}},
		"too many files":      {[]string{"--train", text, "--links", links + "," + links}, []string{"one file too many"}},
		"no file for dev":     {[]string{"--train", text, "--dev", text, "--links", links}, []string{"no file for --dev"}},
		"bad bitext":          {[]string{"--task", "align", "--bitext", write(t, "x.pairs", "a b\n")}, []string{"x.pairs:1", "|||"}},
		"bad template":        {[]string{"--task", "align", "--template", write(t, "x.template", "P dice\nP spellling\n")}, []string{"x.template:2", "spellling"}},
		"cut npz":             {[]string{"--task", "align", "--train", write(t, "x.npz", "PK\x03\x04")}, []string{"x.npz"}},
		"another task":        {[]string{"--task", "tag", "--train", write(t, "x.pairs", "a ||| b ||| 0-0\n")}, []string{"x.pairs", "--task align"}},
		"trees":               {[]string{"--task", "align", "--train", write(t, "x.conllu", sampleTreebank)}, []string{"x.conllu", "pairs"}},
	} {
		o, out := begin(t, c.flags...)
		o.refused(exitBadInput, c.messages...)
		if _, err := os.Stat(out); err == nil {
			t.Errorf("%s: left a folder", name)
		}
	}
	dspWith(t, "a ||| b\na |||\n", "predict", "--model", aligner(t)).refused(exitBadInput, "standard input:2", "no target words")
	dspWith(t, "", "predict", "--model", aligner(t)).refused(exitBadInput, "expected lines of source words")
	dsp(t, "eval", "--model", aligner(t), "--data", text).refused(exitBadInput, "no links")
	dsp(t, "data", "pairs").refused(exitBadInput, "--out")
	dsp(t, "data", "pairs", "--out", t.TempDir(), "--difficulty", "2").refused(exitBadInput, "difficulty")
}

// Pairs with a single alignment each have nothing to teach, however many labels their alphabet has.
func TestOnlyAlignment(t *testing.T) {
	t.Parallel()
	path := write(t, "one.pairs", "a ||| b ||| 0-0\n")
	dsp(t, "train", "--train", path, "--unmatched", "never").refused(exitBadInput, "every output is the only one that there could be")
	dir := filepath.Join(t.TempDir(), "run")
	dsp(t, "train", "--train", path, "--passes", "1", "--quiet", "--out", dir).ok()
	if o := dsp(t, "eval", "--model", dir, "--data", path).ok(); !strings.HasPrefix(o.stdout, "1 sentence pair: ") {
		t.Errorf("got %s", o.stdout)
	}
}
