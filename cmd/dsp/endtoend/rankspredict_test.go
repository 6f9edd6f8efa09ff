//go:build linux || darwin

package endtoend

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/dsp-go/dsp/models/inputs/encoded/encodedtest"
	"github.com/dsp-go/dsp/train/ranks/rankstest"
)

// ranksPrint runs dsp as n ranks with an input, and returns what they print and log.
func ranksPrint(t *testing.T, l rankstest.Launcher, n int, input string, args ...string) (stdout, stderr string) {
	t.Helper()
	var out, log bytes.Buffer
	c := l.Command(t.Context(), n, []string{asProgram + "=1"}, binary, with(args, "--threads", "1")...)
	c.Stdin, c.Stdout, c.Stderr = strings.NewReader(input), &out, &log
	if err := c.Run(); err != nil {
		t.Fatalf("%v\n%s", err, log.String())
	}
	return out.String(), log.String()
}

// Under every mpirun of the machine, any number of processes predicts and evaluates what one does, to the last digit,
// and prints and writes it once.
func TestRanksPredictAsOne(t *testing.T) {
	t.Parallel()
	text, trees, pairs, objects := drawnText(t), drawnTrees(t), drawnPairs(t), drawnObjects(t)
	pipeline, sentences := aPipeline(t)
	test := filepath.Join(text, "test.conll")
	linear, rows := filepath.Join(t.TempDir(), "linear"), filepath.Join(t.TempDir(), "rows")
	columns := []string{"--columns", "word=0,pos=1,label=-1", "--quiet"}
	dsp(t, with(columns, "train", "--train", filepath.Join(text, "train.conll"), "--method", "lbfgs", "--passes", "5", "--out", linear)...).ok()
	dsp(t, with(withEncoder(filepath.Join(text, "train.conll"), encodedtest.Folder(t, "bert")), "--out", rows)...).ok()
	graphs := drawnGraphs(t, "shared.npz", 30, 4, 5)
	variables := filepath.Join(t.TempDir(), "graphs")
	dsp(t, "train", "--task", "graph", "--train", graphs, "--passes", "2", "--quiet", "--out", variables).ok()
	pos, words := filepath.Join(t.TempDir(), "pos"), write(t, "words.conll", regexp.MustCompile(`(?m) .*$`).ReplaceAllString(readFile(t, test), ""))
	dsp(t, "train", "--train", filepath.Join(text, "train.conll"), "--columns", "word=0,label=1", "--method", "lbfgs", "--passes", "3", "--quiet", "--out", pos).ok()
	launchers := rankstest.Launchers(t)
	for name, c := range map[string]struct {
		flags []string
		input string // a file
	}{
		"text":               {[]string{"predict", "--model", linear, "--input", test, "--nbest", "3", "--marginals", "--score", "--entropy"}, ""},
		"a pipe":             {[]string{"predict", "--model", linear, "--json", "--samples", "2", "--seed", "3"}, test},
		"a pipe, read whole": {[]string{"predict", "--model", linear, "--decode", "f1"}, test},
		"several files":      {[]string{"predict", "--model", linear, "--input", test + "," + filepath.Join(text, "dev.conll"), "--json", "--decode", "f1", "--samples", "2"}, ""},
		"a column":           {[]string{"predict", "--model", linear, "--input", test, "--into", "label", "--scheme", "bioes"}, ""},
		"a tagger":           {[]string{"predict", "--model", linear, "--input", words, "--columns", "word=0", "--tagger", "pos=" + pos, "--decode", "f1"}, ""},
		"a treebank, piped":  {[]string{"eval", "--model", pipeline, "--data", "-"}, filepath.Join(sentences, "dev.conllu")},
		"rows of an encoder": {[]string{"predict", "--model", rows, "--input", test, "--confidence"}, ""},
		"raw text":           {[]string{"predict", "--model", pipeline, "--text"}, filepath.Join(sentences, "train.conllu")},
		"a treebank":         {[]string{"predict", "--model", pipeline, "--input", filepath.Join(sentences, "dev.conllu"), "--json"}, ""},
		"trees":              {[]string{"predict", "--model", parser(t), "--input", filepath.Join(trees, "test.conllu"), "--confidence"}, ""},
		"arrays":             {[]string{"predict", "--model", linear, "--input", test, "--to", "FILE.npz", "--confidence"}, ""},
		"a file":             {[]string{"predict", "--model", linear, "--input", test, "--to", "FILE.conll"}, ""},
		"a picture":          {[]string{"predict", "--model", parser(t), "--input", filepath.Join(trees, "test.conllu"), "--picture", "FILE.svg"}, ""},
		"the least sure":     {[]string{"predict", "--model", linear, "--input", test, "--select", "5"}, ""},
		"scores":             {[]string{"eval", "--model", linear, "--data", test, "--confusion", "--intervals", "--nll", "--against", rows, "--kl"}, ""},
		"scores of a pipe":   {[]string{"eval", "--model", linear, "--data", "-", "--json", "--errors", "5"}, test},
		"scores with rows":   {[]string{"eval", "--model", rows, "--data", test, "--decode", "f1"}, ""},
		"a curve":            {[]string{"eval", "--model", linear, "--data", test, "--pr-curve", "FILE.csv"}, ""},
		"counts":             {[]string{"eval", "--model", linear, "--data", test, "--expected-counts", "FILE.tsv"}, ""},
		"scores of links":    {[]string{"eval", "--model", aligner(t), "--data", filepath.Join(pairs, "test.pairs")}, ""},
		"scores of graphs":   {[]string{"eval", "--model", variables, "--data", graphs, "--json"}, ""},
		"scores of boxes":    {[]string{"eval", "--model", finder(t), "--data", filepath.Join(objects, "test.json")}, ""},
		"scores of a line":   {[]string{"eval", "--model", pipeline, "--data", filepath.Join(sentences, "dev.conllu")}, ""},
		"drawn data":         {[]string{"eval", "--model", reader(t), "--data", "builtin"}, ""},
	} {
		l, n := launchers[len(name)%len(launchers)], 2+len(c.flags)%2
		t.Run(l.Name+"/"+name, func(t *testing.T) {
			t.Parallel()
			input, dir := "", t.TempDir()
			if c.input != "" {
				input = readFile(t, c.input)
			}
			in := func(folder string) (flags []string, file string) { // to write in
				if err := os.Mkdir(filepath.Join(dir, folder), 0o777); err != nil {
					t.Fatal(err)
				}
				for _, f := range c.flags {
					if strings.HasPrefix(f, "FILE") {
						f = filepath.Join(dir, folder, f)
						file = f
					}
					flags = append(flags, f)
				}
				return flags, file
			}
			flags, file := in("one")
			one := dspWith(t, input, flags...).ok()
			flags, other := in("all")
			stdout, stderr := ranksPrint(t, l, n, input, flags...)
			if got := strings.ReplaceAll(stdout, filepath.Join(dir, "all"), filepath.Join(dir, "one")); got != one.stdout {
				t.Errorf("%d ranks print\n%s\none process\n%s", n, got, one.stdout)
			}
			if file != "" && readFile(t, file) != readFile(t, other) {
				t.Errorf("%d ranks write another file than one process", n)
			}
			if !strings.Contains(stderr, "rank 0: several processes work together ranks=") || strings.Contains(stderr, "rank 1: ") {
				t.Errorf("the log is\n%s", stderr)
			}
		})
	}
}

// What ranks cannot predict together is refused by name.
func TestRanksRefuseToPredict(t *testing.T) {
	t.Parallel()
	test := filepath.Join(drawnText(t), "test.conll")
	bad := write(t, "bad.conll", strings.Repeat(sentences+"\n", 4)+"\tX\n")
	each := "RANK=${OMPI_COMM_WORLD_RANK:-$PMI_RANK}; exec \"$0\" "
	for name, c := range map[string]struct{ command, says string }{
		"other input":    {each + "predict --model " + tagger(t) + " --input " + test + "$RANK", "rank 0 ("},
		"another model":  {each + "eval --data " + test + " --model " + tagger(t) + " --decode $([ $RANK = 0 ] && echo max || echo risk)", "--ranks off leaves each process on its own"},
		"a missing file": {each + "eval --model " + tagger(t) + " --data " + test + "x", "no such file"},
		"a bad line":     {each + "predict --model " + tagger(t) + " --input " + bad, bad + ":61"},
	} {
		for _, l := range rankstest.Launchers(t) {
			t.Run(l.Name+"/"+name, func(t *testing.T) {
				t.Parallel()
				out, err := l.Run(t, 2, []string{asProgram + "=1"}, "sh", "-c", c.command, binary)
				if err == nil || !strings.Contains(out, "dsp: rank ") || !strings.Contains(out, c.says) {
					t.Errorf("%v, expected %q in\n%s", err, c.says, out)
				}
				if ended, ok := errors.AsType[*exec.ExitError](err); ok && l.KeepsExitCode() && ended.ExitCode() != exitBadInput {
					t.Errorf("exit code %d:\n%s", ended.ExitCode(), out)
				}
			})
		}
	}
}

// With --ranks off each process predicts all of its own, and other verbs say that they do so.
func TestRanksOff(t *testing.T) {
	t.Parallel()
	l, test := rankstest.Launchers(t)[0], filepath.Join(drawnText(t), "test.conll")
	one := dsp(t, "eval", "--model", reader(t), "--data", "builtin").ok().stdout
	if all, _ := ranksPrint(t, l, 2, "", "eval", "--model", reader(t), "--data", "builtin", "--ranks", "off"); strings.Count(all, strings.SplitN(one, "\n", 2)[0]) != 2 {
		t.Errorf("two processes print\n%s\nof\n%s", all, one)
	}
	weights := filepath.Join(t.TempDir(), "weights.npz")
	if out, err := l.Run(t, 2, []string{asProgram + "=1"}, binary, "export", "--model", reader(t), "--weights", "--to", weights); err != nil ||
		!strings.Contains(out, "dsp export runs in each of them: only dsp train, predict and eval share their work") {
		t.Errorf("%v\n%s", err, out)
	}
	dsp(t, "predict", "--model", reader(t), "--input", test, "--ranks", "some").refused(exitBadInput, `--ranks "some" is not known`)
}

// Rank 0 alone needs the files of text, and the folder that it writes to.
func TestRanksWithoutFiles(t *testing.T) {
	t.Parallel()
	dir, text := t.TempDir(), readFile(t, filepath.Join(drawnText(t), "test.conll"))
	model := filepath.Join(t.TempDir(), "model")
	dsp(t, "train", "--train", filepath.Join(drawnText(t), "train.conll"), "--columns", "word=0,pos=1,label=-1", "--method", "lbfgs", "--passes", "2", "--quiet", "--out", model).ok()
	for _, l := range rankstest.Launchers(t) {
		t.Run(l.Name, func(t *testing.T) {
			t.Parallel()
			of := []string{filepath.Join(dir, l.Name, "0"), filepath.Join(dir, l.Name, "1")}
			for _, folder := range []string{filepath.Join(of[0], "in"), filepath.Join(of[0], "out"), filepath.Join(of[1], "in")} {
				if err := os.MkdirAll(folder, 0o777); err != nil {
					t.Fatal(err)
				}
			}
			for _, name := range []string{"0/in/a.conll", "0/in/b.conll", "1/in/a.conll"} {
				if err := os.WriteFile(filepath.Join(dir, l.Name, name), []byte(text), 0o666); err != nil {
					t.Fatal(err)
				}
			}
			script := "cd '" + filepath.Join(dir, l.Name) + "'/${OMPI_COMM_WORLD_RANK:-$PMI_RANK}; exec \"$0\" predict --model " + model + " --input 'in/*.conll' --to out/labelled.conll"
			if out, err := l.Run(t, 2, []string{asProgram + "=1"}, "sh", "-c", script, binary); err != nil {
				t.Fatalf("%v\n%s", err, out)
			}
			want := dsp(t, "predict", "--model", model, "--input", filepath.Join(of[0], "in", "*.conll")).ok().stdout
			if got := readFile(t, filepath.Join(of[0], "out", "labelled.conll")); got != want {
				t.Errorf("two ranks write\n%s\none process\n%s", got, want)
			}
		})
	}
}

// A rank that is killed while all wait for more text ends the others, and an interrupt all of them.
func TestRanksPredictUntilOneEnds(t *testing.T) {
	t.Parallel()
	model := tagger(t)
	for _, l := range rankstest.Launchers(t) {
		for name, signal := range map[string]syscall.Signal{"kill": syscall.SIGKILL, "interrupt": syscall.SIGINT} {
			t.Run(l.Name+"/"+name, func(t *testing.T) {
				t.Parallel()
				ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
				defer cancel()
				pid := filepath.Join(t.TempDir(), "pid")
				script := "[ ${OMPI_COMM_WORLD_RANK:-$PMI_RANK} = 1 ] && echo $$ >" + pid + "; exec \"$0\" predict --model " + model
				c := l.Command(ctx, 2, []string{asProgram + "=1"}, "sh", "-c", script, binary)
				in, err := c.StdinPipe()
				if err != nil {
					t.Fatal(err)
				}
				out, err := c.StdoutPipe()
				if err != nil {
					t.Fatal(err)
				}
				var log bytes.Buffer
				c.Stderr = &log
				if err := c.Start(); err != nil {
					t.Fatal(err)
				}
				if _, err := io.WriteString(in, "the\nfox\n\nred\n"); err != nil { // and no end
					t.Fatal(err)
				}
				answer := make([]byte, len("the\t"))
				if _, err := io.ReadFull(out, answer); err != nil {
					t.Fatalf("no answer: %v\n%s", err, log.String())
				}
				end(t, pid, signal)
				_, _ = io.Copy(io.Discard, out)
				if err := c.Wait(); err == nil || ctx.Err() != nil {
					t.Errorf("%v after the end of a rank:\n%s", err, log.String())
				}
			})
		}
	}
}

// end sends a signal to the process that a file names.
func end(t *testing.T, file string, signal syscall.Signal) {
	t.Helper()
	pid := 0
	if _, err := fmt.Sscan(readFile(t, file), &pid); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Kill(pid, signal); err != nil {
		t.Fatal(err)
	}
}
