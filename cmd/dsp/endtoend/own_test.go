package endtoend

import (
	"bytes"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
)

// buildProgram builds a program from a folder, without the tables for debuggers, which take long to write.
func buildProgram(name, path string) func() (string, error) {
	return sync.OnceValues(func() (string, error) {
		sources, err := filepath.Glob(filepath.Join(path, "*.go"))
		for _, s := range sources { // go test runs a test again if a file that it read has changed
			_, failed := os.ReadFile(s)
			err = errors.Join(err, failed)
		}
		if err != nil {
			return "", err
		}
		to := filepath.Join(shared, name+strings.TrimSuffix(filepath.Ext(binary), ".test"))
		link := "-ldflags=" + strings.Join(append([]string{"-s", "-w"}, linkFlags[name]...), " ")
		out, err := exec.Command("go", append(append([]string{"build", "-buildvcs=false", link, "-o", to}, buildFlags...), path)...).CombinedOutput()
		if err != nil {
			return "", &buildError{err, out}
		}
		return to, nil
	})
}

type buildError struct {
	err error
	out []byte
}

func (e *buildError) Error() string { return e.err.Error() + "\n" + string(e.out) }

// linkFlags are more flags of the linker, of programs that make links with them.
var linkFlags = map[string][]string{}

var (
	builtProgram   = buildProgram("dsp", "..")
	exampleProgram = buildProgram("ownnetwork", "../../../docs/ownnetwork") // the one in docs/guide/own-network.md
)

// program returns a function that runs a program like dsp does.
func program(t *testing.T, build func() (string, error)) func(t *testing.T, args ...string) outcome {
	t.Helper()
	path, err := build()
	if err != nil {
		t.Fatal(err)
	}
	return func(t *testing.T, args ...string) outcome {
		t.Helper()
		return runOf(t, nil, path, "", args...)
	}
}

// ownNetworks runs dsp with the networks of registerNetworks.
func ownNetworks(t *testing.T, args ...string) outcome {
	t.Helper()
	return dspIn(t, []string{asProgram + "=" + withNetworks}, args...)
}

// What go build makes is the program that the other tests run: it trains the same bits, predicts the same, and exits
// with the same codes.
func TestBuiltProgram(t *testing.T) {
	t.Parallel()
	built := program(t, builtProgram)
	dir := filepath.Join(t.TempDir(), "run")
	built(t, with(small, "--method", "sgd", "--passes", "4", "--out", dir)...).ok()
	if !bytes.Equal(modelOf(t, dir), modelOf(t, reader(t))) {
		t.Error("another model")
	}
	predict := []string{"predict", "--model", dir, "--input", "builtin", "--json"}
	if got, want := built(t, predict...).ok().stdout, dsp(t, predict...).ok().stdout; got != want {
		t.Errorf("predicts\n%s\nexpected\n%s", got, want)
	}
	if o := built(t, "--version").ok(); !strings.HasPrefix(o.stdout, "dsp ") {
		t.Errorf("--version prints %q", o.stdout)
	}
	built(t, "train", "--lr", "fast").refused(exitBadInput, "--lr fast", "a number")
	built(t, with(small, "--method", "sgd", "--lr", "1e20", "--out", filepath.Join(t.TempDir(), "x"))...).refused(exitFailed, "Lower --lr")
	if runtime.GOOS != "windows" {
		path, _ := builtProgram()
		run := filepath.Join(t.TempDir(), "interrupted")
		p := startedAs(t, path, with(small, "--method", "sgd", "--passes", "100000", "--out", run))
		p.awaitPass(run)
		if !p.end(os.Interrupt) {
			t.Error("the run ended before the signal")
		}
	}
}

// The program of docs/guide/own-network.md trains its network, resumes, and predicts; dsp itself refuses the model by
// the name of the network.
func TestOwnNetworkOfReadme(t *testing.T) {
	t.Parallel()
	own := program(t, exampleProgram)
	dir := filepath.Join(t.TempDir(), "run")
	flags := []string{"train", "--net", "mine", "--examples", "60,10,20", "--hidden", "12", "--method", "sgd", "--baselines", "on", "--quiet"}
	whole := filepath.Join(t.TempDir(), "whole")
	own(t, with(flags, "--passes", "3", "--out", dir)...).ok()
	own(t, "train", "--resume", dir, "--passes", "5", "--quiet").ok()
	own(t, with(flags, "--passes", "5", "--out", whole)...).ok()
	if !bytes.Equal(modelOf(t, dir), modelOf(t, whole)) {
		t.Error("a resumed run ends with other weights")
	}
	if lines := strings.Count(own(t, "predict", "--model", dir, "--input", "builtin", "--json").ok().stdout, "\n"); lines != 20 {
		t.Errorf("%d predictions of 20 words", lines)
	}
	var m metricsJSON
	own(t, "eval", "--model", dir, "--data", "builtin", "--json").ok().json(&m)
	if m.Tokens == 0 {
		t.Errorf("got %+v", m)
	}
	own(t, "export", "--model", dir, "--data", "builtin", "--to", filepath.Join(t.TempDir(), "p.npz")).ok()
	var info struct {
		Net    string
		Config struct {
			Net    string
			Hidden []int
			Window int
		}
		Layers []struct {
			Name    string
			Weights int
		}
		Weights int
	}
	own(t, "info", dir, "--json").ok().json(&info)
	weights := 0
	for _, l := range info.Layers {
		weights += l.Weights
	}
	if info.Net != "mine" || info.Config.Net != "mine" || len(info.Config.Hidden) != 1 || info.Config.Hidden[0] != 12 || info.Config.Window != 3 || weights != info.Weights {
		t.Errorf("the model says %+v", info)
	}
	if o := own(t, "info", dir).ok(); !strings.Contains(o.stdout, "window 3") || !strings.Contains(o.stdout, "product hidden, + bias, tanh") {
		t.Errorf("no table of layers in\n%s", o.stdout)
	}
	if help := own(t, "train", "--help").ok().stdout; !strings.Contains(help, "|mine") {
		t.Errorf("help does not name the network:\n%s", help)
	}

	for _, args := range [][]string{
		{"predict", "--model", dir, "--input", "builtin"}, {"eval", "--model", dir, "--data", "builtin"}, {"info", dir},
		{"export", "--model", dir, "--data", "builtin", "--to", filepath.Join(t.TempDir(), "p.npz")}, {"train", "--resume", dir},
		{"train", "--net", "mine"},
	} {
		dsp(t, args...).refused(exitBadInput, `"mine"`, "the program that registers it")
	}
	own(t, "train", "--net", "mine", "--channels", "4").refused(exitBadInput, "--channels 4", "network mine")
	own(t, "train", "--net", "mine", "--examples", "5,2,2", "--edges", "position", "--out", filepath.Join(t.TempDir(), "x"), "--quiet").refused(exitBadInput, "no setting edges")
	own(t, "train", "--net", "mine", "--hash-bits", "4").refused(exitBadInput, "--hash-bits 4")
}

// Every kind of method that trains deep networks, and a sweep, know an own network.
func TestOwnNetworkByEveryMethod(t *testing.T) {
	t.Parallel()
	own := ownNetworks
	for _, flags := range [][]string{
		{"--method", "prox-linear"}, {"--method", "prox-linear", "--inner", "svrg", "--loss", "crf"}, {"--method", "sgd", "--loss", "crf"},
	} {
		run := filepath.Join(t.TempDir(), "run")
		own(t, with(with([]string{"train", "--net", "softsign", "--examples", "40,10,10", "--passes", "2", "--baselines", "off", "--quiet", "--out", run}, flags...))...).ok()
		own(t, "eval", "--model", run, "--data", "builtin").ok()
	}
	own(t, "train", "--net", "softsign", "--method", "bcfw", "--examples", "40,10,10", "--quiet", "--out", filepath.Join(t.TempDir(), "x")).refused(exitBadInput,
		`net "softsign" is not`)
	sweep := filepath.Join(t.TempDir(), "sweep")
	own(t, "sweep", "--net", "softsign", "--examples", "40,10,10", "--passes", "1", "--method", "sgd", "--grid", "hidden=4,6", "--grid", "net=softsign,mlp", "--quiet", "--out", sweep).ok()
	own(t, "eval", "--model", filepath.Join(sweep, "best"), "--data", "builtin").ok()
}

// Own networks of words, with dropout, and of trees.
func TestOwnNetworkOfWordsAndTrees(t *testing.T) {
	t.Parallel()
	own := ownNetworks
	text, run := write(t, "train.conll", strings.Repeat(sentences+"\n", 10)), filepath.Join(t.TempDir(), "run")
	own(t, "train", "--net", "wordy", "--train", text, "--method", "sgd", "--passes", "20", "--lr", "0.5", "--dropout", "0.2", "--min-count", "1", "--out", run, "--quiet").ok()
	var m metricsJSON
	own(t, "eval", "--model", run, "--data", text, "--json").ok().json(&m)
	if m.F1 < 0.9 {
		t.Errorf("F1 %v on what it was trained on", m.F1)
	}
	own(t, "train", "--net", "wordy", "--examples", "40,10,10", "--out", filepath.Join(t.TempDir(), "x"), "--quiet").refused(exitFailed, `own network "wordy": it reads words`)
	own(t, "train", "--net", "softsign", "--train", text, "--out", filepath.Join(t.TempDir(), "x"), "--quiet").refused(exitBadInput, `network "softsign": parameter "hidden" has shape [0 8]`)

	trees := filepath.Join(t.TempDir(), "trees")
	own(t, "train", "--task", "parse", "--net", "arcs", "--examples", "60,10,10", "--passes", "2", "--out", trees, "--quiet").ok()
	own(t, "eval", "--model", trees, "--data", "builtin").ok()
	own(t, "train", "--task", "parse", "--net", "wordy", "--examples", "60,10,10", "--out", filepath.Join(t.TempDir(), "x"), "--quiet").refused(exitBadInput,
		`"wordy" scores a chain`, "projective tree")
}

// What is wrong with an own network is said with its name, and never ends in a stack trace.
func TestOwnNetworkRefused(t *testing.T) {
	t.Parallel()
	own := ownNetworks
	small := func(net string) []string {
		return []string{"train", "--net", net, "--examples", "40,10,10", "--baselines", "off", "--quiet", "--out", filepath.Join(t.TempDir(), "x")}
	}
	own(t, small("fails")...).refused(exitFailed, `own network "fails": out of order`)
	own(t, small("overruns")...).refused(exitFailed, `op "overrun" of the network`)
	own(t, with(small("softsign"), "--dropout", "0.5", "--method", "sgd")...).refused(exitBadInput, `"softsign" has no dropout`)
	for name, message := range map[string]string{"linear": "the name of a preset", "arcs": "registered twice", "a b": "without spaces"} {
		for _, verb := range []string{"info", "train"} {
			dspIn(t, []string{asProgram + "=" + withNetworks, "REGISTER=" + name}, verb).refused(exitBadInput, message)
		}
	}
}

const stackText = `# Two layers over a window.
- embed: [8]
- characters: {channels: 4, units: 3}
- convolution: {channels: 8, activation: elu}
- residual:
  - dense: {units: 8, activation: elu}
`

// The layers of a stack are in the model and the run folder: the file is not needed after training.
func TestStackFile(t *testing.T) {
	t.Parallel()
	text := write(t, "train.conll", strings.Repeat(sentences+"\n", 10))
	file, run := write(t, "my.yaml", stackText), filepath.Join(t.TempDir(), "run")
	train := []string{"train", "--train", text, "--net", file, "--method", "sgd", "--lr", "0.05", "--min-count", "1", "--quiet"}
	dsp(t, with(train, "--passes", "20", "--out", run)...).ok()
	if err := os.Remove(file); err != nil {
		t.Fatal(err)
	}
	var m metricsJSON
	dsp(t, "eval", "--model", run, "--data", text, "--json").ok().json(&m)
	if m.F1 < 0.9 {
		t.Errorf("F1 %v on what it was trained on", m.F1)
	}
	again := filepath.Join(t.TempDir(), "again")
	dsp(t, "train", "--config", filepath.Join(run, "config.yaml"), "--out", again, "--quiet").ok()
	if !bytes.Equal(modelOf(t, run), modelOf(t, again)) {
		t.Error("the configuration of the run makes another model")
	}
	dsp(t, "train", "--resume", run, "--passes", "21", "--quiet").ok()
	if o := dsp(t, "info", run).ok(); !strings.Contains(o.stdout, "product convolution1.weight, + convolution1.bias, elu") {
		t.Errorf("no table of layers in\n%s", o.stdout)
	}
	dsp(t, train...).refused(exitBadInput, "my.yaml")
	dsp(t, "train", "--net", "stack").refused(exitBadInput, "--net FILE.yaml")
}

func TestStackRefused(t *testing.T) {
	t.Parallel()
	for text, messages := range map[string][]string{
		"- features\n- dense: none\n": {"my.yaml:2: layer dense: units: expected a whole number of 1 to", `found "none"`},
		"- embed\n":                   {"my.yaml:1: layer embed: the data has no discrete inputs"},
	} {
		dsp(t, "train", "--net", write(t, "my.yaml", text), "--examples", "40,10,10", "--quiet", "--out", filepath.Join(t.TempDir(), "x")).refused(exitBadInput, messages...)
	}
	open := write(t, "open.yaml", "- features\n- dense: 4\n")
	dsp(t, "train", "--net", open, "--hidden", "3").refused(exitBadInput, "--hidden 3 has no effect with --net stack")
	words := write(t, "words.yaml", "- embed\n")
	dsp(t, "train", "--net", words, "--train", write(t, "train.conll", sentences), "--hash-bits", "4").refused(exitBadInput, "--hash-bits 4 has no effect")
	dsp(t, "train", "--net", "mlp", "--stack", "- features").refused(exitBadInput, "--stack")
}

// A stack reads attributes beside words, from a template or a built-in set.
func TestStackOfAttributes(t *testing.T) {
	t.Parallel()
	text, run := write(t, "train.conll", strings.Repeat(sentences+"\n", 10)), filepath.Join(t.TempDir(), "run")
	file := write(t, "my.yaml", "- embed: 4\n- attributes: 6\n- dense: {units: 6, activation: elu}\n")
	dsp(t, "train", "--train", text, "--net", file, "--features", "ner", "--method", "sgd", "--lr", "0.05", "--passes", "20", "--out", run, "--quiet").ok()
	var m metricsJSON
	dsp(t, "eval", "--model", run, "--data", text, "--json").ok().json(&m)
	if m.F1 < 0.9 {
		t.Errorf("F1 %v on what it was trained on", m.F1)
	}
	if o := dsp(t, "info", run).ok(); !strings.Contains(o.stdout, "attribute.embed") {
		t.Errorf("no attributes in\n%s", o.stdout)
	}
}

// A stack scores trees, too, and a sweep compares several.
func TestStackOfTreesAndInSweep(t *testing.T) {
	t.Parallel()
	file, trees := write(t, "my.yaml", stackText), filepath.Join(t.TempDir(), "trees")
	dsp(t, "train", "--task", "parse", "--net", file, "--arc-units", "6", "--label-units", "4", "--examples", "60,10,10", "--passes", "1", "--out", trees, "--quiet").ok()
	dsp(t, "eval", "--model", trees, "--data", "builtin").ok()
	a, b := write(t, "a.yaml", "- features\n- dense: {units: 4, activation: elu}\n"), write(t, "b.yaml", "- features\n")
	sweep := filepath.Join(t.TempDir(), "sweep")
	dsp(t, "sweep", "--examples", "40,10,10", "--passes", "1", "--method", "sgd", "--grid", "net="+a+","+b, "--quiet", "--out", sweep).ok()
	dsp(t, "eval", "--model", filepath.Join(sweep, "best"), "--data", "builtin").ok()
}
