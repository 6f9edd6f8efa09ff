package endtoend

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/sbinet/npyio/npz"
)

// Net deep learns text, and its model evaluates, predicts from files and from standard input, exports and shows its
// layers. Unknown words and characters are fine.
func TestDeep(t *testing.T) {
	t.Parallel()
	data := write(t, "train.conll", strings.Repeat(sentences+"\n", 10))
	run := filepath.Join(t.TempDir(), "run")
	var r resultJSON
	dsp(t, "train", "--train", data, "--dev", data, "--net", "deep", "--method", "sgd", "--passes", "20", "--min-count", "1", "--char-channels", "6", "--recurrent", "5",
		"--attribute-units", "3", "--dropout", "0.1", "--out", run, "--quiet", "--json").ok().json(&r)
	if r.Task != "tag" || r.Net != "deep" || r.Dev == nil || r.Dev.F1 != 1 {
		t.Errorf("got %+v", r)
	}
	var m metricsJSON
	dsp(t, "eval", "--model", run, "--data", data, "--json").ok().json(&m)
	if m.F1 != 1 {
		t.Errorf("the model read again: %+v", m)
	}
	words := strings.ReplaceAll(strings.ReplaceAll(sentences, "\tO", ""), "\tB-X", "")
	words = strings.ReplaceAll(words, "\tI-X", "")
	piped := dspWith(t, words, "predict", "--model", run).ok()
	whole := dsp(t, "predict", "--model", run, "--input", write(t, "new.conll", words)).ok()
	tags := func(text string) (all []string) {
		for line := range strings.Lines(text) {
			if f := strings.Fields(line); len(f) > 0 {
				all = append(all, f[len(f)-1])
			}
		}
		return all
	}
	if want := tags(sentences); !slices.Equal(tags(piped.stdout), want) || !slices.Equal(tags(whole.stdout), want) {
		t.Errorf("predicted %q and %q", piped.stdout, whole.stdout)
	}
	if o := dspWith(t, "the\n語\n\nXyz\nfox\n", "predict", "--model", run).ok(); len(tags(o.stdout)) != 4 {
		t.Errorf("unknown words: %q", o.stdout)
	}
	info := dsp(t, "info", run).ok().stdout
	for _, line := range []string{"characters; ", "attributes of positions", "char.weight", "recurrent1.candidate", "attribute.embed", "net: deep\n", "# Template"} {
		if !strings.Contains(info, line) {
			t.Errorf("no %q in\n%s", line, info)
		}
	}
	weights := filepath.Join(t.TempDir(), "w.txt")
	dsp(t, "export", "--model", run, "--weights", "--to", weights).ok()
	if text, err := os.ReadFile(weights); err != nil || !strings.Contains(string(text), "char.embed ") {
		t.Errorf("%v: %.200s", err, text)
	}
	dsp(t, "import", "--model", run, "--weights", weights, "--out", filepath.Join(t.TempDir(), "m")).refused(exitBadInput, "net is deep")
}

// With --init a net begins with the weights of a linear model; other attributes are refused, and new labels added.
func TestDeepFromLinear(t *testing.T) {
	t.Parallel()
	data := filepath.Join(filepath.Dir(attributeTagger(t)), "attributes.conll")
	linear := attributeTagger(t)
	deep := func(more ...string) outcome {
		return dsp(t, append([]string{"train", "--net", "deep", "--method", "sgd", "--passes", "1", "--lr", "1e-9", "--quiet"}, more...)...)
	}
	run := filepath.Join(t.TempDir(), "run")
	deep("--train", data, "--init", linear, "--out", run).ok()
	plain := filepath.Join(t.TempDir(), "plain")
	deep("--train", data, "--out", plain).ok()
	rows := func(model, of string) string {
		var found []string
		text := dsp(t, "info", model, "--top", "3").ok().stdout
		for line := range strings.Lines(text[strings.Index(text, "\n"+of+"\n"):]) {
			found = append(found, line)
		}
		return strings.Join(found[:5], "")
	}
	if got, want := rows(run, "B-X"), rows(linear, "B-X"); got != want || rows(plain, "B-X") == want {
		t.Errorf("weights of B-X begin as\n%s\nexpected those of the linear model,\n%s", got, want)
	}
	to := filepath.Join(t.TempDir(), "no")
	deep("--train", data, "--init", linear, "--features", "pos", "--out", to).refused(exitBadInput, "--features pos", "leave --features out")
	deep("--train", data, "--init", linear, "--hash-bits", "9", "--out", to).refused(exitBadInput, "--hash-bits 9")
	again := filepath.Join(t.TempDir(), "again")
	deep("--train", write(t, "other.conll", strings.ReplaceAll(sentences, "I-X", "B-Y")), "--init", plain, "--out", again).ok()
	if labels := labelsOf(t, again); labels[len(labels)-1] != "B-Y" || len(labels) != len(labelsOf(t, plain))+1 {
		t.Errorf("labels %v continue %v", labels, labelsOf(t, plain))
	}
	deep("--train", data, "--init", filepath.Join(to, "missing"), "--out", to).refused(exitBadInput, "missing")
	deep("--train", write(t, "a.crfsuite", items()), "--out", to).refused(exitBadInput, "reads words and their characters")
	steps := write(t, "my.template", "U1=%x[0,word]\nB1=%x[0,word]\n")
	deep("--train", data, "--template", steps, "--out", to).refused(exitBadInput, "attributes of steps", "begin with B")
}

// smallAttention holds the flags of a small network with attention.
var smallAttention = []string{"--net", "attention", "--channels", "16", "--heads", "2", "--block-units", "24"}

// The attention network reads images: it trains to the same bits with any number of threads and after resuming, and its
// model loads.
func TestAttentionReadsWords(t *testing.T) {
	t.Parallel()
	flags := with([]string{"train", "--examples", "80,20,30", "--method", "sgd", "--dropout", "0.1", "--baselines", "off", "--quiet"}, smallAttention...)
	var want []byte
	for _, threads := range []string{"1", "3"} {
		out := filepath.Join(t.TempDir(), threads)
		dsp(t, with(flags, "--passes", "12", "--threads", threads, "--out", out)...).ok()
		if got := modelOf(t, out); want == nil {
			want = got
		} else if !bytes.Equal(got, want) {
			t.Errorf("another model with %s threads", threads)
		}
		var m metricsJSON
		dsp(t, "eval", "--model", out, "--data", "builtin", "--json").ok().json(&m)
		if m.Tokens == 0 || m.TokenError > 0.8 {
			t.Errorf("got %+v", m)
		}
		info := dsp(t, "info", out).ok().stdout
		for _, line := range []string{"net         attention", "block1.attention.in", "heads: 2", "layers: 1", "block-units: 24"} {
			if !strings.Contains(info, line) {
				t.Errorf("info lacks %q:\n%s", line, info)
			}
		}
	}
	parts := filepath.Join(t.TempDir(), "parts")
	dsp(t, with(flags, "--passes", "4", "--out", parts)...).ok()
	dsp(t, "train", "--resume", parts, "--passes", "12", "--quiet").ok()
	if !bytes.Equal(modelOf(t, parts), want) {
		t.Error("another model after resuming")
	}
	dsp(t, with(flags, "--heads", "3")...).refused(exitBadInput, "3 heads", "multiple of 6")
	dsp(t, "train", "--net", "cnn", "--heads", "2").refused(exitBadInput, "--heads 2", "attention")
}

// The attention network reads the words of a text, too, and learns tags that depend on the words before.
func TestAttentionTagsText(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	text, out := write(t, "train.conll", strings.Repeat(sentences+"\n", 10)), filepath.Join(dir, "run")
	dsp(t, with([]string{"train", "--task", "tag", "--train", text, "--method", "sgd", "--passes", "20", "--window", "1", "--edges", "none", "--out", out, "--quiet"},
		smallAttention...)...).ok()
	var m metricsJSON
	dsp(t, "eval", "--model", out, "--data", text, "--json").ok().json(&m)
	if m.TokenError > 0.1 {
		t.Errorf("got %+v", m)
	}
}

// The network for trees takes blocks of attention.
func TestAttentionParser(t *testing.T) {
	t.Parallel()
	data, out := drawnTrees(t), filepath.Join(t.TempDir(), "run")
	dsp(t, with([]string{"train", "--train", filepath.Join(data, "train.conllu"), "--method", "sgd", "--passes", "4", "--quiet", "--layers", "1", "--heads", "3", "--out", out},
		smallBiaffine...)...).ok()
	var m attachmentJSON
	dsp(t, "eval", "--model", out, "--data", filepath.Join(data, "test.conllu"), "--json").ok().json(&m)
	if m.UAS < 0.4 || m.LAS < 0.3 {
		t.Errorf("got %+v", m)
	}
}

// The recurrent network learns to read built-in words, gives the same model with any number of threads and after its
// configuration is read again, and info, eval and predict load it.
func TestRecurrentReader(t *testing.T) {
	t.Parallel()
	dir, again := filepath.Join(t.TempDir(), "run"), filepath.Join(t.TempDir(), "again")
	var r resultJSON
	dsp(t, "train", "--examples", "200,30,30", "--net", "rnn", "--recurrent", "24,9", "--hidden", "16", "--activation", "gelu", "--baselines", "off",
		"--method", "sgd", "--lr", "0.1", "--batch", "1", "--passes", "10", "--threads", "1", "--out", dir, "--json", "--quiet").ok().json(&r)
	if r.Net != "rnn" || r.Dev == nil || r.Dev.TokenError > 0.4 {
		t.Errorf("got %+v", r)
	}
	o := dsp(t, "info", dir).ok()
	for _, want := range []string{"rnn", "recurrent2.forget", "18"} {
		if !strings.Contains(o.stdout, want) {
			t.Errorf("info does not print %q:\n%s", want, o.stdout)
		}
	}
	dsp(t, "train", "--config", filepath.Join(dir, "config.yaml"), "--threads", "2", "--out", again, "--quiet").ok()
	if !bytes.Equal(modelOf(t, dir), modelOf(t, again)) {
		t.Error("the same configuration with two threads gave another model")
	}
}

// On text, the network tells a word's tag from words far before and after it: the tag of "it" is the same as that of
// the first word.
func TestRecurrentTagger(t *testing.T) {
	t.Parallel()
	var b strings.Builder
	for i := range 40 {
		first := []string{"yes", "no"}[i%2]
		b.WriteString(first + " O\n" + strings.Repeat("and O\n", 3+i%4) + "it " + strings.ToUpper(first) + "\n\n")
	}
	dir, train := filepath.Join(t.TempDir(), "run"), write(t, "train.conll", b.String())
	dsp(t, "train", "--task", "tag", "--train", train, "--net", "rnn", "--recurrent", "8", "--embed", "8", "--edges", "none", "--method", "sgd",
		"--lr", "0.2", "--reg", "0.01", "--passes", "20", "--out", dir, "--quiet").ok()
	o := dspWith(t, "no\nand\nand\nand\nand\nit\n\nyes\nand\nand\nand\nand\nit\n", "predict", "--model", dir).ok()
	const middle = "and\tO\nand\tO\nand\tO\nand\tO\nit\t"
	if want := "no\tO\n" + middle + "NO\n\nyes\tO\n" + middle + "YES\n"; o.stdout != want {
		t.Errorf("got %q, want %q", o.stdout, want)
	}
}

// Parsers take recurrent layers below the biaffine scores; other networks refuse them.
func TestRecurrentParser(t *testing.T) {
	t.Parallel()
	data, dir := drawnTrees(t), filepath.Join(t.TempDir(), "run")
	dsp(t, "train", "--task", "parse", "--net", "biaffine", "--recurrent", "10", "--embed", "8,4,4,4,4,4", "--arc-units", "8", "--label-units", "6",
		"--train", filepath.Join(data, "dev.conllu"), "--method", "sgd", "--passes", "2", "--out", dir, "--quiet").ok()
	config, err := os.ReadFile(filepath.Join(dir, "config.yaml"))
	if err != nil || !strings.Contains(string(config), "recurrent: [10]\n") || !strings.Contains(string(config), "channels: []\n") {
		t.Errorf("%v in\n%s", err, config)
	}
	if o := dsp(t, "predict", "--model", dir, "--input", filepath.Join(data, "test.conllu")).ok(); !strings.Contains(o.stdout, "nsubj") {
		t.Errorf("predicted\n%s", o.stdout)
	}
	dsp(t, "train", "--net", "mlp", "--recurrent", "10").refused(exitBadInput, "--recurrent", "--net mlp")
	dsp(t, "train", "--task", "tag", "--train", filepath.Join(data, "dev.conllu"), "--net", "rnn", "--features", "pos").refused(exitBadInput, "--net rnn does not read")
}

// Vectors of words and dense features go from training into the predictions.
func TestVectorsAndDenseFeatures(t *testing.T) {
	t.Parallel()
	var text strings.Builder
	for k := range 40 {
		fmt.Fprintf(&text, "w%d\tO\n\nw%d\tB-X\n\n", k%4, 4+k%3)
	}
	train := write(t, "train.conll", text.String())
	dev := write(t, "dev.conll", "other\tO\n\nw9\tB-X\n")
	fresh := write(t, "new.conll", "w9\n\nother\n\nw9\n")
	vectors := write(t, "glove.txt", "w0 1 0\nw1 1 0\nw4 0 1\nw5 0 1\nother 1 0\nw9 0 1\n")
	features := func(tokens, first int) string {
		rows := make([][2]float32, tokens)
		for i := range rows {
			rows[i][(first+i)%2] = 1
		}
		path := filepath.Join(t.TempDir(), "dense.npz")
		w, err := npz.Create(path)
		if err != nil {
			t.Fatal(err)
		}
		if err := w.Write("features", rows); err != nil {
			t.Fatal(err)
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		return path
	}
	for _, flags := range [][]string{{"--vectors", vectors}, {"--vectors", vectors, "--freeze-vectors"}, {"--dense", features(80, 0) + "," + features(2, 0)}} {
		run := filepath.Join(t.TempDir(), "run")
		o := dsp(t, append([]string{"train", "--train", train, "--dev", dev, "--net", "embed", "--loss", "crf", "--method", "sgd", "--passes", "5", "--out", run}, flags...)...).ok()
		if flags[0] == "--vectors" && !strings.Contains(o.stderr, "kept=6 dimension=2") {
			t.Errorf("the log says nothing of the vectors: %s", o.stderr)
		}
		what := "vectors of 6 words"
		if flags[0] == "--dense" {
			what = "2 dense features per position; discrete"
		}
		if o := dsp(t, "info", run).ok(); !strings.Contains(o.stdout, what) {
			t.Errorf("info lacks %q: %s", what, o.stdout)
		}
		predict := []string{"predict", "--model", run, "--input", fresh}
		if flags[0] == "--dense" {
			dsp(t, predict...).refused(exitBadInput, "--dense FILE")
			predict = append(predict, "--dense", features(3, 1))
		}
		if o := dsp(t, predict...).ok(); o.stdout != "w9\tB-X\n\nother\tO\n\nw9\tB-X\n" && o.stdout != "w9 B-X\n\nother O\n\nw9 B-X\n" {
			t.Errorf("%v: %q", flags, o.stdout)
		}
	}
	dsp(t, "train", "--train", train, "--net", "embed", "--dense", features(3, 0)).refused(exitBadInput, "features has 3 rows, expected 80")
}

// The attributes of clusters and names are written, too.
func TestAttributesOfLists(t *testing.T) {
	t.Parallel()
	text := write(t, "train.conll", "in O\nNew B-X\nYork I-X\n")
	names, paths := write(t, "names.txt", "new york\tcity\n"), write(t, "paths", "0101\tyork\t3\n")
	to := filepath.Join(t.TempDir(), "x.crfsuite")
	dsp(t, "data", "attributes", "--features", "ner", "--gazetteer", names, "--clusters", paths, "--input", text, "--to", to).ok()
	content, err := os.ReadFile(to)
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(string(content), "\n")
	for k, want := range []string{"Ug+1=B-city", "Ug=B-city", "Ug=I-city"} {
		if !strings.Contains(lines[k], "\t"+want) {
			t.Errorf("line %d lacks %s: %s", k+1, want, lines[k])
		}
	}
	if !strings.Contains(lines[2], "\tUc4=0101") {
		t.Errorf("no cluster: %s", lines[2])
	}
}
