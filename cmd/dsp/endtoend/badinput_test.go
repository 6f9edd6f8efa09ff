package endtoend

import (
	"bytes"
	"compress/gzip"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/sbinet/npyio/npz"
)

// begin runs train on files with small settings. Its output goes to a folder that a refused run must not leave behind.
func begin(t *testing.T, flags ...string) (o outcome, out string) {
	t.Helper()
	out = filepath.Join(t.TempDir(), "out")
	return dsp(t, with([]string{"train", "--passes", "2", "--quiet", "--out", out}, flags...)...), out
}

// A training run that cannot start says why, exits with code 2 and leaves no folder.
func TestBadTrainingInput(t *testing.T) {
	t.Parallel()
	text := write(t, "train.conll", sentences)
	file := write(t, "file", "")
	for _, c := range []struct {
		name     string
		flags    []string
		messages []string
	}{
		{"unknown flag", []string{"--pases", "3"}, []string{"no flag --pases", "--passes"}},
		{"unknown value", []string{"--net", "cmn"}, []string{"cmn", "cnn"}},
		{"not a number", []string{"--lr", "fast"}, []string{"--lr fast", "a number"}},
		{"not finite", []string{"--mu", "nan"}, []string{"--mu", "finite"}},
		{"a negative regulariser", []string{"--reg", "-1"}, []string{"--reg", "at least 0, or auto"}},
		{"below its least", []string{"--batch", "-1"}, []string{"--batch -1", "at least 0"}},
		{"an argument", []string{"train.conll"}, []string{"flags only"}},
		{"no such file", []string{"--task", "tag", "--train", "nowhere.conll"}, []string{"dsp: nowhere.conll: no such file or folder"}},
		{"a folder", []string{"--task", "tag", "--train", t.TempDir()}, []string{"folder"}},
		{"empty", []string{"--task", "tag", "--train", write(t, "e.conll", "")}, []string{"e.conll", "no tokens"}},
		{"only blank lines", []string{"--task", "tag", "--train", write(t, "b.conll", "\n\n \n")}, []string{"b.conll", "no tokens"}},
		{"columns", []string{"--task", "tag", "--train", write(t, "c.conll", "a\tX\tO\nb\tO\n")}, []string{"c.conll:2", "2 columns", "3"}},
		{"one label", []string{"--task", "tag", "--train", write(t, "o.conll", "a\tO\nb\tO\n")}, []string{"o.conll", "1 label"}},
		{"label only in dev", []string{"--task", "tag", "--train", text, "--dev", write(t, "d.conll", "a\tQ\n")}, []string{"d.conll:1", `"Q"`}},
		{"column twice", []string{"--task", "tag", "--train", text, "--columns", "word=0,label=0"}, []string{"--columns"}},
		{"not CoNLL-U", []string{"--train", write(t, "x.conllu", "1\ta\tb\n")}, []string{"x.conllu:1", "3 columns", "10"}},
		{"which label", []string{"--train", write(t, "x.conllu", sampleTreebank), "--label", "pos"}, []string{"--label", "pos", "upos"}},
		{"label of columns", []string{"--train", text, "--label", "upos"}, []string{"--label upos", "--format conllu"}},
		{"attribute value", []string{"--train", write(t, "x.crfsuite", "O\ta:b\n")}, []string{"x.crfsuite:1", `"a:b"`}},
		{"attributes and a set", []string{"--train", write(t, "x.crfsuite", "O\ta=b\nX\ta=c\n"), "--features", "ner"}, []string{"--features ner", "--format crfsuite", "it is for --format conll, conllu"}},
		{"which features", []string{"--train", text, "--features", "nre"}, []string{"nre", "ner"}},
		{"features for embeddings", []string{"--train", text, "--features", "ner", "--net", "embed"}, []string{"--features ner", "--net linear"}},
		{"an encoder's name", []string{"--train", text, "--encoder", "nobody/all-MiniLM"}, []string{"nobody/all-MiniLM: no such folder", "dsp downloads none"}},
		{"an encoder that is a file", []string{"--train", text, "--encoder", text}, []string{"train.conll", "no config.json", "an encoder is a folder"}},
		{"no template", []string{"--train", text, "--template", "nowhere.template"}, []string{"--template", "nowhere.template"}},
		{"template", []string{"--train", text, "--template", write(t, "x.template", "Uw=%x[0,word]\nUp=%x[0,pos]\n")}, []string{"x.template:2", "pos", "word", "--columns"}},
		{"misspelt column", []string{"--train", text, "--columns", "wrd=0,label=1"}, []string{"built-in", "column word", "0 wrd", "--columns says which column it is"}},
		{"hash and count", []string{"--train", text, "--hash-bits", "9", "--min-count", "2"}, []string{"minimum of 2"}},
		{"scheme without tags", []string{"--train", write(t, "p.conll", "a DT\nb NN\n"), "--scheme", "iob2"}, []string{"p.conll", "iob2", "DT, NN"}},
		{"constraints broken", []string{"--train", write(t, "i.conll", "a O\nb I-X\n"), "--constraints", "iob2"}, []string{"i.conll:2", "I-X after O", "--scheme iob2"}},
		{"gap", []string{"--gap", "soon"}, []string{"--gap", "soon", "auto"}},
		{"binary", []string{"--task", "tag", "--train", write(t, "x", "\x00\x01\x02")}, []string{"x"}},
		{"letters cut short", []string{"--train", write(t, "letter.data", "1\ta\t2\t1\t1\t0\t0\t1\n")}, []string{"letter.data:1"}},
		{"not npz", []string{"--train", write(t, "f.npz", "PK\x03\x04nonsense")}, []string{"f.npz"}},
		{"convex method", []string{"--examples", "20,5,5", "--method", "bcfw"}, []string{"bcfw", "linear", "--method prox-linear"}},
		{"embedding of images", []string{"--examples", "20,5,5", "--net", "embed"}, []string{"embed"}},
		{"tagging nothing", []string{"--task", "tag"}, []string{"--train"}},
		{"a file as folder", []string{"--examples", "20,5,5", "--out", filepath.Join(file, "run")}, []string{"--out"}},
		{"no GPU", []string{"--device", "cuda"}, []string{"cuda"}},
		{"no run", []string{"--resume", t.TempDir()}, []string{"--resume", "config.yaml"}},
		{"no configuration", []string{"--config", "nowhere.yaml"}, []string{"nowhere.yaml"}},
		{"misspelt key", []string{"--config", write(t, "c.yaml", "net: mlp\npases: 3\n")}, []string{"c.yaml:2", `"pases"`, `"passes"`}},
		{"key twice", []string{"--config", write(t, "c.yaml", "seed: 1\nseed: 3\n")}, []string{"c.yaml", "c.yaml:2", "seed"}},
		{"wrong kind", []string{"--config", write(t, "c.yaml", "passes: many\n")}, []string{"c.yaml:1", "whole number"}},
		{"not YAML", []string{"--config", write(t, "c.yaml", "{{{")}, []string{"c.yaml"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			o, out := begin(t, c.flags...)
			o.refused(exitBadInput, c.messages...)
			if _, err := os.Stat(out); err == nil {
				t.Error("the folder for the run was left behind")
			}
		})
	}
}

// A folder without data is named as it was given, whatever the flag is called.
func TestEmptyFolder(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	for _, args := range [][]string{{"predict", "--input"}, {"eval", "--data"}, {"calibrate", "--dev"}} {
		o := dsp(t, args[0], "--model", tagger(t), args[1], folder)
		o.refused(exitBadInput, folder+": no files in this folder")
		if strings.Contains(o.stderr, "--data") && args[1] != "--data" {
			t.Errorf("dsp %s: another verb's flag in %s", args[0], o.stderr)
		}
	}
}

// What is no text is named as such, and so is text of another encoding; a count of columns would puzzle.
func TestNotText(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ name, text, message string }{
		{"z.conll", "PK\x03\x04\x14\x00a b\n", "z.conll: binary data, expected text"},
		{"u.conll", "\xff\xfea\x00\t\x00O\x00\n\x00", "u.conll: UTF-16, expected UTF-8; convert it first, for instance with iconv -f utf-16 -t utf-8"},
		{"b.crfsuite", "\xfe\xff\x00O\x00\t\x00a\x00\n", "b.crfsuite: UTF-16, expected UTF-8"},
		{"p.conll", "\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR", "p.conll: a PNG image, expected text"},
		{"p.conllu", "\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR", "p.conllu: a PNG image, expected text"},
		{"p.pairs", "%PDF-1.7\n%", "p.pairs: a PDF document, expected text"},
		{"j", "\xff\xd8\xff\xe1x\n", "j: a JPEG image, expected text"},
		{"c.conll.bz2", "BZh91AY&SY\x00\n", "c.conll.bz2: compressed with bzip2, which dsp does not read; expected a plain file, or one compressed with gzip or xz"},
		{"c.conll.zst", "\x28\xb5\x2f\xfd\x00\n(a (b c))", "c.conll.zst: compressed with zstd"},
	} {
		o, _ := begin(t, "--train", write(t, c.name, c.text))
		o.refused(exitBadInput, c.message)
	}
	dsp(t, "predict", "--model", tagger(t), "--input", write(t, "x.npz", "PK\x03\x04\x14\x00a b\n")).refused(exitBadInput, "x.npz: binary data, expected text")
}

// Words in another encoding are learned as they are, and a warning says where the first one is.
func TestLatin1(t *testing.T) {
	t.Parallel()
	latin := write(t, "l.conll", strings.Repeat("the\tO\nM\xfcller\tB-X\n\n", 5))
	o, _ := begin(t, "--train", latin, "--test", write(t, "u.conll", "M\u00fcller\tB-X\n"))
	o.ok()
	if !strings.Contains(o.stderr, "not UTF-8") || !strings.Contains(o.stderr, "times=5 first="+latin+":2") || strings.Contains(o.stderr, "u.conll times") {
		t.Errorf("no word about the encoding, or a wrong one:\n%s", o.stderr)
	}
	pack := filepath.Join(t.TempDir(), "l.pack")
	for _, args := range [][]string{
		{"data", "pack", "--train", latin, "--out", pack},                   // in pieces
		{"data", "pack", "--train", latin, "--net", "embed", "--out", pack}, // as a whole
		{"sweep", "--train", latin, "--dev", latin, "--grid", "reg=1,10", "--passes", "1", "--out", filepath.Join(t.TempDir(), "dev")},
		{"sweep", "--train", latin, "--folds", "2", "--grid", "reg=1,10", "--passes", "1", "--out", filepath.Join(t.TempDir(), "folds")},
	} {
		o := dsp(t, append(args, "--quiet")...).ok()
		if n := strings.Count(o.stderr, "not UTF-8"); n < 1 || n > 2 || !strings.Contains(o.stderr, "times=5 first="+latin+":2") {
			t.Errorf("dsp %s: no word about the encoding, or a wrong one:\n%s", strings.Join(args, " "), o.stderr)
		}
	}
}

// Compressed data that end too early are said to, once, in words of the file.
func TestCutShort(t *testing.T) {
	t.Parallel()
	var packed bytes.Buffer
	z := gzip.NewWriter(&packed)
	if _, err := z.Write([]byte(sentences)); err != nil || z.Close() != nil {
		t.Fatal(err)
	}
	cut := write(t, "cut.conll.gz", packed.String()[:packed.Len()-12])
	for _, args := range [][]string{{"predict", "--input", cut}, {"eval", "--data", cut}} {
		o := dsp(t, append(args, "--model", tagger(t))...)
		for _, want := range []string{"cut.conll.gz: after line ", "the file ends in the middle of gzip data, expected a whole gzip file"} {
			if o.code != exitBadInput || !strings.Contains(o.stderr, want) { // predict may have answered what came before
				t.Errorf("dsp %s: exit code %d, %s, expected %q", args[0], o.code, o.stderr, want)
			}
		}
		if strings.Contains(o.stderr, "EOF") || strings.Count(o.stderr, "\n") != 1 {
			t.Errorf("dsp %s: %s, expected one line", args[0], o.stderr)
		}
	}
}

// A format without data is not drawn data in its place.
func TestFormatWithoutData(t *testing.T) {
	t.Parallel()
	for format, task := range map[string]string{"coco": "localise", "conllu": "parse", "images": "segment"} {
		o, _ := begin(t, "--task", task, "--format", format)
		o.refused(exitBadInput, "--format "+format+" needs training data: give --train FILE")
	}
}

// A column that a model's template reads and the data lack is named, and so is the template, which is in no file, and
// what may make the column.
func TestMissingColumn(t *testing.T) {
	t.Parallel()
	o, run := begin(t, "--train", write(t, "t.conll", "the\tDT\tO\nox\tNN\tB-X\n"), "--columns", "word=0,pos=1,label=2")
	o.ok()
	dsp(t, "predict", "--model", run, "--columns", "word=0", "--input", write(t, "n.conll", "ox\n")).refused(exitBadInput,
		"the model's template:", "column pos, but ", "n.conll has columns 0 word besides the label; --columns says which column it is; --tagger MODEL predicts it from the words (pos)")
	words := write(t, "n.conll", "ox\n")
	dsp(t, "predict", "--model", run, "--input", words).refused(exitBadInput,
		"n.conll:1: 1 column, expected 3", "; if there are words alone, give --columns word=0 and --tagger MODEL, which predicts pos")
	dsp(t, "predict", "--model", run, "--tagger", tagger(t), "--input", words).refused(exitBadInput, "; if there are words alone, give --columns word=0\n")
	dsp(t, "predict", "--model", run, "--tagger", tagger(t), "--columns", "word=0", "--input", words).ok()
	o, network := begin(t, "--train", write(t, "t.conll", "the\tDT\tO\nox\tNN\tB-X\n"), "--columns", "word=0,pos=1,label=2", "--net", "embed")
	o.ok()
	dsp(t, "predict", "--model", network, "--columns", "word=0", "--input", words).refused(exitBadInput, "; --tagger MODEL predicts it from the words (pos)")
}

// A run continues in its folder: a file in its place, and another folder for what follows, are refused.
func TestResumeElsewhere(t *testing.T) {
	t.Parallel()
	run, other := reader(t), filepath.Join(t.TempDir(), "other")
	dsp(t, "train", "--resume", filepath.Join(run, "model.safetensors")).refused(exitBadInput, "model.safetensors: no config.yaml there; expected the folder of a run")
	dsp(t, "train", "--resume", run, "--out", other).refused(exitBadInput, "--out "+other+" has no effect with --resume "+run)
	if _, err := os.Stat(other); err == nil {
		t.Error("the other folder was made")
	}
	link := filepath.Join(t.TempDir(), "link")
	if err := os.Symlink(run, link); err != nil {
		t.Fatal(err)
	}
	dsp(t, "train", "--resume", run, "--out", link, "--quiet").ok() // another name of the same folder
}

// A model that reads other things than the data hold cannot be continued on them, and the message says so before any
// other.
func TestInitOfAnotherTask(t *testing.T) {
	t.Parallel()
	text := write(t, "new.conll", sentences)
	for _, task := range []string{"", "tag"} {
		args := []string{"--train", text, "--init", reader(t)}
		if task != "" {
			args = append(args, "--task", task)
		}
		o, _ := begin(t, args...)
		o.refused(exitBadInput, "new.conll: --format conll is not read by --task ocr, which the model of --init "+reader(t)+" has")
	}
}

// A network that cannot read the attributes of a linear model does not start from it, and the message speaks of the
// model.
func TestInitOfLinearModel(t *testing.T) {
	t.Parallel()
	text := write(t, "new.conll", sentences)
	o, run := begin(t, "--train", text)
	o.ok()
	for _, setting := range []string{"--init", "--prior"} {
		for _, net := range []string{"rnn", "embed", "cnn"} {
			o, _ := begin(t, "--train", text, setting, run, "--net", net)
			o.refused(exitBadInput, "--net "+net+": the model of "+setting+" "+run+" has net linear, whose weights are those of attributes", "use --net linear or deep, or leave out "+setting)
		}
	}
	o, _ = begin(t, "--train", text, "--init", run, "--net", "deep")
	o.ok()
}

// A run that is refused late, after the other checks passed, leaves the earlier run in the folder untouched.
func TestResumeAsAnotherRun(t *testing.T) {
	t.Parallel()
	before := modelOf(t, reader(t))
	dsp(t, "train", "--resume", reader(t), "--seed", "9").refused(exitBadInput, "--seed 1", "not 9")
	if !bytes.Equal(before, modelOf(t, reader(t))) {
		t.Error("the model changed")
	}
}

func TestBadModel(t *testing.T) {
	t.Parallel()
	whole := modelOf(t, reader(t))
	broken := func(name string, content []byte) string { return write(t, name+".safetensors", string(content)) }
	for _, c := range []struct{ name, model, message string }{
		{"missing", "nowhere.safetensors", "nowhere.safetensors: no such file or folder; expected a model file or the folder of a run"},
		{"no run", t.TempDir(), "model.safetensors"},
		{"empty", broken("empty", nil), "empty.safetensors"},
		{"cut in the header", broken("head", whole[:100]), "head.safetensors"},
		{"cut in the weights", broken("tail", whole[:len(whole)-100]), "tail.safetensors"},
		{"longer", broken("long", append(bytes.Clone(whole), 0)), "long.safetensors"},
		{"text", broken("text", []byte(sentences)), `text.safetensors: not a safetensors file: it begins with "the\tO\nre", expected the length of a header`},
		{"another version", broken("other", bytes.Replace(whole, []byte("dsp model 1"), []byte("dsp model 9"), 1)), `"dsp model 9"`},
	} {
		t.Run(c.name, func(t *testing.T) {
			dsp(t, "eval", "--model", c.model, "--data", "builtin").refused(exitBadInput, c.message)
		})
	}
	dsp(t, "eval", "--data", "builtin").refused(exitBadInput, "--model")
}

func TestBadUse(t *testing.T) {
	t.Parallel()
	text := write(t, "new.conll", sentences)
	for _, c := range []struct {
		name     string
		args     []string
		messages []string
	}{
		{"no known label", []string{"eval", "--data", write(t, "l.conll", "the\tQ\nred\tB-Y\n")}, []string{"l.conll:1", `"Q"`}},
		{"columns", []string{"eval", "--data", write(t, "w.conll", "the\tDT\tO\n")}, []string{"w.conll:1", "3 columns"}},
		{"no labels", []string{"eval", "--data", write(t, "n.conll", "the\nred\n")}, []string{"n.conll:1", "1 column"}},
		{"no data", []string{"eval"}, []string{"--data"}},
		{"empty", []string{"predict", "--input", write(t, "e.conll", "")}, []string{"e.conll"}},
		{"nothing to label", []string{"predict", "--input", write(t, "e.conll", "\n\n")}, []string{"e.conll", "no tokens"}},
		{"no file to label", []string{"predict", "--input", "nowhere.conll"}, []string{"nowhere.conll"}},
		{"weights of an embedding", []string{"import", "--weights", text, "--out", "x"}, []string{"net is embed"}},
		{"no weights", []string{"import", "--out", "x"}, []string{"--weights"}},
		{"images", []string{"eval", "--data", "builtin"}, []string{"features"}},
		{"format", []string{"eval", "--data", text, "--format", "cornll"}, []string{"cornll", "conll"}},
		{"n-best", []string{"predict", "--input", text, "--nbest", "-1"}, []string{"--nbest -1"}},
		{"too many best", []string{"predict", "--input", text, "--nbest", "1000000000"}, []string{"--nbest 1000000000: expected 0 to 100000"}},
		{"no folder", []string{"predict", "--input", text, "--to", "nowhere/p.npz"}, []string{"--to nowhere/p.npz: there is no folder nowhere"}},
		{"no folder for pictures", []string{"predict", "--input", text, "--picture", "nowhere/p.png"}, []string{"--picture nowhere/p.png: there is no folder nowhere"}},
		{"truncate", []string{"predict", "--input", text, "--truncate", "--select", "1"}, []string{"--truncate is for cuts"}},
		{"threads", []string{"predict", "--input", text, "--threads", "-1"}, []string{"--threads -1"}},
		{"where to", []string{"export", "--data", text}, []string{"--to"}},
		{"what", []string{"export", "--to", "x.npz"}, []string{"--data"}},
		{"kind of file", []string{"export", "--data", text, "--to", filepath.Join(t.TempDir(), "x.csv")}, []string{"x.csv", ".npz"}},
		{"both", []string{"export", "--data", text, "--weights", "--to", "x.npz"}, []string{"--weights"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			dsp(t, with(c.args, "--model", tagger(t))...).refused(exitBadInput, c.messages...)
		})
	}
	nowhere := filepath.Join(t.TempDir(), "missing", "p.npz")
	dsp(t, "export", "--model", tagger(t), "--data", text, "--to", nowhere).refused(exitBadInput, "there is no folder")
	dsp(t, "export", "--model", tagger(t), "--onnx", nowhere).refused(exitBadInput, "--onnx", "there is no folder")
	dsp(t, "report", tagger(t), "--out", nowhere).refused(exitBadInput, "--out", "there is no folder")
	dsp(t, "data", "pack", "--train", text, "--out", nowhere).refused(exitBadInput, "--out", "there is no folder")
	dsp(t, "data", "attributes", "--model", tagger(t), "--input", text, "--to", filepath.Join(t.TempDir(), "missing", "a")).refused(exitBadInput, "--to", "there is no folder")
}

// A model of attributes of another program goes on with such attributes alone.
func TestInitOfAttributesWithColumns(t *testing.T) {
	t.Parallel()
	model := filepath.Join(t.TempDir(), "run")
	dsp(t, "train", "--train", write(t, "old.crfsuite", items()), "--passes", "2", "--quiet", "--out", model).ok()
	o, out := begin(t, "--train", write(t, "new.conll", sentences), "--init", model)
	o.refused(exitBadInput, "new.conll: --format conll has columns, and the model of --init "+model+" reads attributes that another program made (--format crfsuite)")
	if _, err := os.Stat(out); err == nil {
		t.Error("a run was begun")
	}
	if o, _ = begin(t, "--train", write(t, "new.crfsuite", items()), "--init", model); o.code != 0 {
		t.Error(o.stderr)
	}
}

// A file to write that is an input is refused, and stays as it is.
func TestOutputIsInput(t *testing.T) {
	t.Parallel()
	text := write(t, "new.conll", sentences)
	weights, err := os.ReadFile(filepath.Join(tagger(t), "model.safetensors"))
	if err != nil {
		t.Fatal(err)
	}
	dir := filepath.Dir(write(t, "model.safetensors", string(weights)))
	model := filepath.Join(dir, "model.safetensors")
	link := filepath.Join(t.TempDir(), "link")
	if err := os.Symlink(text, link); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		args       []string
		file, flag string
	}{
		{[]string{"predict", "--model", dir, "--input", text, "--to", text}, text, "input"},
		{[]string{"predict", "--model", dir, "--input", text, "--to", link}, link, "input"},
		{[]string{"predict", "--model", dir, "--input", text, "--to", model}, model, "model"},
		{[]string{"export", "--model", model, "--weights", "--to", model}, model, "model"},
		{[]string{"export", "--model", model, "--data", text, "--to", text}, text, "data"},
	} {
		was, err := os.ReadFile(c.file)
		if err != nil {
			t.Fatal(err)
		}
		dsp(t, c.args...).refused(exitBadInput, "--to "+c.file+": this is what --"+c.flag+" reads; expected another file")
		if now, err := os.ReadFile(c.file); err != nil || !bytes.Equal(now, was) {
			t.Errorf("%q: the file was changed: %v", c.args, err)
		}
	}
}

// A folder in the place of a file to write is refused before any work, and so is a file in the place of a folder.
func TestFolderForFile(t *testing.T) {
	t.Parallel()
	text, model := write(t, "new.conll", sentences), tagger(t)
	folder := func(name string) string {
		path := filepath.Join(t.TempDir(), name)
		if err := os.Mkdir(path, 0o777); err != nil {
			t.Fatal(err)
		}
		return path
	}
	for _, args := range [][]string{
		{"export", "--model", model, "--data", text, "--to", folder("p.npz")},
		{"export", "--model", model, "--onnx", folder("m.onnx")},
		{"import", "--model", model, "--weights", text, "--out", folder("m.safetensors")},
		{"eval", "--model", model, "--data", text, "--pr-curve", folder("c.png")},
		{"eval", "--model", model, "--data", text, "--calibration", folder("c.png")},
		{"eval", "--model", model, "--data", text, "--expected-counts", folder("c.tsv")},
		{"predict", "--model", model, "--input", text, "--picture", folder("p.png")},
		{"data", "attributes", "--model", model, "--input", text, "--to", folder("attributes")},
		{"data", "pack", "--train", text, "--out", folder("packs")},
	} {
		path := args[len(args)-1]
		dsp(t, args...).refused(exitBadInput, args[len(args)-2]+" "+path+": this is a folder; expected a file")
	}
	for _, what := range []string{"text", "scenes", "graphs"} {
		dsp(t, "data", what, "--out", text).refused(exitBadInput, "--out: "+text+": not a directory")
	}
	dsp(t, "data", "text", "--out", filepath.Join(text, "sentences")).refused(exitBadInput, text)
}

// dense writes dense features with Dim 2 to an npz file.
func dense(t *testing.T, name string, features []float32, lengths, labels []int64) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	w := npz.NewWriter(f)
	rows := make([][2]float32, len(features)/2)
	for i := range rows {
		rows[i] = [2]float32(features[2*i:])
	}
	for _, a := range []struct {
		name  string
		value any
	}{{"features", rows}, {"lengths", lengths}, {"labels", labels}} {
		if err := w.Write(a.name, a.value); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestDenseFeatures(t *testing.T) {
	t.Parallel()
	good := dense(t, "good.npz", []float32{1, 0, 0, 1, 1, 0, 0, 1}, []int64{3, 0, 1}, []int64{0, 1, 0, 1})
	run := filepath.Join(t.TempDir(), "run")
	dsp(t, "train", "--task", "tag", "--train", good, "--net", "linear", "--method", "sgd", "--passes", "50", "--out", run, "--quiet").ok()
	o := dsp(t, "predict", "--model", run, "--input", good, "--json").ok()
	if lines := strings.Split(strings.TrimSpace(o.stdout), "\n"); len(lines) != 3 || !strings.Contains(lines[1], `"labels":[]`) {
		t.Errorf("three sequences, the second of length 0:\n%s", o.stdout)
	}
	nan := float32(math.NaN())
	for _, c := range []struct{ path, message string }{
		{dense(t, "nan.npz", []float32{1, 0, nan, 1}, []int64{2}, []int64{0, 1}), "NaN"},
		{dense(t, "long.npz", []float32{1, 0, 0, 1}, []int64{3}, []int64{0, 1}), "lengths"},
		{dense(t, "less.npz", []float32{1, 0, 0, 1}, []int64{2}, []int64{0}), "labels"},
		{dense(t, "minus.npz", []float32{1, 0, 0, 1}, []int64{3, -1}, []int64{0, 1}), "lengths"},
		{dense(t, "none.npz", nil, []int64{}, []int64{}), "none.npz"},
	} {
		o, _ := begin(t, "--task", "tag", "--train", c.path)
		o.refused(exitBadInput, filepath.Base(c.path), c.message)
	}
}

// A sentence of several thousand words is handled like any other.
func TestLongSequence(t *testing.T) {
	t.Parallel()
	text := write(t, "long.conll", strings.Repeat("the\tO\nred\tB-X\nfox\tI-X\n", 10000))
	var m metricsJSON
	dsp(t, "eval", "--model", tagger(t), "--data", text, "--json").ok().json(&m)
	if m.Tokens != 30000 || m.F1 < 0.99 {
		t.Errorf("got %+v", m)
	}
}

// A model that says which task a run has, without data for it, is what the message is about.
func TestModelWithoutData(t *testing.T) {
	t.Parallel()
	for _, setting := range []string{"--init", "--prior", "--teacher"} {
		dsp(t, "train", setting, tagger(t), "--out", filepath.Join(t.TempDir(), "x")).refused(exitBadInput, setting+" "+tagger(t)+": its --task tag needs training data: give --train FILE")
	}
}
