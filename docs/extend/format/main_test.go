package main

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/dsp-go/dsp/cmd/dsp/cli/clitest"
	"github.com/dsp-go/dsp/models/data/formats"
	"github.com/dsp-go/dsp/models/data/text"
)

func TestMain(m *testing.M) {
	formats.Register(slash)
	os.Exit(m.Run())
}

const sentences = `the/DT dog/NN barks/VB
a/DT cat/NN sleeps/VB
the/DT cat/NN barks/VB
the/DT big/JJ dog/NN sleeps/VB
a/DT big/JJ cat/NN barks/VB
`

func write(t *testing.T, name, content string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, []byte(content), 0o666); err != nil {
		t.Fatal(err)
	}
	return path
}

// columns is the same data as text in columns.
func columns(sign string) string {
	var b strings.Builder
	for line := range strings.Lines(sentences) {
		for _, f := range strings.Fields(line) {
			b.WriteString(strings.Replace(f, "/", sign, 1) + "\n")
		}
		b.WriteString("\n")
	}
	return b.String()
}

func model(t *testing.T, args ...string) (dir string, content []byte) {
	t.Helper()
	dir = filepath.Join(t.TempDir(), "run")
	args = append([]string{"train", "--features", "pos", "--passes", "4", "--baselines", "off", "--quiet", "--out", dir}, args...)
	if code, out := clitest.Run(t, args...); code != 0 {
		t.Fatalf("%q: exit code %d, %s", args, code, out)
	}
	content, err := os.ReadFile(filepath.Join(dir, "model.safetensors"))
	if err != nil {
		t.Fatal(err)
	}
	return dir, content
}

// weights returns the part of a model file behind its head, which names the files.
func weights(content []byte) []byte {
	return content[8+int(content[0])+int(content[1])<<8+int(content[2])<<16:]
}

// Training on the format gives the weights of the same data in columns, and its file is recognised.
func TestTrainsAsColumns(t *testing.T) {
	dir, slashed := model(t, "--train", write(t, "x.slash", sentences))
	_, conll := model(t, "--train", write(t, "x.conll", columns(" ")))
	if !bytes.Equal(weights(slashed), weights(conll)) {
		t.Error("other weights than from the same data in columns")
	}
	_, signed := model(t, "--train", write(t, "x.txt", strings.ReplaceAll(sentences, "/", "_")), "--format", "slash", "--format-settings", "sign=_")
	if !bytes.Equal(weights(slashed), weights(signed)) {
		t.Error("another sign gives other weights")
	}
	if code, out := clitest.Run(t, "eval", "--model", dir, "--data", write(t, "y.slash", sentences), "--json"); code != 0 || !json.Valid([]byte(out)) ||
		!strings.Contains(out, `"token_accuracy":1`) {
		t.Errorf("eval: exit code %d, %s", code, out)
	}
	for _, input := range []string{"the dog sleeps\na big dog\n", "the/VB dog/VB sleeps/VB\na/VB big/NN dog/NN\n"} {
		code, out := clitest.Run(t, "predict", "--model", dir, "--input", write(t, "z.slash", input), "--json")
		if code != 0 || !strings.Contains(strings.ReplaceAll(out, " ", ""), `"labels":["DT","JJ","NN"]`) {
			t.Errorf("predict: exit code %d, %s", code, out)
		}
	}
	pack := filepath.Join(t.TempDir(), "x.pack")
	if code, out := clitest.Run(t, "data", "pack", "--train", write(t, "x.slash", sentences), "--features", "pos", "--out", pack); code != 0 {
		t.Fatalf("pack: exit code %d, %s", code, out)
	}
	if _, packed := model(t, "--train", pack); !bytes.Equal(weights(slashed), weights(packed)) {
		t.Error("a pack gives other weights")
	}
}

// A file that is read piece by piece names the lines of the whole file.
func TestLinesOfPieces(t *testing.T) {
	d, err := slash.Read(strings.NewReader("a/X\n\nb/Y c/Y\n"), "f", formats.Options{Line: 7, Own: &slashSettings{"/"}})
	if err != nil || d.Len() != 2 || d.Lines[1] != 9 || d.Column(text.LabelColumn)[2] != "Y" || d.Labels[2] != 1 {
		t.Errorf("%+v, %v", d, err)
	}
}

func TestRefuses(t *testing.T) {
	good, bad := write(t, "x.slash", sentences), write(t, "y.slash", "the/DT dog\n")
	for args, want := range map[string]string{
		"--train " + bad: `y.slash:1: "dog", expected word/label`,
		"--train " + good + " --format-settings sing=_":                              `--format slash has no setting "sing"; it has sign`,
		"--train " + good + " --columns word=0":                                      "--columns word=0 has no effect with --format slash; it is for --format conll",
		"--train " + good + " --task parse":                                          "--format slash has no trees for --task parse, which reads conllu; use --task tag",
		"--train " + write(t, "x.conll", columns(" ")) + " --format-settings sign=_": `--format conll has no setting "sign"`,
	} {
		if code, out := clitest.Run(t, append([]string{"train", "--out", filepath.Join(t.TempDir(), "x")}, strings.Fields(args)...)...); code != 2 || !strings.Contains(out, want) {
			t.Errorf("%s: exit code %d, %s; want %s", args, code, out, want)
		}
	}
}

func TestIsListed(t *testing.T) {
	if code, out := clitest.Run(t, "info", "--formats"); code != 0 || !strings.Contains(out, "slash") || !strings.Contains(out, "--format-settings sign=/: what stands") {
		t.Errorf("exit code %d: %s", code, out)
	}
	if code, out := clitest.Run(t, "train", "--help", "all"); code != 0 || !strings.Contains(out, "slash") || !strings.Contains(out, "--format-settings NAME=VALUE") {
		t.Errorf("exit code %d: %s", code, out)
	}
}
