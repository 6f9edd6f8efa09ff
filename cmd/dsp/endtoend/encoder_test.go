package endtoend

import (
	"bytes"
	endian "encoding/binary"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/dsp-go/dsp/models/inputs/encoded/encodedtest"
)

// onRows are the flags of a verb that makes attributes of tags and rows of a tiny encoder.
func onRows(verb, train, folder string) []string {
	return append(strings.Fields(verb), "--task", "tag", "--columns", "word=0,pos=1,label=-1", "--train", train, "--net", "linear", "--quiet",
		"--encoder", folder, "--encoder-layers", "last")
}

// withEncoder are the flags of a linear model of attributes and rows of a tiny encoder.
func withEncoder(train, folder string) []string {
	return append(onRows("train", train, folder), "--passes", "4", "--method", "svrg")
}

// A model with an encoder is whole: it predicts without the folder, in every way.
func TestEncoderInModel(t *testing.T) {
	t.Parallel()
	folder, text := encodedtest.Folder(t, "bert"), drawnText(t)
	train, dev := filepath.Join(text, "train.conll"), filepath.Join(text, "dev.conll")
	args := withEncoder(train, folder)
	whole := filepath.Join(t.TempDir(), "whole")
	dsp(t, with(args, "--dev", dev, "--threads", "1", "--out", whole)...).ok()
	rows, err := filepath.Glob(filepath.Join(filepath.Dir(whole), "rows", "*"))
	if err != nil || len(rows) != 2 {
		t.Errorf("files of rows: %v %v", rows, err)
	}

	other := filepath.Join(t.TempDir(), "other")
	dsp(t, with(args, "--dev", dev, "--threads", "3", "--encoder-cache", "none", "--out", other)...).ok()
	if tensorsIn(t, whole) != tensorsIn(t, other) {
		t.Error("threads, or rows in memory, change the model")
	}
	half := filepath.Join(t.TempDir(), "half")
	dsp(t, with(args, "--dev", dev, "--passes", "2", "--out", half)...).ok()
	dsp(t, "train", "--resume", half, "--passes", "4", "--quiet").ok()
	if tensorsIn(t, whole) != tensorsIn(t, half) {
		t.Error("a resumed run has another model")
	}
	pack := packed(t, with(onRows("", train, folder), "--encoder-cache", "none")...)
	from := filepath.Join(t.TempDir(), "packed")
	dsp(t, "train", "--train", pack, "--dev", dev, "--method", "svrg", "--passes", "4", "--quiet", "--out", from).ok()
	if tensorsIn(t, whole) != tensorsIn(t, from) {
		t.Error("training on a pack gives another model")
	}

	if err := os.RemoveAll(folder); err != nil {
		t.Fatal(err)
	}
	columns := dsp(t, "predict", "--model", whole, "--input", dev).ok().stdout
	var labels []string
	for _, o := range objects[struct{ Labels []string }](dsp(t, "predict", "--model", from, "--input", dev, "--json", "--threads", "2").ok()) {
		labels = append(labels, o.Labels...)
	}
	var last []string
	for line := range strings.Lines(columns) {
		if f := strings.Fields(line); len(f) > 0 {
			last = append(last, f[len(f)-1])
		}
	}
	if strings.Join(labels, " ") != strings.Join(last, " ") || len(labels) == 0 {
		t.Error("labels in columns and as JSON differ")
	}
	dsp(t, "eval", "--model", whole, "--data", dev).ok()
	dsp(t, "calibrate", "--model", other, "--dev", dev).ok()
	dsp(t, "report", "--model", whole, "--data", dev, "--out", filepath.Join(t.TempDir(), "report.html")).ok()
	dsp(t, "export", "--model", whole, "--data", dev, "--to", filepath.Join(t.TempDir(), "p.npz")).ok()
	dsp(t, "export", "--model", whole, "--weights", "--to", filepath.Join(t.TempDir(), "w.txt")).ok()
	onnx := filepath.Join(t.TempDir(), "m.onnx")
	dsp(t, "export", "--model", whole, "--onnx", onnx).ok()
	g, meta := readONNX(t, onnx)
	if got := strings.Join(names(g.Inputs), " "); got != "attributes pieces first_pieces piece_lengths lengths" || !strings.Contains(meta["encoder"], `"pieces":"first"`) || meta["tokenizer"] == "" {
		t.Errorf("a graph with inputs %s and encoder %s", got, meta["encoder"])
	}
	if info := dsp(t, "info", whole).ok().stdout; !strings.Contains(info, "encoder     bert, in the file, from "+folder+": 2 layers of width 16") ||
		!strings.Contains(info, "rows of layers last: hidden state 2;") || strings.Contains(info, "given:") {
		t.Errorf("info:\n%s", info)
	}
	dsp(t, "train", "--task", "tag", "--columns", "word=0,pos=1,label=-1", "--train", dev, "--init", whole, "--passes", "1", "--quiet", "--out", filepath.Join(t.TempDir(), "more")).ok()
}

// A model knows the precision of its encoder: it predicts as it was trained, has rows of its own, and other precisions
// give other scores.
func TestEncoderPrecision(t *testing.T) {
	t.Parallel()
	train := write(t, "train.conll", strings.Repeat("Anna\tB-PER\nsleeps\tO\n\nin\tO\nRome\tB-LOC\n.\tO\n\n", 8))
	folder, cache, answers := encodedtest.Folder(t, "mpnet"), t.TempDir(), map[string]string{}
	for _, precision := range []string{"float32", "int8"} {
		run := filepath.Join(t.TempDir(), "run")
		flags := []string{"--columns", "word=0,label=1", "--encoder-cache", cache, "--encoder-precision", precision, "--out", run}
		dsp(t, with(withEncoder(train, folder), flags...)...).ok()
		if info := dsp(t, "info", run).ok().stdout; !strings.Contains(info, "products in "+precision) {
			t.Errorf("info does not name the precision %s:\n%s", precision, info)
		}
		graph := dsp(t, "export", "--model", run, "--onnx", filepath.Join(t.TempDir(), "graph.onnx"))
		if precision == "int8" {
			graph.refused(exitBadInput, "--encoder-precision int8")
		} else {
			graph.ok()
		}
		scored := func(threads string) string {
			args := []string{"predict", "--model", run, "--pretokenised", "--confidence", "--json", "--threads", threads}
			return dspWith(t, "Anna sleeps . in Rome\n", args...).ok().stdout
		}
		if answers[precision] = scored("1"); scored("3") != answers[precision] {
			t.Errorf("%s: answers depend on threads", precision)
		}
	}
	if answers["int8"] == answers["float32"] {
		t.Error("a model that was trained with int8 does not predict with it")
	}
	if files, err := os.ReadDir(cache); err != nil || len(files) != 2 {
		t.Errorf("both precisions share rows: %v, %v", files, err)
	}
}

// Models read raw text, and servers answer as predict does; their limit is on pieces.
func TestEncoderOfRawText(t *testing.T) {
	t.Parallel()
	train := write(t, "train.conll", strings.Repeat("Anna\tB-PER\nsleeps\tO\n\nin\tO\nRome\tB-LOC\n.\tO\n\n", 8))
	run := filepath.Join(t.TempDir(), "run")
	dsp(t, with(withEncoder(train, encodedtest.Folder(t, "mpnet")), "--columns", "word=0,label=1", "--pieces", "mean", "--encoder-rows", "float16", "--out", run)...).ok()
	text := "Anna sleeps. Anna in Rome."
	plain := dspWith(t, text, "predict", "--model", run, "--text").ok().stdout
	if !strings.HasPrefix(plain, "Anna\tB-PER\nsleeps\tO\n.\tO\n\nAnna\tB-PER\n") {
		t.Errorf("raw text:\n%s", plain)
	}
	if lines := dspWith(t, "Anna sleeps.\nAnna in Rome.\n", "predict", "--model", run, "--text", "--lines").ok().stdout; lines != plain {
		t.Errorf("lines:\n%s", lines)
	}
	s := serve(t, "--model", run, "--max-positions", "40")
	for body, label := range map[string]string{`{"words":["Anna","sleeps"]}`: "B-PER", `{"words":["in","Rome","."]}`: "B-LOC", `{"text":"Anna sleeps."}`: "B-PER"} {
		if code, answer := s.post("predict", body); code != 200 || strings.Count(answer, label) != 1 {
			t.Errorf("%s: %d %s", body, code, answer)
		}
	}
	s.refuses(400, "predict", `{"words":["`+strings.Repeat("a", 20)+`","`+strings.Repeat("b", 21)+`"]}`, "41 pieces", "40")
}

// With --encoder-by-reference a model needs the folder, and no other; the folder may move with the model.
func TestEncoderByReference(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	folder := filepath.Join(home, "tiny")
	if err := os.Rename(encodedtest.Folder(t, "bert"), folder); err != nil {
		t.Fatal(err)
	}
	text := drawnText(t)
	dev, run := filepath.Join(text, "dev.conll"), filepath.Join(home, "run")
	dsp(t, with(withEncoder(filepath.Join(text, "train.conll"), folder), "--encoder-by-reference", "--out", run)...).ok()
	if header, _ := modelIn(t, run); header["encoder_tokenizer"] != nil {
		t.Error("the model holds the tokenizer")
	}
	got := dsp(t, "predict", "--model", run, "--input", dev).ok().stdout
	if err := os.Rename(folder, filepath.Join(run, "tiny")); err != nil {
		t.Fatal(err)
	}
	if again := dsp(t, "predict", "--model", run, "--input", dev).ok().stdout; again != got {
		t.Error("a folder that moved with the model gives other labels")
	}
	if err := os.Rename(filepath.Join(run, "tiny"), filepath.Join(home, "away")); err != nil {
		t.Fatal(err)
	}
	dsp(t, "predict", "--model", run, "--input", dev).refused(exitBadInput, folder, "not there", "--encoder-by-reference")
	if err := os.Rename(encodedtest.Folder(t, "electra"), folder); err != nil {
		t.Fatal(err)
	}
	dsp(t, "eval", "--model", run, "--data", dev).refused(exitBadInput, folder, "not the one that the model was trained with")
}

// A sweep computes the rows of each setting of the encoder once.
func TestSweepWithEncoder(t *testing.T) {
	t.Parallel()
	text, out := drawnText(t), filepath.Join(t.TempDir(), "sweep")
	args := withEncoder(filepath.Join(text, "train.conll"), encodedtest.Folder(t, "distilbert"))
	args[0] = "sweep"
	dsp(t, with(args, "--passes", "1", "--dev", filepath.Join(text, "dev.conll"), "--grid", "reg=0.1,1", "--grid", "encoder-layers=last,1", "--out", out)...).ok()
	dsp(t, "predict", "--model", filepath.Join(out, "best"), "--input", filepath.Join(text, "test.conll")).ok()
	rows, err := filepath.Glob(filepath.Join(filepath.Dir(out), "rows", "*"))
	if inside, _ := filepath.Glob(filepath.Join(out, "rows", "*")); err != nil || len(rows)+len(inside) != 4 { // two sets, two layers
		t.Errorf("files of rows: %v %v %v", rows, inside, err)
	}
}

// Trees of linear and deep parsers, and networks of tags, read rows.
func TestEncoderUnderOtherModels(t *testing.T) {
	t.Parallel()
	trees, text, folder := drawnTrees(t), drawnText(t), encodedtest.Folder(t, "roberta")
	for _, c := range []struct {
		name, data string
		flags      []string
	}{
		{"linear trees", filepath.Join(trees, "test.conllu"), []string{"--task", "parse", "--net", "linear", "--method", "svrg"}},
		{"deep trees", filepath.Join(trees, "test.conllu"), []string{"--task", "parse", "--net", "biaffine"}},
		{"rows alone", filepath.Join(text, "dev.conll"), []string{"--task", "tag", "--columns", "word=0,pos=1,label=-1", "--net", "linear", "--features", "none", "--loss", "crf"}},
		{"rnn", filepath.Join(text, "dev.conll"), []string{"--task", "tag", "--columns", "word=0,pos=1,label=-1", "--net", "rnn", "--recurrent", "4"}},
		{"deep", filepath.Join(text, "dev.conll"), []string{"--task", "tag", "--columns", "word=0,pos=1,label=-1", "--net", "deep", "--recurrent", "4"}},
		{"stack", filepath.Join(text, "dev.conll"), []string{"--task", "tag", "--columns", "word=0,pos=1,label=-1", "--net", "stack", "--stack", "- features\n- dense: {units: 4, activation: tanh}"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			out := filepath.Join(t.TempDir(), "run")
			dsp(t, with(append([]string{"train", "--train", c.data, "--passes", "1", "--quiet", "--encoder", folder, "--encoder-layers", "mean2", "--encoder-cache", "none", "--out", out}, c.flags...))...).ok()
			dsp(t, "eval", "--model", out, "--data", c.data).ok()
			dsp(t, "predict", "--model", out, "--input", c.data).ok()
		})
	}
}

// changeWeights changes the header and the data of a file.
func changeWeights(t *testing.T, path string, change func(header map[string]any, data []byte) []byte) {
	t.Helper()
	content, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	n := endian.LittleEndian.Uint64(content)
	var header map[string]any
	if err := json.Unmarshal(content[8:8+n], &header); err != nil {
		t.Fatal(err)
	}
	data := change(header, content[8+n:])
	text, err := json.Marshal(header)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, append(append(endian.LittleEndian.AppendUint64(nil, uint64(len(text))), text...), data...), 0o666); err != nil {
		t.Fatal(err)
	}
}

// Folders that are no encoders, and text that none can read, are refused by a sentence, and nothing is left behind.
func TestBadEncoders(t *testing.T) {
	t.Parallel()
	text := write(t, "train.conll", sentences)
	edit := func(file string, change func(text []byte) []byte) func(t *testing.T, folder string) {
		return func(t *testing.T, folder string) {
			path := filepath.Join(folder, file)
			content, err := os.ReadFile(path)
			if err == nil {
				err = os.WriteFile(path, change(content), 0o666)
			}
			if err != nil {
				t.Fatal(err)
			}
		}
	}
	remove := func(file string) func(t *testing.T, folder string) {
		return func(t *testing.T, folder string) {
			if err := os.Remove(filepath.Join(folder, file)); err != nil {
				t.Fatal(err)
			}
		}
	}
	for _, c := range []struct {
		name     string
		spoil    func(t *testing.T, folder string)
		messages []string
	}{
		{"no folder", func(t *testing.T, folder string) {
			if err := os.RemoveAll(folder); err != nil {
				t.Fatal(err)
			}
		}, []string{"no such folder"}},
		{"no config", remove("config.json"), []string{"config.json"}},
		{"no tokenizer", remove("tokenizer.json"), []string{"no tokenizer.json"}},
		{"no weights", remove("model.safetensors"), []string{"model.safetensors"}},
		{"a .bin alone", func(t *testing.T, folder string) {
			if err := os.Rename(filepath.Join(folder, "model.safetensors"), filepath.Join(folder, "pytorch_model.bin")); err != nil {
				t.Fatal(err)
			}
		}, []string{"pytorch_model.bin", "safetensors"}},
		{"another vocabulary", func(t *testing.T, folder string) {
			if err := os.WriteFile(filepath.Join(folder, "tokenizer.json"), encodedtest.Tokenizer(60), 0o666); err != nil {
				t.Fatal(err)
			}
		}, []string{"60", "40", "tokenizer"}},
		{"an unknown family", edit("config.json", func(text []byte) []byte { return bytes.Replace(text, []byte(`"bert"`), []byte(`"gpt9"`), 1) }), []string{"gpt9", "bert", "deberta-v2"}},
		{"no JSON", edit("config.json", func([]byte) []byte { return []byte("{") }), []string{"config.json"}},
		{"weights cut short", edit("model.safetensors", func(text []byte) []byte { return text[:len(text)/2] }), []string{"model.safetensors"}},
		{"tokenizer cut short", edit("tokenizer.json", func(text []byte) []byte { return text[:len(text)/2] }), []string{"tokenizer.json", "ends in the middle"}},
		{"NaN", func(t *testing.T, folder string) {
			changeWeights(t, filepath.Join(folder, "model.safetensors"), func(header map[string]any, data []byte) []byte {
				for _, x := range header {
					if a, _ := x.(map[string]any); a["dtype"] == "F16" {
						copy(data[int(a["data_offsets"].([]any)[0].(float64)):], "\x00\x7e")
					} else if a["dtype"] == "F32" {
						endian.LittleEndian.PutUint32(data[int(a["data_offsets"].([]any)[0].(float64)):], math.Float32bits(float32(math.NaN())))
					}
				}
				return data
			})
		}, []string{"NaN"}},
		{"a missing tensor", func(t *testing.T, folder string) {
			changeWeights(t, filepath.Join(folder, "model.safetensors"), func(header map[string]any, data []byte) []byte {
				for name, x := range header {
					if strings.HasSuffix(name, "attention.self.query.bias") {
						delete(header, name)
						header["other"] = x
						break
					}
				}
				return data
			})
		}, []string{"attention.self.query.bias"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			folder, out := encodedtest.Folder(t, "bert"), filepath.Join(t.TempDir(), "run")
			c.spoil(t, folder)
			dsp(t, with(withEncoder(text, folder), "--columns", "word=0,label=1", "--out", out)...).refused(exitBadInput, c.messages...)
			if left, err := os.ReadDir(filepath.Dir(out)); err != nil || len(left) > 0 {
				t.Errorf("left behind: %v %v", left, err)
			}
		})
	}
	for _, c := range []struct {
		flags    []string
		messages []string
	}{
		{[]string{"--train", text, "--encoder-layers", "last"}, []string{"--encoder-layers has no effect without --encoder"}},
		{[]string{"--train", text, "--encoder-by-reference"}, []string{"--encoder-by-reference has no effect without --encoder"}},
		{[]string{"--train", text, "--encoder", encodedtest.Folder(t, "bert"), "--encoder-layers", "mean9"}, []string{`"mean9"`, "mean3"}},
		{[]string{"--train", write(t, "x.crfsuite", "O\ta=b\nX\ta=c\n"), "--encoder", encodedtest.Folder(t, "bert")}, []string{"--encoder", "crfsuite"}},
		{[]string{"--task", "parse", "--encoder", encodedtest.Folder(t, "bert")}, []string{"--encoder"}},
		{[]string{"--train", text, "--columns", "form=0,label=1", "--features", "none", "--encoder", encodedtest.Folder(t, "bert"), "--encoder-layers", "last"}, []string{"word", "--columns"}},
	} {
		o, out := begin(t, c.flags...)
		o.refused(exitBadInput, c.messages...)
		if _, err := os.Stat(out); err == nil {
			t.Errorf("%v: a folder is left", c.flags)
		}
	}
}

// Long words, words of nothing that an encoder knows, and sentences longer than it reads are no obstacles.
func TestStrangeTextWithEncoder(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("abcde", 2000)
	var b strings.Builder
	for i := range 3000 {
		fmt.Fprintf(&b, "w%d\tO\n", i)
	}
	train := write(t, "train.conll", sentences+"\n"+long+"\tO\n\n\u200b\tO\n☃\tB-X\n\n"+b.String())
	out := filepath.Join(t.TempDir(), "run")
	dsp(t, with(withEncoder(train, encodedtest.Folder(t, "bert")), "--columns", "word=0,label=1", "--passes", "1", "--out", out)...).ok()
	got := dspWith(t, long+"\n\u200b\n\nred\n", "predict", "--model", out).ok().stdout
	if strings.Count(got, "\n") != 4 {
		t.Errorf("%q", got)
	}
}

// Aligners read the rows of both sentences, beside attributes of pairs and in bilinear forms, and are whole without the
// folder.
func TestEncoderUnderLinks(t *testing.T) {
	t.Parallel()
	folder, text := encodedtest.Folder(t, "bert"), drawnPairs(t)
	test := filepath.Join(text, "test.pairs")
	args := []string{"train", "--task", "align", "--train", filepath.Join(text, "dev.pairs"), "--encoder", folder, "--encoder-layers", "last", "--quiet"}
	dsp(t, with(args, "--tune-encoder")...).refused(exitBadInput, "--tune-encoder does not go with --task align")
	var runs []string
	for _, net := range []string{"linear", "bilinear"} {
		run := filepath.Join(t.TempDir(), net)
		dsp(t, with(args, "--net", net, "--passes", "3", "--out", run)...).ok()
		runs = append(runs, run)
	}
	if err := os.RemoveAll(folder); err != nil {
		t.Fatal(err)
	}
	for _, run := range runs {
		var m linksJSON
		dsp(t, "eval", "--model", run, "--data", test, "--json").ok().json(&m)
		if m.F1 == 0 || m.Pairs != 40 {
			t.Errorf("%s: got %+v", run, m)
		}
		lines := dsp(t, "predict", "--model", run, "--input", test).ok().stdout
		if got := strings.Count(lines, "\n"); got != 40 {
			t.Errorf("%s: links of %d pairs", run, got)
		}
		if info := dsp(t, "info", run).ok().stdout; !strings.Contains(info, "encoder     bert") {
			t.Errorf("%s: info printed\n%s", run, info)
		}
	}
	if info := dsp(t, "info", runs[0]).ok().stdout; !strings.Contains(info, "pair_of_target") {
		t.Errorf("no weights of rows in\n%s", info)
	}
}
