package cli

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// Net deep learns text, and its model evaluates, predicts from files and from standard input, exports and shows its layers. Unknown words
// and characters are fine.
func TestDeep(t *testing.T) {
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

// With --init a net begins with the weights of a linear model; models with other labels, attributes or nets are refused.
func TestDeepFromLinear(t *testing.T) {
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
	deep("--train", data, "--init", plain, "--out", to).refused(exitBadInput, "--init", "net deep; expected a linear model")
	deep("--train", data, "--init", linear, "--features", "pos", "--out", to).refused(exitBadInput, "template")
	deep("--train", data, "--init", linear, "--features", "none", "--out", to).refused(exitBadInput, "--features none")
	deep("--train", data, "--init", linear, "--hash-bits", "9", "--out", to).refused(exitBadInput, "--hash-bits")
	deep("--train", write(t, "other.conll", strings.ReplaceAll(sentences, "I-X", "B-Y")), "--init", linear, "--out", to).refused(exitBadInput, "label I-X")
	deep("--train", write(t, "less.conll", strings.ReplaceAll(sentences, "fox", "dog")), "--init", linear, "--out", to).refused(exitBadInput, "is not one of the training data's")
	deep("--train", data, "--init", filepath.Join(to, "missing"), "--out", to).refused(exitBadInput, "missing")
	dsp(t, "train", "--train", data, "--net", "embed", "--init", linear, "--out", to).refused(exitBadInput, "has no effect")
	deep("--train", write(t, "a.crfsuite", items()), "--out", to).refused(exitBadInput, "reads words and their characters")
	steps := write(t, "my.template", "U1=%x[0,word]\nB1=%x[0,word]\n")
	deep("--train", data, "--template", steps, "--out", to).refused(exitBadInput, "attributes of steps", "begin with B")
}
