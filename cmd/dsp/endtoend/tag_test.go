package endtoend

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
)

// items returns the sentences in CRFsuite's attribute format.
func items() string {
	var b strings.Builder
	before := "_"
	for line := range strings.Lines(strings.Repeat(sentences+"\n", 5)) {
		word, tag, ok := strings.Cut(strings.TrimSpace(line), "\t")
		if !ok {
			b.WriteString("\n")
			before = "_"
			continue
		}
		b.WriteString(tag + "\tw=" + word + "\tbefore\\:=" + before + ":0.5\tbias\n")
		before = word
	}
	return b.String()
}

// Attribute files can be trained on, evaluated and labelled; the output columns are the gold label and the predicted
// one.
func TestTagAttributes(t *testing.T) {
	t.Parallel()
	text := write(t, "train.crfsuite", items())
	run := filepath.Join(t.TempDir(), "run")
	var r resultJSON
	dsp(t, "train", "--train", text, "--dev", text, "--out", run, "--quiet", "--json").ok().json(&r)
	if r.Task != "tag" || r.Net != "linear" || r.Gap == nil || r.Dev == nil || r.Dev.F1 != 1 {
		t.Errorf("got %+v", r)
	}
	o := dsp(t, "predict", "--model", run, "--input", text).ok()
	var want strings.Builder
	for line := range strings.Lines(items()) {
		tag, _, _ := strings.Cut(strings.TrimSpace(line), "\t")
		if tag != "" {
			tag += "\t" + tag
		}
		want.WriteString(tag + "\n")
	}
	if got := strings.TrimRight(o.stdout, "\n"); got != strings.TrimRight(want.String(), "\n") {
		t.Errorf("got\n%s\nwant\n%s", got, want.String())
	}
	o = dspWith(t, "\tw=the\n\tw=red\tbefore\\:=the\n\tw=fox\n", "predict", "--model", run).ok()
	if o.stdout != "O\nB-X\nI-X\n\n" {
		t.Errorf("attributes alone on standard input: %q", o.stdout)
	}
	dsp(t, "predict", "--model", run, "--input", write(t, "new.conll", "the O\nred B-X\n")).refused(exitBadInput, `new.conll:1: "the O" has blanks and no tab`)
	strange := write(t, "new.conll", "the\tO\nred\tB-X\n")
	if o = dsp(t, "predict", "--model", run, "--input", strange); o.code != exitBadInput || !strings.Contains(o.stderr, "none of its attributes") {
		t.Errorf("another format: %d, %s", o.code, o.stderr)
	}
	dsp(t, "eval", "--model", run, "--data", write(t, "new.crfsuite", "O\tunheard=of\n")).refused(exitBadInput, "new.crfsuite", "none of its attributes")
}

// attributeTagger returns the run folder of a linear net on attributes, trained once for all tests.
func attributeTagger(t *testing.T) string {
	t.Helper()
	dir, err := attributesOnce()
	if err != nil {
		t.Fatal(err)
	}
	return dir
}

var attributesOnce = sync.OnceValues(func() (string, error) {
	dir := filepath.Join(shared, "attributes")
	text := filepath.Join(shared, "attributes.conll")
	if err := os.WriteFile(text, []byte(strings.Repeat(sentences+"\n", 10)), 0o666); err != nil {
		return "", err
	}
	return dir, runProgram("train", "--train", text, "--dev", text, "--out", dir, "--quiet")
})

// A run on text chooses its own settings, and leaves the best model and the last one.
func TestTagTextByDefault(t *testing.T) {
	t.Parallel()
	dir := attributeTagger(t)
	config, err := os.ReadFile(filepath.Join(dir, "config.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	for _, line := range []string{"task: tag", "format: conll", "net: linear", "features: ner", "loss: crf", "gap: 0.001"} {
		if !strings.Contains(string(config), line+"\n") {
			t.Errorf("no %q in\n%s", line, config)
		}
	}
	text := write(t, "new.conll", sentences)
	for _, model := range []string{dir, filepath.Join(dir, "last.safetensors")} {
		var m metricsJSON
		dsp(t, "eval", "--model", model, "--data", text, "--json").ok().json(&m)
		if m.F1 != 1 || m.Tokens != 12 {
			t.Errorf("%s: got %+v", model, m)
		}
	}
}

// The confidence precedes the label, is a probability, and equals the marginal.
func TestConfidence(t *testing.T) {
	t.Parallel()
	o := dspWith(t, "the\nred\nfox\n", "predict", "--model", attributeTagger(t), "--confidence").ok()
	for line := range strings.Lines(strings.TrimSpace(o.stdout)) {
		var word, tag string
		var p float64
		if n, err := fmt.Sscanf(line, "%s\t%f\t%s", &word, &p, &tag); n != 3 || err != nil || !(p > 0.3 && p <= 1) {
			t.Errorf("%q: %v", line, err)
		}
	}
	var answer struct {
		Labels     []string
		Confidence []float64
		Marginals  [][]float64
	}
	dspWith(t, "the\nred\nfox\n", "predict", "--model", attributeTagger(t), "--confidence", "--marginals", "--json").ok().json(&answer)
	for i, c := range answer.Confidence {
		if c != slices.Max(answer.Marginals[i]) {
			t.Errorf("confidence %v, marginals %v", c, answer.Marginals[i])
		}
	}
	if len(answer.Confidence) != 3 || len(answer.Labels) != 3 {
		t.Errorf("got %+v", answer)
	}
}

// sampleTreebank is a small CoNLL-U file.
const sampleTreebank = `# sent_id = a
1	The	the	DET	DT	_	2	det	_	Entity=O
2	red	red	ADJ	JJ	_	3	amod	_	Entity=B
3-4	foxes'	_	_	_	_	_	_	_	_
3	foxes	fox	NOUN	NNS	_	0	root	_	Entity=I
4	'	'	PART	POS	_	3	case	_	_

# sent_id = b
1	They	they	PRON	PRP	_	2	nsubj	_	_
2	run	run	VERB	VBP	_	0	root	_	_

`

// Any CoNLL-U field can be the label; the rest of the file is copied.
func TestTagTreebank(t *testing.T) {
	t.Parallel()
	text := write(t, "train.conllu", strings.Repeat(sampleTreebank, 10))
	for _, label := range []string{"upos", "xpos", "misc:Entity"} {
		run := filepath.Join(t.TempDir(), "run")
		dsp(t, "train", "--train", text, "--label", label, "--out", run, "--quiet").ok()
		var report struct {
			TokenError float64 `json:"token_error"`
			Labels     []struct{ Label string }
			Confusion  []any
		}
		dsp(t, "eval", "--model", run, "--data", text, "--json").ok().json(&report)
		if report.TokenError != 0 || len(report.Labels) < 3 || len(report.Confusion) != 0 {
			t.Errorf("%s: got %+v", label, report)
		}
		o := dspWith(t, sampleTreebank, "predict", "--model", run).ok()
		if label == "upos" && (!strings.Contains(o.stdout, "# sent_id = b\n1\tThey\tthey\tPRON\tPRP\t_\t2\tnsubj\t_\t_\tPRON\n") ||
			!strings.Contains(o.stdout, "3-4\tfoxes'")) {
			t.Errorf("got\n%s", o.stdout)
		}
		if o = dsp(t, "eval", "--model", run, "--data", text, "--confusion").ok(); label == "upos" && !strings.Contains(o.stdout, "weighted avg") {
			t.Errorf("got\n%s", o.stdout)
		}
	}
}

// Weights survive a round trip through text: the model file is the same.
func TestImport(t *testing.T) {
	t.Parallel()
	model, dir := attributeTagger(t), t.TempDir()
	weights, again := filepath.Join(dir, "w.txt"), filepath.Join(dir, "again.safetensors")
	dsp(t, "export", "--model", model, "--weights", "--to", weights).ok()
	dsp(t, "import", "--model", model, "--weights", weights, "--out", again).ok()
	was, err1 := os.ReadFile(filepath.Join(model, "model.safetensors"))
	is, err2 := os.ReadFile(again)
	if err := errors.Join(err1, err2); err != nil || !bytes.Equal(was, is) {
		t.Errorf("the model changed in the round trip, %v", err)
	}
	text, err := os.ReadFile(weights)
	if err != nil {
		t.Fatal(err)
	}
	edited := write(t, "edited.txt", string(text)+"O\tUw=unheard\t50\n")
	dsp(t, "import", "--model", model, "--weights", edited, "--out", again).refused(exitBadInput, "edited.txt:", "Uw=unheard", "--add")
	dsp(t, "import", "--model", model, "--weights", edited, "--add", "--out", again).ok()
	if o := dspWith(t, "unheard\n", "predict", "--model", again, "--confidence").ok(); o.stdout != "unheard\t1.000000\tO\n" {
		t.Errorf("got %q", o.stdout)
	}
}

// data attributes writes the attributes that training extracts: a model trained on them predicts the same.
func TestWriteAttributes(t *testing.T) {
	t.Parallel()
	text, dir := write(t, "train.conll", strings.Repeat(sentences+"\n", 5)), t.TempDir()
	attributes := filepath.Join(dir, "train.crfsuite")
	dsp(t, "data", "attributes", "--features", "ner", "--input", text, "--to", attributes).ok()
	var objectives [2]float64
	for i, train := range []string{text, attributes} {
		var r resultJSON
		dsp(t, "train", "--train", train, "--gap", "1e-6", "--out", filepath.Join(dir, fmt.Sprint("run", i)), "--quiet", "--json").ok().json(&r)
		objectives[i] = *r.Objective
	}
	if math.Abs(objectives[0]-objectives[1]) > 2e-6*objectives[0] {
		t.Errorf("objectives %v", objectives)
	}
	o := dsp(t, "predict", "--model", filepath.Join(dir, "run0"), "--input", attributes, "--format", "crfsuite").ok()
	for line := range strings.Lines(o.stdout) {
		if gold, label, ok := strings.Cut(strings.TrimSpace(line), "\t"); ok && gold != label {
			t.Errorf("a text model on its own attributes: %q", line)
		}
	}
	dsp(t, "data", "attributes", "--input", attributes, "--to", attributes+".again").refused(exitBadInput, "text in columns")

	// Those that a model makes give its own predictions, with gold labels and without.
	model, unseen := filepath.Join(dir, "run0"), "the\tO\ngreen\tO\nfox\tB-X\n\nthe\tO\nred\tB-X\n"
	var bare string
	for line := range strings.Lines(unseen) {
		word, _, _ := strings.Cut(strings.TrimSuffix(line, "\n"), "\t")
		bare += word + "\n"
	}
	var predicted [2]string
	for i, text := range []string{unseen, bare} {
		in := write(t, "in.conll", text)
		dsp(t, "data", "attributes", "--model", model, "--input", in, "--to", attributes).ok()
		for line := range strings.Lines(dsp(t, "predict", "--model", model, "--input", attributes, "--format", "crfsuite").ok().stdout) {
			line = strings.TrimSuffix(line, "\n")
			predicted[i] += line[strings.LastIndex(line, "\t")+1:] + "\n"
		}
		var want string
		for line := range strings.Lines(dsp(t, "predict", "--model", model, "--input", in).ok().stdout) {
			fields := strings.Fields(line)
			if len(fields) > 0 {
				want += fields[len(fields)-1]
			}
			want += "\n"
		}
		if strings.TrimSpace(predicted[i]) != strings.TrimSpace(want) || want == "" {
			t.Errorf("%q from attributes, %q from text", predicted[i], want)
		}
	}
	dsp(t, "data", "attributes", "--model", model, "--features", "pos", "--input", text, "--to", attributes).refused(exitBadInput, "--features has no effect with --model")
	dsp(t, "data", "attributes", "--model", reader(t), "--input", text, "--to", attributes).refused(exitBadInput, "no attributes of the columns")
}

func TestInfoOfAttributes(t *testing.T) {
	t.Parallel()
	o := dsp(t, "info", attributeTagger(t), "--top", "3").ok()
	for _, want := range []string{"attributes of positions", "\nUw=%lower[0,word]\n", "B-X\n", "Uw-1=red\n"} {
		if !strings.Contains(o.stdout, want) {
			t.Errorf("no %q in\n%s", want, o.stdout)
		}
	}
	if o := dsp(t, "info", "--features", "pos").ok(); !strings.Contains(o.stdout, "Uw=%lower[0,word]\n") {
		t.Errorf("got\n%s", o.stdout)
	}
	dsp(t, "info", "--features", "nre").refused(exitBadInput, "nre", "ner")
	dsp(t, "info", "--top", "3").refused(exitBadInput, "--top 3")
	dsp(t, "info", reader(t), "--top", "3").refused(exitBadInput, "--top 3", "cnn-image")
}

// The files that dsp data text writes can be trained on and evaluated, and neighbouring tags help to predict a tag.
func TestDrawnText(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	dsp(t, "data", "text", "--out", dir, "--examples", "400,50,200", "--seed", "3").ok()
	var f1 []float64
	for _, edges := range []string{"transition", "none"} {
		run := filepath.Join(dir, edges)
		dsp(t, "train", "--train", filepath.Join(dir, "train.conll"), "--dev", filepath.Join(dir, "dev.conll"), "--edges", edges,
			"--gap", "0.1", "--out", run, "--quiet").ok()
		var m metricsJSON
		dsp(t, "eval", "--model", run, "--data", filepath.Join(dir, "test.conll"), "--json").ok().json(&m)
		f1 = append(f1, m.F1)
	}
	if !(f1[0] > 0.7 && f1[0] < 0.98 && f1[1] < f1[0]-0.02) {
		t.Errorf("entity F1 %v with and without transitions", f1)
	}
}
