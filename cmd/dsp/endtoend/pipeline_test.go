package endtoend

import (
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/dsp-go/dsp/models/data/characters"
	"github.com/dsp-go/dsp/models/data/conllu"
	"github.com/dsp-go/dsp/models/inputs/encoded/encodedtest"
)

var drawnNouns = [][2]string{{"chat", "le"}, {"pain", "le"}, {"village", "le"}, {"maison", "la"}, {"table", "la"}, {"ami", "l'"}, {"eau", "l'"}, {"homme", "l'"}}

var drawnVerbs = [][2]string{{"aime", "aimer"}, {"mange", "manger"}, {"admire", "admirer"}, {"voit", "voir"}, {"oublie", "oublier"}}

// trainedPipeline is trained once.
var trainedPipeline = sync.OnceValues(func() (string, error) {
	dir, err := os.MkdirTemp(shared, "pipeline")
	if err != nil {
		return "", err
	}
	rng := rand.New(rand.NewPCG(1, 1))
	for name, n := range map[string]int{"train": 300, "dev": 60} {
		var text []byte
		for k := range n {
			s := drawSentence(rng, k)
			text = s.Append(text)
		}
		if err := os.WriteFile(filepath.Join(dir, name+".conllu"), text, 0o666); err != nil {
			return "", err
		}
	}
	return dir, runProgram("train", "--task", "pipeline", "--train", filepath.Join(dir, "train.conllu"), "--dev", filepath.Join(dir, "dev.conllu"),
		"--out", filepath.Join(dir, "run"), "--quiet", "--task-settings", "folds=2")
})

// aPipeline returns a pipeline, and the folder of its data.
func aPipeline(t *testing.T) (model, dir string) {
	t.Helper()
	dir, err := trainedPipeline()
	if err != nil {
		t.Fatal(err)
	}
	return filepath.Join(dir, "run"), dir
}

// A pipeline finds tokens, sentences, words, tags, lemmas and trees of text that it has not seen.
func TestPipelineFromText(t *testing.T) {
	t.Parallel()
	model, _ := aPipeline(t)
	sentences, path := drawTreebank(t, 7, 80)
	text := characters.Text(sentences)
	var scores map[string]any
	dsp(t, "eval", "--model", model, "--data", path, "--json").ok().json(&scores)
	for name, least := range map[string]float64{
		"tokens": 0.995, "sentences": 0.98, "words": 0.98, "upos": 0.98, "xpos": 0.98, "ufeats": 0.97, "lemmas": 0.97, "uas": 0.93, "las": 0.93, "mlas": 0.85, "blex": 0.85,
	} {
		if got := scores[name].(float64); got < least {
			t.Errorf("%s %.4f, expected at least %.4f", name, got, least)
		}
	}
	var gold map[string]any
	dsp(t, "eval", "--model", model, "--data", path, "--gold-tokens", "--json").ok().json(&gold)
	if gold["tokens"].(float64) != 1 || gold["sentences"].(float64) != 1 || gold["words"].(float64) != 1 || gold["las"].(float64) < 0.93 {
		t.Errorf("%v", gold)
	}
	var reviewed struct {
		LAS       float64
		Intervals []struct {
			Metric           string
			Value, Low, High float64
		}
		Errors []struct {
			Line     int
			Mistakes []struct{ Word, Field, Gold, Predicted string }
		}
	}
	dsp(t, "eval", "--model", model, "--data", path, "--errors", "2", "--intervals", "--json").ok().json(&reviewed)
	if reviewed.LAS != scores["las"] || len(reviewed.Intervals) != 13 || len(reviewed.Errors) > 2 {
		t.Errorf("%+v", reviewed)
	}
	for _, x := range reviewed.Intervals {
		if x.Value != scores[x.Metric] || x.Low > x.Value || x.High < x.Value || x.Low == x.High {
			t.Errorf("%+v, the score is %v", x, scores[x.Metric])
		}
	}
	worst := len(reviewed.Errors) > 0 && len(reviewed.Errors[0].Mistakes) > 0 && reviewed.Errors[0].Line > 0
	if said := dsp(t, "eval", "--model", model, "--data", path, "--errors", "2").ok().stdout; worst != strings.Contains(said, path+":") || !strings.Contains(said, "sentences with mistakes: ") {
		t.Errorf("%+v, and in words %s", reviewed.Errors, said)
	}
	dsp(t, "sweep", "--task", "pipeline", "--train", path, "--dev", path, "--grid", "trees.passes=1,2").refused(exitBadInput, "--task pipeline is for dsp train", "dsp sweep --config PIPELINE/upos/config.yaml")
	dsp(t, "eval", "--model", model, "--data", path, "--errors", "0").refused(exitBadInput, "--errors 0")
	dsp(t, "eval", "--model", model, "--data", path, "--calibration", "x.png").refused(exitBadInput, "--calibration has no use with a pipeline")

	out := dspWith(t, text, "predict", "--model", model, "--text").ok().stdout
	found, err := conllu.ReadAll(strings.NewReader(out), "predictions")
	if err != nil {
		t.Fatal(err)
	}
	runes := []rune(text)
	at := 0
	for _, s := range found {
		for _, token := range s.Tokens {
			var from, to int
			if _, err := fmt.Sscanf(conllu.Value(token.Misc, "TokenRange"), "%d:%d", &from, &to); err != nil || from < at || string(runes[from:to]) != token.Form {
				t.Fatalf("%+v", token)
			}
			at = to
		}
	}
	for _, threads := range []string{"1", "3"} {
		if again := dspWith(t, text, "predict", "--model", model, "--text", "--threads", threads).ok().stdout; again != out {
			t.Errorf("--threads %s predicts something else", threads)
		}
	}
	forms := ""
	for _, s := range predictedSentences(t, model, "C'est qu'il n'aime pas l'ami du chat.") {
		for k, token := range s.Tokens {
			forms += fmt.Sprintf("%s %d, ", token.Form, s.Tokens[k].Last-s.Tokens[k].First+1)
		}
		for _, w := range s.Words {
			forms += w.Fields[conllu.Form] + " "
		}
	}
	if want := "C' 1, est 1, qu' 1, il 1, n' 1, aime 1, pas 1, l' 1, ami 1, du 2, chat 1, . 1, C' est qu' il n' aime pas l' ami de le chat . "; forms != want {
		t.Errorf("%s, expected %s", forms, want)
	}
}

func predictedSentences(t *testing.T, model, text string) []conllu.Sentence {
	t.Helper()
	all, err := conllu.ReadAll(strings.NewReader(dspWith(t, text, "predict", "--model", model, "--text").ok().stdout), "predictions")
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// Text that is split already keeps its sentences and tokens; tokens of several words are found in it, too.
func TestPipelinePretokenised(t *testing.T) {
	t.Parallel()
	model, _ := aPipeline(t)
	in := "C' est qu' il n' aime pas l' ami du chat .\n\nM. Durand voit l' eau. Il mange\n"
	out := dspWith(t, in, "predict", "--model", model, "--lines", "--pretokenised").ok().stdout
	all, err := conllu.ReadAll(strings.NewReader(out), "predictions")
	if err != nil {
		t.Fatal(err)
	}
	got := ""
	for _, s := range all {
		for _, token := range s.Tokens {
			got += token.Form + " "
		}
		got += fmt.Sprintf("%d\n", len(s.Words))
	}
	if want := "C' est qu' il n' aime pas l' ami du chat . 13\nM. Durand voit l' eau. Il mange 7\n"; got != want {
		t.Errorf("%s, expected %s", got, want)
	}
	const two = "M. Durand voit l'eau. Il mange.\nIl mange.\n" // a sentence per line, tokens as the pipeline finds them
	if out := dspWith(t, two, "predict", "--model", model, "--presegmented").ok().stdout; strings.Count(out, "# text = ") != 2 ||
		!strings.Contains(out, "# text = M. Durand voit l'eau. Il mange.\n") || !strings.Contains(out, "\teau\t") {
		t.Errorf("sentences are given: %s", out)
	}
	dspWith(t, in, "predict", "--model", model, "--pretokenised", "--presegmented").refused(exitBadInput, "leave --presegmented out")
	dspWith(t, in, "predict", "--model", model, "--pretokenised", "--inline").refused(exitBadInput, "--inline has no use with a pipeline")
}

// Only the fields that are asked for change in a treebank.
func TestPipelineFills(t *testing.T) {
	t.Parallel()
	model, _ := aPipeline(t)
	sentences, path := drawTreebank(t, 8, 30)
	var emptied, want []byte
	for _, s := range sentences {
		bare := s
		bare.Words = append([]conllu.Word(nil), s.Words...)
		for k := range bare.Words {
			bare.Words[k].Fields[conllu.Lemma] = "_"
		}
		emptied = bare.Append(emptied)
		want = s.Append(want)
	}
	out := dspWith(t, string(emptied), "predict", "--model", model, "--fill", "lemma").ok().stdout
	got, expected := strings.Split(out, "\n"), strings.Split(string(want), "\n")
	if len(got) != len(expected) {
		t.Fatalf("%d lines, expected %d", len(got), len(expected))
	}
	right, words := 0, 0
	for k := range got {
		a, b := strings.Split(got[k], "\t"), strings.Split(expected[k], "\t")
		if len(a) != len(b) {
			t.Fatalf("%q", got[k])
		}
		for c := range a {
			switch {
			case c == conllu.Lemma && len(a) == conllu.FieldCount && !strings.Contains(a[0], "-"):
				words++
				if a[c] == b[c] {
					right++
				}
			case a[c] != b[c]:
				t.Fatalf("%q, expected %q", got[k], expected[k])
			}
		}
	}
	if right < words*97/100 {
		t.Errorf("%d of %d lemmas", right, words)
	}
	var first struct {
		Text  string
		Words []struct{ Upos, Deprel string }
	}
	line, _, _ := strings.Cut(dsp(t, "predict", "--model", model, "--input", path, "--json").ok().stdout, "\n")
	outcome{t: t, stdout: line}.json(&first)
	if first.Text != sentences[0].Text() || len(first.Words) != len(sentences[0].Words) || first.Words[0].Deprel == "" {
		t.Errorf("%+v", first)
	}
	dsp(t, "predict", "--model", model, "--input", path, "--fill", "upos,form").refused(exitBadInput, "--fill", "upos, xpos, feats, lemma, head, deprel")
	dsp(t, "predict", "--model", model, "--input", path, "--nbest", "3").refused(exitBadInput, "--nbest has no use with a pipeline")
	dspWith(t, "1 x\n", "predict", "--model", model).refused(exitBadInput, `standard input:1: "1 x" looks like raw text`, "--text")
}

// Sentences that are no CoNLL-U are left out where --bad says so, and the others keep their answers; raw text has no
// bad sentences.
func TestPipelineLeavesOutBadSentences(t *testing.T) {
	t.Parallel()
	model, _ := aPipeline(t)
	sentences, _ := drawTreebank(t, 12, 3)
	good := []string{string(sentences[0].Append(nil)), string(sentences[1].Append(nil)), string(sentences[2].Append(nil))}
	path := write(t, "bad.conllu", good[0]+"1\tx\tx\n2\ty\ty\n\n"+good[1]+"1\tx\tx\tX\t_\t_\t0\troot\t_\t_\n3\tx\tx\tX\t_\t_\t0\troot\t_\t_\n\n"+good[2])
	want := dspWith(t, strings.Join(good, ""), "predict", "--model", model).ok().stdout
	dsp(t, "predict", "--model", model, "--input", path).refused(exitBadInput, "bad.conllu:", "3 columns, expected the 10")
	for _, flags := range [][]string{{"--bad", "skip"}, {"--skip-bad"}} {
		got := dsp(t, append([]string{"predict", "--model", model, "--input", path}, flags...)...).ok()
		if got.stdout != want {
			t.Errorf("%v: %s", flags, got.stdout)
		}
		for _, said := range []string{"3 columns, expected the 10", `id "3", expected 2`, "bad examples are left out", "examples=2"} {
			if !strings.Contains(got.stderr, said) {
				t.Errorf("%v says not %q: %s", flags, said, got.stderr)
			}
		}
	}
	dspWith(t, "Il mange.", "predict", "--model", model, "--text", "--bad", "skip").refused(exitBadInput, "--bad skip is for CoNLL-U")
	dsp(t, "predict", "--model", model, "--input", path, "--bad", "x").refused(exitBadInput, "--bad")
}

// A training that is interrupted goes on where it was, to the same bits.
func TestPipelineResumes(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("signals interrupt the run")
	}
	model, dir := aPipeline(t)
	out := filepath.Join(t.TempDir(), "run")
	args := []string{
		"train", "--task", "pipeline", "--train", filepath.Join(dir, "train.conllu"), "--dev", filepath.Join(dir, "dev.conllu"), "--out", out, "--quiet", "--task-settings", "folds=2",
		"--threads", "1",
	}
	cmd := exec.Command(binary, args...)
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan struct{})
	go func() { _ = cmd.Wait(); close(ended) }()
	for { // until the second fold of a stage is under way
		select {
		case <-ended:
			t.Fatalf("the training ended too early: %v", cmd.ProcessState)
		default:
		}
		if _, err := os.Stat(filepath.Join(out, "xpos", "fold1.labels")); err == nil {
			break
		}
		if _, err := os.Stat(filepath.Join(out, "feats", "config.yaml")); err == nil {
			break
		}
		if _, err := os.Stat(filepath.Join(out, "feats", "fold1.labels")); err == nil {
			break
		}
		time.Sleep(time.Millisecond)
	}
	if err := cmd.Process.Signal(syscall.SIGINT); err != nil {
		t.Fatal(err)
	}
	<-ended
	if code := cmd.ProcessState.ExitCode(); code != exitInterrupted {
		t.Fatalf("exit %d", code)
	}
	dsp(t, "predict", "--model", out, "--text").refused(exitBadInput, "not finished", "--resume")
	dsp(t, args...).refused(exitBadInput, "there is a run already")
	dsp(t, "train", "--resume", out, "--seed", "5", "--quiet").refused(exitBadInput, "other settings", "--seed")
	dsp(t, "train", "--resume", out, "--crossing", "refuse", "--quiet").refused(exitBadInput, "other settings", "--crossing was lift, and is refuse")
	_, other := drawTreebank(t, 9, 20)
	dsp(t, "train", "--resume", out, "--train", other, "--quiet").refused(exitBadInput, "other data")
	var result struct{ Fingerprint string }
	dsp(t, "train", "--resume", out, "--quiet", "--json").ok().json(&result)
	var about struct{ Fingerprint string }
	dsp(t, "info", model, "--json").ok().json(&about)
	if result.Fingerprint == "" || result.Fingerprint != about.Fingerprint {
		t.Errorf("fingerprint %s, expected %s", result.Fingerprint, about.Fingerprint)
	}
}

// Stages belong together: a folder with another model in it is refused, and so are settings and verbs of single models.
func TestPipelineRefuses(t *testing.T) {
	t.Parallel()
	model, dir := aPipeline(t)
	train := filepath.Join(dir, "train.conllu")
	for _, c := range []struct {
		args []string
		want string
	}{
		{[]string{"--net", "cnn-char"}, "--net has no effect with --task pipeline"},
		{[]string{"--baselines", "on"}, "--baselines has no effect with --task pipeline"},
		{[]string{"--encoder", dir}, "no config.json"},
		{[]string{"--pieces", "mean"}, "--pieces has no effect without --encoder"},
		{[]string{"--encoder", dir, "--tune-encoder"}, "share the rows of an encoder that stays as it is"},
		{[]string{"--encoder-by-reference"}, "--encoder-by-reference has no effect without --encoder"},
		{[]string{"--encoder", dir, "--task-settings", "skip=upos+xpos+feats+trees"}, "leaves out the stages that read it"},
		{[]string{"--task-settings", "folds=1"}, "folds"},
		{[]string{"--task-settings", "skip=tags"}, "characters, words, upos"},
		{[]string{"--task-settings", "vary=2"}, "vary"},
		{[]string{"--patience", "2"}, "needs development data"},
		{[]string{"--stage-settings", "lemma.train=x"}, `no setting "train" of its own`},
		{[]string{"--replace", "lemma=" + filepath.Join(model, "upos")}, "expected a run of this stage"},
		{[]string{"--replace", "lemma=" + filepath.Join(dir, "nothing")}, "--replace lemma="},
		{[]string{"--format", "conll"}, "learns from CoNLL-U"},
	} {
		dsp(t, append([]string{"train", "--task", "pipeline", "--train", train, "--out", filepath.Join(t.TempDir(), "x")}, c.args...)...).refused(exitBadInput, c.want)
	}
	dsp(t, "train", "--task", "pipeline").refused(exitBadInput, "give --train")
	for _, flag := range []string{"--stage-settings=lemma.passes=1", "--replace=lemma=x"} {
		dsp(t, "train", "--task", "parse", flag).refused(exitBadInput, "it is for --task pipeline")
	}
	broken := write(t, "broken.conllu", strings.Repeat("1\tx\tx\tX\t_\t_\t7\troot\t_\t_\n\n", 9))
	dsp(t, "train", "--task", "pipeline", "--train", broken, "--out", filepath.Join(t.TempDir(), "x")).refused(exitBadInput, `line 1 has head "7"`)
	dsp(t, "export", "--model", model, "--weights", "--to", filepath.Join(t.TempDir(), "w.txt")).refused(exitBadInput, "a pipeline, expected a single model")
	dsp(t, "report", model).refused(exitBadInput, "a pipeline, expected a single model", "upos")
	if _, err := os.Stat(filepath.Join(model, "report.html")); err == nil {
		t.Error("a report on a pipeline says that it has no model")
	}
	dspWith(t, "Il mange du pain.\n", "predict", "--model", model).refused(exitBadInput, `"Il mange du pain." looks like raw text`, "--text")
	dsp(t, "predict", "--model", filepath.Join(model, "upos"), "--fill", "upos").refused(exitBadInput, "--fill is for pipelines")

	stages := filepath.Join(t.TempDir(), "copy")
	if err := os.CopyFS(stages, os.DirFS(model)); err != nil {
		t.Fatal(err)
	}
	dspWith(t, "Il mange.", "predict", "--model", stages, "--text").ok()
	text, err := os.ReadFile(filepath.Join(stages, "feats", "model.safetensors"))
	if err == nil {
		err = os.WriteFile(filepath.Join(stages, "upos", "model.safetensors"), text, 0o666)
	}
	if err != nil {
		t.Fatal(err)
	}
	dspWith(t, "Il mange.", "predict", "--model", stages, "--text").refused(exitBadInput, "is not the model that the pipeline was trained with")
}

// The stages of a pipeline share an encoder: its folder holds one, and no stage computes rows of its own. It goes on
// after an interrupt to the same bits, and moves whole, without the folder that the encoder came from.
func TestPipelineWithEncoder(t *testing.T) {
	t.Parallel()
	sentences, path := drawTreebank(t, 11, 24)
	folder, home := encodedtest.Folder(t, "bert"), t.TempDir()
	flags := func(out string, more ...string) []string {
		return append([]string{
			"train", "--task", "pipeline", "--train", path, "--dev", path, "--encoder", folder, "--encoder-layers", "last", "--task-settings", "folds=2,skip=lemma", "--passes", "1",
			"--quiet", "--json", "--out", filepath.Join(home, out),
		}, more...)
	}
	var whole, half struct{ Fingerprint string }
	dsp(t, flags("whole")...).ok().json(&whole)
	if rows, err := filepath.Glob(filepath.Join(home, "rows", "*")); err != nil || len(rows) != 1 { // of the treebank; those of folds are gone
		t.Errorf("files of rows: %v %v", rows, err)
	}
	for _, stage := range []string{"upos", "feats", "trees"} {
		header, _ := modelIn(t, filepath.Join(home, "whole", stage))
		if header["encoder_tokenizer"] != nil {
			t.Errorf("stage %s holds an encoder", stage)
		}
	}
	dsp(t, flags("half", "--encoder-cache", "none")...).ok().json(&half)
	if _, err := os.Stat(filepath.Join(home, "half", "rows")); err == nil || half != whole {
		t.Errorf("rows that are not kept: %v, %v and %v", err, half, whole)
	}
	var bytes struct{ Fingerprint string } // the list of stages says how the encoder multiplies
	dsp(t, flags("bytes", "--encoder-precision", "int8")...).ok().json(&bytes)
	if bytes == whole {
		t.Error("products of bytes give the same stages")
	}
	dspWith(t, "Il mange.", "predict", "--model", filepath.Join(home, "bytes"), "--text").ok()
	refers := filepath.Join(home, "refers")
	var referring struct{ Fingerprint string }
	dsp(t, flags("refers", "--encoder-by-reference")...).ok().json(&referring)
	if _, err := os.Stat(filepath.Join(refers, "encoder")); err == nil || referring != whole {
		t.Errorf("with an encoder elsewhere: %v, %v and %v", err, referring, whole)
	}
	for _, name := range []string{"whole", "refers"} {
		without(t, home, filepath.Join(home, name))
		without(t, folder, filepath.Join(home, name))
	}
	apart := filepath.Join(t.TempDir(), "moved")
	if err := os.CopyFS(apart, os.DirFS(refers)); err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(filepath.Join(apart, "config.yaml")); err != nil { // which says where the encoder is
		t.Fatal(err)
	}
	dsp(t, "info", apart).refused(exitBadInput, "--encoder")
	dsp(t, "info", apart, "--encoder", folder).ok()
	dsp(t, "info", filepath.Join(home, "whole"), "--encoder", folder).refused(exitBadInput, "no effect")
	for _, file := range []string{"pipeline.json", "trees/model.safetensors", "trees/config.yaml"} {
		if err := os.Remove(filepath.Join(home, "half", file)); err != nil {
			t.Fatal(err)
		}
	}
	// As if the run had been interrupted before its trees.
	progress := filepath.Join(home, "half", "progress.json")
	text, err := os.ReadFile(progress)
	if err == nil {
		var p map[string]any
		if err = json.Unmarshal(text, &p); err == nil {
			all := p["stages"].([]any)
			p["stages"] = all[:len(all)-1]
			if text, err = json.Marshal(p); err == nil {
				err = os.WriteFile(progress, text, 0o666)
			}
		}
	}
	if err == nil {
		err = os.RemoveAll(filepath.Join(home, "half", "trees"))
	}
	if err != nil {
		t.Fatal(err)
	}
	dsp(t, "train", "--resume", filepath.Join(home, "half"), "--encoder", encodedtest.Folder(t, "electra"), "--quiet").refused(exitBadInput, "other rows")
	if err := os.RemoveAll(folder); err != nil {
		t.Fatal(err)
	}
	if dsp(t, "train", "--resume", filepath.Join(home, "half"), "--quiet", "--json").ok().json(&half); half != whole {
		t.Errorf("resumed: %v, expected %v", half, whole)
	}

	moved := filepath.Join(home, "moved")
	if err := os.Rename(filepath.Join(home, "whole"), moved); err != nil {
		t.Fatal(err)
	}
	raw := characters.Text(sentences)
	want := dspWith(t, raw, "predict", "--model", moved, "--text").ok().stdout
	if got := dspWith(t, raw, "predict", "--model", filepath.Join(home, "half"), "--text", "--threads", "2").ok().stdout; got != want {
		t.Error("a pipeline that moved predicts something else")
	}
	dspWith(t, raw, "predict", "--model", refers, "--text").refused(exitBadInput, folder, "which is not there")
	dsp(t, "train", "--resume", refers, "--quiet").refused(exitBadInput, folder, "which is not there")
	if err := os.CopyFS(filepath.Join(home, filepath.Base(folder)), os.DirFS(filepath.Join(moved, "encoder"))); err != nil {
		t.Fatal(err)
	}
	if got := dspWith(t, raw, "predict", "--model", refers, "--text").ok().stdout; got != want {
		t.Error("a pipeline that refers to its encoder predicts something else")
	}
	s := serve(t, "--model", moved)
	if code, got := s.post("predict", `{"text": "Il mange."}`); code != 200 || got != dspWith(t, "Il mange.", "predict", "--model", moved, "--text", "--json").ok().stdout {
		t.Errorf("%d %s", code, got)
	}
	dsp(t, "predict", "--model", filepath.Join(moved, "trees"), "--input", path).ok() // a stage alone finds the encoder beside its folder
	if info := dsp(t, "info", moved).ok().stdout; !strings.Contains(info, "encoder      bert: 2 layers of width 16") {
		t.Errorf("info:\n%s", info)
	}
	if err := os.RemoveAll(filepath.Join(moved, "encoder")); err != nil {
		t.Fatal(err)
	}
	if err := os.CopyFS(filepath.Join(moved, "encoder"), os.DirFS(encodedtest.Folder(t, "electra"))); err != nil {
		t.Fatal(err)
	}
	dspWith(t, "Il mange.", "predict", "--model", moved, "--text").refused(exitBadInput, "not the encoder that the pipeline was trained with")
}

// A server answers what predict prints.
func TestPipelineServed(t *testing.T) {
	t.Parallel()
	model, _ := aPipeline(t)
	sentences, _ := drawTreebank(t, 10, 12)
	text := characters.Text(sentences)
	s := serve(t, "--model", "french="+model, "--model", "tags="+filepath.Join(model, "upos"), "--max-positions", "200")
	post := func(kind, query, body string) (int, string) {
		r, err := http.Post(s.url+"predict"+query, kind, strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		defer r.Body.Close()
		answer, err := io.ReadAll(r.Body)
		if err != nil {
			t.Fatal(err)
		}
		return r.StatusCode, string(answer)
	}
	want := dspWith(t, text, "predict", "--model", model, "--text").ok().stdout
	if code, got := post("text/plain", "/french?format=conllu", text); code != 200 || got != want {
		t.Errorf("%d %s, expected %s", code, got, want)
	}
	want = dspWith(t, text, "predict", "--model", model, "--text", "--json").ok().stdout
	if code, got := post("text/plain", "?model=french", text); code != 200 || got != want {
		t.Errorf("%d %s, expected %s", code, got, want)
	}
	want = dspWith(t, "Il mange.", "predict", "--model", model, "--text", "--json").ok().stdout
	if code, got := post("application/json", "/french", `{"text": "Il mange."}`); code != 200 || got != want {
		t.Errorf("%d %s, expected %s", code, got, want)
	}
	const lines = "Il mange. Il voit l'eau.\nIl mange.\n"
	for query, flag := range map[string]string{"&lines": "--lines", "&presegmented": "--presegmented", "&lines=true&presegmented=true": "--presegmented", "&presegmented=false": "--text"} {
		want := dspWith(t, lines, "predict", "--model", model, "--text", flag).ok().stdout
		if code, got := post("text/plain", "/french?format=conllu"+query, lines); code != 200 || got != want {
			t.Errorf("%s: %d %s, expected %s", query, code, got, want)
		}
	}
	for _, c := range [][3]string{
		{"/french", `{"texts": 1}`, "text"},
		{"/french?presegmented=maybe", `{"text": "Il"}`, "presegmented=maybe: expected true or false"},
		{"/french?nbest=2", `{"text": "Il"}`, "nbest"},
		{"/french?format=x", `{"text": "Il"}`, "format=x"},
		{"/french", "\xff", "UTF-8"},
		{"/french?model=tags", `{"text": "Il mange."}`, "the model french, and the model tags"},
		{"/tags?model=french", `{"text": "Il mange."}`, "the model tags, and the model french"},
		{"/french", fmt.Sprintf(`{"text": %q}`, strings.Repeat("Il mange.", 223)), "a paragraph of 2007 characters, expected at most 2000"},
	} {
		if code, got := post("application/json", c[0], c[1]); code != 400 || !strings.Contains(got, c[2]) {
			t.Errorf("%v: %d %s", c, code, got)
		}
	}
	if code, got := post("application/json", "/french", `{"text": ""}`); code != 200 || got != "" {
		t.Errorf("%d %q", code, got)
	}
	r, err := http.Get(s.url + "v2/models/french")
	if err != nil {
		t.Fatal(err)
	}
	defer r.Body.Close()
	about, err := io.ReadAll(r.Body)
	if err != nil || !strings.Contains(string(about), `"stages":["characters","words","upos"`) {
		t.Errorf("%s %v", about, err)
	}
}
