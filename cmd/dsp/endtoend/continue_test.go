package endtoend

import (
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
)

func labelsOf(t *testing.T, model string) []string {
	t.Helper()
	var info struct{ Labels []string }
	dsp(t, "info", model, "--json").ok().json(&info)
	return info.Labels
}

// Every task continues its models on other data: a run that hardly moves predicts as the model does, although labels,
// words and attributes were added; and so does one that is regularised towards the model very strongly, which is
// certified.
func TestContinueEveryTask(t *testing.T) {
	t.Parallel()
	trees, pairs, objects, scenes := drawnTrees(t), drawnPairs(t), drawnObjects(t), drawnTextures(t)
	in := func(dir string, names ...string) string { return filepath.Join(append([]string{dir}, names...)...) }
	tagged := write(t, "new.conll", "an	O\nowl	B-Y\nsees	O\nthe	O\nfox	B-X\n\n")
	graphs, more := drawnGraphs(t, "train.npz", 12, 3, 1), drawnGraphs(t, "more.npz", 12, 3, 2)
	deep := filepath.Join(t.TempDir(), "deep")
	dsp(t, "train", "--train", write(t, "deep.conll", sentences), "--net", "rnn", "--recurrent", "6", "--embed", "5", "--min-count", "1", "--passes", "3", "--quiet", "--out", deep).ok()
	for name, c := range map[string]struct {
		base  string   // a model; empty: train one on data
		data  []string // flags of the data that base is trained on
		new   []string // of the data that go on
		tests []string // of eval
	}{
		"tag":      {"", []string{"--train", write(t, "old.conll", sentences)}, []string{"--train", tagged}, []string{"--data", write(t, "t.conll", sentences)}},
		"deep":     {deep, nil, []string{"--train", tagged}, []string{"--data", write(t, "t.conll", sentences)}},
		"ocr":      {"", with(small[1:3], "--net", "linear"), small[1:3:3], []string{"--data", "builtin"}},
		"parse":    {parser(t), nil, []string{"--train", in(trees, "dev.conllu")}, []string{"--data", in(trees, "test.conllu")}},
		"localise": {locator(t), nil, []string{"--train", in(objects, "dev.json")}, []string{"--data", in(objects, "test.json")}},
		"windows":  {finder(t), nil, []string{"--train", in(objects, "dev.json")}, []string{"--data", in(objects, "test.json")}},
		"align":    {aligner(t), nil, []string{"--train", in(pairs, "dev.pairs")}, []string{"--data", in(pairs, "test.pairs")}},
		"graph":    {"", []string{"--task", "graph", "--train", graphs}, []string{"--train", more}, []string{"--data", more}},
		"segment": {"", []string{"--task", "segment", "--train", in(scenes, "train", "images"), "--masks", in(scenes, "train", "masks"), "--label-names", in(scenes, "labels.txt")},
			[]string{"--train", in(scenes, "dev", "images"), "--masks", in(scenes, "dev", "masks")},
			[]string{"--data", in(scenes, "test", "images"), "--masks", in(scenes, "test", "masks")}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			base, dir := c.base, t.TempDir()
			if base == "" {
				base = in(dir, "base")
				dsp(t, with(with([]string{"train"}, c.data...), "--passes", "3", "--quiet", "--out", base)...).ok()
			}
			eval := func(model string) (m map[string]any) {
				dsp(t, with([]string{"eval", "--model", model, "--json"}, c.tests...)...).ok().json(&m)
				delete(m, "labels") // scores by label list those of the model
				delete(m, "confusion")
				return m
			}
			want := eval(base)
			flags := [][]string{{"--init", base, "--method", "sgd", "--lr", "1e-12"}, {"--prior", base, "--reg", "1e9"}}
			if name == "deep" {
				flags[1] = []string{"--prior", base, "--reg", "1e9", "--method", "prox-linear", "--eta", "1e-9"}
			}
			for k, with0 := range flags {
				run := in(dir, []string{"init", "prior"}[k])
				var r resultJSON
				dspIn(t, []string{"DSP_CURVES=on"}, with(with(append([]string{"train"}, c.new...), with0...), "--passes", "2", "--json", "--quiet", "--out", run)...).ok().json(&r)
				for _, curves := range []string{"curves.png", "curves.svg"} {
					if _, err := os.Stat(in(run, curves)); err != nil {
						t.Error(err)
					}
				}
				got := eval(run)
				if !alike(got, want) {
					t.Errorf("%s: %v, expected %v", with0[0], got, want)
				}
				if k == 1 && name != "deep" && (r.Gap == nil || *r.Gap < -1e-6**r.Objective) {
					t.Errorf("the prior certifies %v of %v", *r.Gap, *r.Objective)
				}
			}
		})
	}
}

// noisy is text of two kinds, whose words tell the labels, in k sentences from the given one on.
func lessons(from, k int, odd string) string {
	var b strings.Builder
	words := []string{"red", "fox", "owl", "runs", "sees", "the", "a", "blue"}
	labels := []string{"B-X", "I-X", "B-X", "O", "O", "O", "O", "B-X"}
	for s := range k {
		for p := range 5 {
			w := (from + 3*s + p*(s+from+1)) % len(words)
			word, label := words[w], labels[w]
			if (s+from)%4 == p {
				word, label = word+odd, "O"
			}
			b.WriteString(word + "\t" + label + "\n")
		}
		b.WriteString("\n")
	}
	return b.String()
}

type passJSON struct {
	Pass                 int
	Objective, Dual, Gap *float64
}

func passesOf(t *testing.T, run string) (all []passJSON) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(run, "metrics.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(text)) {
		var p passJSON
		if err := json.Unmarshal([]byte(line), &p); err != nil {
			t.Fatal(err)
		}
		all = append(all, p)
	}
	return all
}

// With --init the labels and attributes of the model stay, new ones follow, and every convex method starts from its
// weights: the first pass has a lower objective than a cold one, its certificate is valid, and fewer passes are needed
// where the problem is nearly that of the model.
func TestInit(t *testing.T) {
	t.Parallel()
	old, dir := write(t, "old.conll", lessons(0, 60, "ish")), t.TempDir()
	base := filepath.Join(dir, "base")
	dsp(t, "train", "--train", old, "--gap", "1e-4", "--quiet", "--out", base).ok()
	more := write(t, "more.conll", lessons(0, 60, "ish")+lessons(7, 6, "est")+"newt	B-NEW\n\n")
	optimum, best, known := math.Inf(-1), map[string]float64{}, labelsOf(t, base)
	for _, method := range []string{"sdca", "svrg", "saga", "casimir", "lbfgs", "bcfw", "bcpfw", "sgd"} {
		run := map[string]string{}
		for _, start := range []string{"cold", "warm"} {
			run[start] = filepath.Join(dir, method+start)
			args := []string{"train", "--train", more, "--method", method, "--passes", "40", "--gap", "0.01", "--evaluate", "every", "--quiet", "--out", run[start]}
			if method == "sgd" {
				args = []string{"train", "--train", more, "--method", method, "--passes", "4", "--quiet", "--out", run[start]}
			}
			if start == "warm" {
				args = with(args, "--init", base)
			}
			dsp(t, args...).ok()
		}
		cold, warm := passesOf(t, run["cold"]), passesOf(t, run["warm"])
		if method != "bcpfw" && *warm[0].Objective >= *cold[0].Objective { // one pass is all that bcpfw needs here
			t.Errorf("%s: the first pass ends at %v, without the model at %v", method, *warm[0].Objective, *cold[0].Objective)
		}
		for _, p := range append(cold, warm...) {
			if method != "sgd" && (p.Gap == nil || *p.Gap < -1e-6) {
				t.Errorf("%s, pass %d: gap %v", method, p.Pass, p.Gap)
			}
			if p.Dual != nil && !strings.HasPrefix(method, "bc") {
				optimum = max(optimum, *p.Dual)
			}
		}
		best[method] = *warm[len(warm)-1].Objective
		if labels := labelsOf(t, run["warm"]); !slices.Equal(labels[:len(labels)-1], known) || labels[len(labels)-1] != "B-NEW" {
			t.Errorf("%s: labels %v", method, labels)
		}
	}
	for method, f := range best { // of the log-likelihood, which all but bcfw and bcpfw minimise
		if !strings.HasPrefix(method, "bc") && f < optimum-1e-6 {
			t.Errorf("%s ends at %v, below the bound %v", method, f, optimum)
		}
	}
	for _, method := range []string{"sdca", "svrg", "saga", "casimir", "lbfgs"} { // on the model's own data, with another regulariser
		passes := map[bool]int{}
		for _, warm := range []bool{false, true} {
			run := filepath.Join(t.TempDir(), "run")
			args := []string{"train", "--train", old, "--reg", "1.2", "--method", method, "--gap", "0.002", "--quiet", "--out", run}
			if warm {
				args = with(args, "--init", base)
			}
			dsp(t, args...).ok()
			passes[warm] = len(passesOf(t, run))
		}
		if passes[true] >= passes[false] {
			t.Errorf("%s takes %d passes from the model and %d without", method, passes[true], passes[false])
		}
	}
}

// From a model of few passes the optimum is about as far as from none, and a run that ends with the weights that it
// began with says so.
func TestInitOfFewPasses(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	var train []string
	base := filepath.Join(dir, "base")
	for _, seed := range []string{"2", "3", "1"} {
		text := filepath.Join(dir, "text"+seed)
		base = filepath.Join(dir, "base"+seed)
		dsp(t, "data", "text", "--examples", "100,60,0", "--seed", seed, "--out", text).ok()
		train = []string{"train", "--train", filepath.Join(text, "train.conll"), "--columns", "word=0,label=-1"}
		dsp(t, with(train, "--passes", "3", "--quiet", "--out", base)...).ok()
		train = with(train, "--train", filepath.Join(text, "dev.conll"))
		passes := map[bool]int{}
		for _, warm := range []bool{false, true} {
			run := filepath.Join(dir, fmt.Sprint(seed, warm))
			args := with(train, "--gap", "0.001", "--quiet", "--out", run)
			if warm {
				args = with(args, "--init", base)
			}
			dsp(t, args...).ok()
			passes[warm] = len(passesOf(t, run))
		}
		if passes[true] > passes[false]+3 {
			t.Errorf("seed %s: %d passes from a model, %d from none", seed, passes[true], passes[false])
		}
	}
	const warning = "the result has the weights of the model that the run continues"
	for passes, warns := range map[string]bool{"1": true, "5": false} {
		r := dsp(t, with(train, "--passes", passes, "--init", base, "--out", filepath.Join(dir, passes))...)
		r.ok()
		if strings.Contains(r.stderr, warning) != warns {
			t.Errorf("%s passes: warned %v, want %v: %s", passes, !warns, warns, r.stderr)
		}
	}
}

// A model on little data of another domain: towards the general model it does better than either alone, the objective
// counts the distance to it, and the model file stands alone.
func TestPrior(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	general, here := write(t, "general.conll", lessons(0, 80, "ish")), write(t, "here.conll", lessons(3, 3, "est"))
	test := write(t, "test.conll", lessons(3, 40, "est")+lessons(1, 10, "ish"))
	prior := filepath.Join(dir, "prior.safetensors")
	dsp(t, "train", "--train", general, "--quiet", "--out", filepath.Join(dir, "general")).ok()
	if err := os.Rename(filepath.Join(dir, "general", "model.safetensors"), prior); err != nil {
		t.Fatal(err)
	}
	accuracy := func(model string) float64 {
		var m metricsJSON
		dsp(t, "eval", "--model", model, "--data", test, "--json").ok().json(&m)
		return 1 - m.TokenError
	}
	alone, adapted := filepath.Join(dir, "alone"), filepath.Join(dir, "adapted")
	dsp(t, "train", "--train", here, "--quiet", "--out", alone).ok()
	objectives := map[string]float64{}
	for _, method := range []string{"sdca", "svrg", "saga", "casimir", "lbfgs", "owl-qn", "prox-linear", "sgd"} {
		out := filepath.Join(dir, method)
		var r resultJSON
		args := []string{"train", "--train", here, "--prior", prior, "--method", method, "--passes", "60", "--json", "--quiet", "--out", out}
		if method == "sgd" { // its default steps are for networks
			args = append(args, "--lr", "0.1", "--passes", "600")
		}
		dsp(t, args...).ok().json(&r)
		if method != "prox-linear" && method != "sgd" && (r.Gap == nil || *r.Gap < -1e-9 || *r.Gap > 0.002**r.Objective) {
			t.Errorf("%s: gap %v of %v", method, r.Gap, *r.Objective)
		}
		objectives[method] = *r.Objective
		if math.Abs(*r.Objective-objectives["sdca"]) > 0.005*objectives["sdca"] {
			t.Errorf("%s ends at %v, sdca at %v", method, *r.Objective, objectives["sdca"])
		}
	}
	dsp(t, "train", "--train", here, "--prior", prior, "--quiet", "--out", adapted).ok()
	with, without, from := accuracy(adapted), accuracy(alone), accuracy(prior)
	if err := os.Remove(prior); err != nil {
		t.Fatal(err)
	}
	if with < max(without, from) {
		t.Errorf("accuracy %v with the prior, %v without, %v of the prior", with, without, from)
	}
	if again := accuracy(adapted); again != with {
		t.Errorf("without the prior's file the accuracy is %v", again)
	}
	dsp(t, "train", "--train", here, "--prior", adapted, "--reg", "0", "--out", filepath.Join(dir, "x")).refused(exitBadInput, "--reg above 0")
	dsp(t, "train", "--train", here, "--init", filepath.Join(dir, "none"), "--out", filepath.Join(dir, "x")).refused(exitBadInput, "--init", "none")
	dsp(t, "train", "--init", adapted, "--task", "ocr").refused(exitBadInput, "--task ocr", "tag")
}

// alike reports whether two evaluations are equal, but for rounding in the sums of scores and bounds, which float32
// weights change.
func alike(a, b map[string]any) bool {
	a, b = maps.Clone(a), maps.Clone(b)
	size, _ := b["bound"].(float64)
	for _, name := range []string{"score", "bound", "gap"} {
		x, isNumber := a[name].(float64)
		y, wasNumber := b[name].(float64)
		if isNumber != wasNumber || math.Abs(x-y) > 1e-6*math.Max(1, math.Abs(size)) {
			return false
		}
		delete(a, name)
		delete(b, name)
	}
	return reflect.DeepEqual(a, b)
}

// A run on the new data alone forgets the old. It says so where development data show it, and not where a pass does
// better.
func TestInitThatForgets(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	text := lessons(0, 60, "ish")
	turned := strings.NewReplacer("\tO", "\tB-X", "\tB-X", "\tO", "\tI-X", "\tO").Replace(text)
	old, other := write(t, "old.conll", text), write(t, "other.conll", turned)
	base := filepath.Join(dir, "base")
	dsp(t, "train", "--train", old, "--quiet", "--out", base).ok()
	const warning = "no pass does better on the development data than the model that the run continues"
	for dev, warns := range map[string]bool{old: true, other: false} {
		r := dsp(t, "train", "--train", other, "--dev", dev, "--init", base, "--out", filepath.Join(dir, fmt.Sprint(warns)))
		r.ok()
		if strings.Contains(r.stderr, warning) != warns {
			t.Errorf("development data like the new ones: %v; warned %v: %s", !warns, !warns, r.stderr)
		}
		if again := dsp(t, "train", "--resume", filepath.Join(dir, fmt.Sprint(warns)), "--passes", "20").ok(); strings.Contains(again.stderr, warning) != warns {
			t.Errorf("resumed; warned %v: %s", !warns, again.stderr)
		}
	}
}
