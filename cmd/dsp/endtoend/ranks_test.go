//go:build linux || darwin

package endtoend

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/dsp-go/dsp/models/data/arrays"
	"github.com/dsp-go/dsp/models/data/characters"
	"github.com/dsp-go/dsp/models/inputs/encoded/encodedtest"
	"github.com/dsp-go/dsp/train/ranks"
	"github.com/dsp-go/dsp/train/ranks/rankstest"
)

// Tests of ranks are parallel, though each starts several processes: these wait for each other, and mpirun takes a
// second to end after a failure.

// ranked returns flags of runs that several ranks share. Rows of numbers with few labels keep them short: each rank
// computes L-BFGS's metric of transitions, in a time that grows with the fourth power of the number of labels.
func ranked(t *testing.T) map[string][]string {
	t.Helper()
	archive, err := numbersOnce()
	if err != nil {
		t.Fatal(err)
	}
	numbers := []string{"train", "--task", "tag", "--train", archive}
	return map[string][]string{
		"lbfgs":       with(numbers, "--net", "linear", "--loss", "crf", "--method", "lbfgs", "--passes", "4"),
		"archive":     with(numbers, "--net", "mlp", "--hidden", "8", "--method", "adam", "--lr", "0.01", "--batch", "64", "--passes", "2"),
		"prox-linear": {"train", "--examples", "240,10,10", "--channels", "4", "--hidden", "16", "--model-batch", "16", "--passes", "2", "--baselines", "off"},
	}
}

// numbersOnce writes an archive of rows of numbers: more than three ranks need to have shards of a full pass each.
var numbersOnce = sync.OnceValues(func() (string, error) {
	const examples, length, width, kinds = 800, 3, 20, 3
	r := rand.New(rand.NewPCG(1, 2))
	features, labels, lengths := make([]float32, examples*length*width), make([]int64, examples*length), make([]int64, examples)
	for k := range features {
		features[k] = float32(r.NormFloat64())
	}
	for k := range labels {
		labels[k], lengths[k/length] = int64(r.IntN(kinds)), length
		features[k*width+int(labels[k])]++
	}
	var content bytes.Buffer
	err := arrays.WriteNPZ(&content, func(w arrays.NPZWriter) error {
		return errors.Join(arrays.Add(w, "features", features, examples*length, width), arrays.Add(w, "labels", labels, examples*length),
			arrays.Add(w, "lengths", lengths, examples))
	})
	path := filepath.Join(shared, "numbers.npz")
	return path, errors.Join(err, os.WriteFile(path, content.Bytes(), 0o666))
})

// modelBytes returns the model file of a run.
func modelBytes(t *testing.T, dir string) []byte {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(dir, "model.safetensors"))
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// metricsWithoutTimes returns the metrics of a run without its times.
func metricsWithoutTimes(t *testing.T, dir string) string {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(dir, "metrics.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	return regexp.MustCompile(`"seconds":[^,]*,`).ReplaceAllString(string(b), "")
}

// Under every mpirun of the machine, any number of processes trains the model of one, writes each file once, and says
// how many they were. Runs of dense inputs are made under each mpirun, and those of text, which differ in what ranks
// read, under one.
func TestRanksTrainTheModelOfOne(t *testing.T) {
	t.Parallel()
	text := []string{"train", "--task", "tag", "--columns", "word=0,pos=1,label=-1", "--train", filepath.Join(drawnText(t), "train.conll")}
	files := t.TempDir()
	whole, crfsuite := filepath.Join(files, "whole.template"), filepath.Join(files, "x.crfsuite")
	var lines strings.Builder
	for i := range 800 {
		fmt.Fprintf(&lines, "@weight:%d\nA|B\tw=%d:0.5\tx\nB\tw=%d\n?\ty:%d\n\n", 1+i%2, i%50, i%37, i%3)
	}
	var table strings.Builder
	vectors := filepath.Join(files, "vectors.txt")
	for k, word := range strings.Fields(readFile(t, filepath.Join(drawnText(t), "train.conll"))) {
		if k%7 == 0 {
			fmt.Fprintf(&table, "%s %d %d\n", word, k%5, k%3)
		}
	}
	for path, text := range map[string]string{whole: "U%x[0,word]\nS%x[all..3,word]\nS%length\n", crfsuite: lines.String(), vectors: table.String()} {
		if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	rows := with(text, "--encoder", encodedtest.Folder(t, "bert"), "--encoder-by-reference", "--encoder-layers", "last", "--passes", "2")
	inShares := []string{"attributes", "attributes of CRFsuite, partial", "segments", "continued", "continued, CRFsuite", "taught"}
	base, baseOfCRFsuite := filepath.Join(files, "base"), filepath.Join(files, "crfsuite")
	for dir, flags := range map[string][]string{
		base: with(text, "--method", "lbfgs", "--min-count", "9", "--passes", "2"), baseOfCRFsuite: {"train", "--train", crfsuite, "--partial", "--method", "lbfgs", "--min-count", "30", "--passes", "2"},
	} {
		if err := runProgram(with(flags, "--quiet", "--out", dir)...); err != nil {
			t.Fatal(err)
		}
	}
	runs := map[string][]string{
		"attributes of CRFsuite, partial": {"train", "--train", crfsuite, "--partial", "--method", "lbfgs", "--passes", "2"},
		"segments":                        with(text, "--structure", "segments", "--template", whole, "--method", "lbfgs", "--passes", "2"),
		"continued":                       with(text, "--prior", base, "--method", "lbfgs", "--passes", "2", "--min-count", "2"),
		"continued, CRFsuite":             {"train", "--train", crfsuite, "--partial", "--init", baseOfCRFsuite, "--method", "lbfgs", "--passes", "2", "--min-count", "20"},
		"continued, any example":          with(text, "--init", base, "--method", "sgd", "--lr", "0.1", "--batch", "16", "--passes", "2"),
		"words":                           with(text, "--net", "deep", "--recurrent", "4", "--char-channels", "3", "--hidden", "5", "--method", "adam", "--batch", "32", "--passes", "1"),
		"words with vectors":              with(text, "--net", "rnn", "--recurrent", "4", "--vectors", vectors, "--method", "adam", "--batch", "32", "--passes", "1"),
		"vectors beside attributes":       with(text, "--vectors", vectors, "--method", "lbfgs", "--passes", "2"),
		"a student that reads words":      with(text, "--teacher", base, "--net", "rnn", "--recurrent", "4", "--method", "adam", "--batch", "32", "--passes", "1"),
		"taught":                          with(text, "--teacher", base, "--teacher-share", "0.5", "--method", "lbfgs", "--passes", "2", "--min-count", "2"),
		"taught, any example":             with(text, "--teacher", base, "--net", "linear", "--method", "sgd", "--lr", "0.1", "--batch", "16", "--passes", "2"),
		"attributes":                      with(text, "--method", "owl-qn", "--l1", "0.5", "--passes", "3", "--min-count", "2"),
		"attributes, any example":         with(text, "--net", "linear", "--method", "sgd", "--lr", "0.1", "--batch", "16", "--passes", "2", "--min-count", "2"),
		"attributes, snapshots":           with(text, "--net", "linear", "--method", "svrg", "--batch", "16", "--passes", "2"),
		"rows in a file":                  with(rows, "--net", "linear", "--method", "lbfgs"),
		"rows in memory":                  with(rows, "--net", "rnn", "--method", "adam", "--batch", "32", "--encoder-cache", "none", "--encoder-rows", "float16"),
		"tuned": with(text, "--encoder", encodedtest.Folder(t, "bert"), "--encoder-by-reference", "--encoder-layers", "last", "--tune-encoder", "--method", "adam",
			"--batch", "32", "--passes", "1"),
		"tuned, prox-linear": with(text, "--encoder", encodedtest.Folder(t, "bert"), "--encoder-by-reference", "--encoder-layers", "last", "--tune-encoder",
			"--method", "prox-linear", "--model-batch", "32", "--passes", "1"),
	}
	dense, launchers := ranked(t), rankstest.Launchers(t)
	maps.Copy(runs, dense)
	for at, name := range slices.Sorted(maps.Keys(runs)) {
		flags, one := runs[name], filepath.Join(t.TempDir(), "run")
		if err := runProgram(with(flags, "--quiet", "--out", one)...); err != nil {
			t.Fatal(err)
		}
		for k, l := range launchers {
			if dense[name] == nil && at%len(launchers) != k {
				continue
			}
			t.Run(l.Name+"/"+name, func(t *testing.T) {
				t.Parallel()
				dir := filepath.Join(t.TempDir(), "run")
				var stdout, stderr bytes.Buffer
				c := l.Command(t.Context(), 2+k, []string{asProgram + "=1"}, binary, with(flags, "--json", "--threads", "1", "--out", dir)...)
				c.Stdout, c.Stderr = &stdout, &stderr
				if err := c.Run(); err != nil {
					t.Fatalf("%v\n%s", err, stderr.String())
				}
				var result struct{ Ranks, Passes int }
				if err := json.Unmarshal(stdout.Bytes(), &result); err != nil || result.Ranks != 2+k {
					t.Errorf("%v: %+v in %s", err, result, stdout.String())
				}
				if !bytes.Equal(modelBytes(t, dir), modelBytes(t, one)) {
					t.Error("another model than that of one process")
				}
				if got, want := metricsWithoutTimes(t, dir), metricsWithoutTimes(t, one); got != want || strings.Count(got, "\n") != result.Passes {
					t.Errorf("metrics of %d passes:\n%sexpected\n%s", result.Passes, got, want)
				}
				if holds := strings.Contains(stderr.String(), "rank 0: each process holds the attributes of its own examples"); holds != slices.Contains(inShares, name) {
					t.Errorf("attributes in shares: %v, the log is\n%s", holds, stderr.String())
				}
				if !strings.Contains(stderr.String(), "rank 0: several processes work together ranks=") || strings.Contains(stderr.String(), "rank 1: ") {
					t.Errorf("the log is\n%s", stderr.String())
				}
			})
		}
	}
}

// Ranks that have a file each train the model of one process that has all of them, and leave no copies behind.
func TestRanksWithFilesOfTheirOwn(t *testing.T) {
	t.Parallel()
	l, dir, temporary := rankstest.Launchers(t)[0], t.TempDir(), t.TempDir()
	whole, err := os.ReadFile(filepath.Join(drawnText(t), "train.conll"))
	if err != nil {
		t.Fatal(err)
	}
	cut := bytes.Index(whole[len(whole)/3:], []byte("\n\n")) + len(whole)/3 + 2
	for name, content := range map[string][]byte{"whole": whole, "of0": whole[:cut], "of1": whole[cut:]} {
		if err := os.WriteFile(filepath.Join(dir, name), content, 0o666); err != nil {
			t.Fatal(err)
		}
	}
	flags := []string{"--columns", "word=0,pos=1,label=-1", "--format", "conll", "--method", "lbfgs", "--passes", "2", "--threads", "1"}
	one, both := filepath.Join(dir, "one"), filepath.Join(dir, "both")
	dsp(t, with([]string{"train"}, with(flags, "--train", filepath.Join(dir, "of0")+","+filepath.Join(dir, "of1"), "--out", one)...)...).ok()
	script := "exec \"$0\" train --train-local " + dir + "/of${OMPI_COMM_WORLD_RANK:-$PMI_RANK} --out " + both + " " + strings.Join(flags, " ")
	if out, err := l.Run(t, 2, []string{asProgram + "=1", "TMPDIR=" + temporary}, "sh", "-c", script, binary); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	if tensorsIn(t, one) != tensorsIn(t, both) {
		t.Error("another model than that of one process")
	}
	if left, _ := filepath.Glob(filepath.Join(temporary, "dsp-train-*")); len(left) > 0 {
		t.Errorf("%v is left", left)
	}
}

// What ranks cannot do together is refused by name, with exit code 2, before anything is written.
func TestRanksRefuse(t *testing.T) {
	t.Parallel()
	launchers := rankstest.Launchers(t)
	dir := t.TempDir()
	text := filepath.Join(dir, "train.conll")
	if err := os.WriteFile(text, []byte(strings.Repeat(sentences+"\n", 10)), 0o666); err != nil {
		t.Fatal(err)
	}
	tag := []string{"train", "--train", text}
	each := "RANK=${OMPI_COMM_WORLD_RANK:-$PMI_RANK}; "
	for name, c := range map[string]struct {
		command []string
		says    string
	}{
		"a method of one pass":              {with(tag, "--method", "counts"), "--method counts takes one pass"},
		"steps of its own without a length": {with(tag, "--method", "sgd", "--local-steps", "4"), "give --lr"},
		"two training files":                {with(tag, "--train-local", text), "both say what to learn from"},
		"a device":                          {with(tag, "--method", "lbfgs", "--device", "cuda"), "--device cuda"},
		"baselines":                         {with(tag, "--method", "lbfgs", "--baselines", "on"), "--baselines on"},
		"other settings":                    {[]string{"sh", "-c", each + "exec \"$0\" train --train " + text + " --method lbfgs --seed $RANK --out $1"}, "has --seed 1, but rank 0 ("},
		"a missing file":                    {[]string{"sh", "-c", each + "exec \"$0\" train --train " + text + "$RANK --method lbfgs --out $1"}, "no such file"},
	} {
		for _, l := range launchers {
			t.Run(l.Name+"/"+name, func(t *testing.T) {
				t.Parallel()
				run := filepath.Join(t.TempDir(), "run")
				program, args := binary, with(c.command, "--out", run)
				if c.command[0] == "sh" {
					program, args = "sh", []string{"-c", c.command[2], binary, run}
				}
				out, err := l.Run(t, 2, []string{asProgram + "=1"}, program, args...)
				if err == nil || !strings.Contains(out, "dsp: rank ") || !strings.Contains(out, c.says) {
					t.Errorf("%v, expected %q in\n%s", err, c.says, out)
				}
				if ended, ok := errors.AsType[*exec.ExitError](err); ok && l.KeepsExitCode() && ended.ExitCode() != exitBadInput {
					t.Errorf("exit code %d:\n%s", ended.ExitCode(), out)
				}
				if _, err := os.Stat(filepath.Join(run, "model.safetensors")); err == nil {
					t.Error("there is a model")
				}
			})
		}
	}
}

// Ranks train a pipeline, one stage after the other. A stage that is too small for them rank 0 trains alone. Another
// number of ranks continues a run to the same pipeline where it has nothing left to train.
func TestRanksTrainAPipeline(t *testing.T) {
	t.Parallel()
	l := rankstest.Launchers(t)[0]
	sentences, path := drawTreebank(t, 3, 250)
	dir := filepath.Join(t.TempDir(), "run")
	run := func(n int, flags ...string) (result struct {
		Ranks       int
		Fingerprint string
		Stages      []struct{ Name string }
	}, log string) {
		var stdout, stderr bytes.Buffer
		c := l.Command(t.Context(), n, []string{asProgram + "=1"}, binary, with(flags, "--threads", "1", "--json")...)
		c.Stdout, c.Stderr = &stdout, &stderr
		if err := c.Run(); err != nil {
			t.Fatalf("%v\n%s", err, stderr.String())
		}
		if err := json.Unmarshal(stdout.Bytes(), &result); err != nil {
			t.Fatalf("%v\n%s", err, stdout.String())
		}
		return result, stderr.String()
	}
	first, log := run(2, "train", "--task", "pipeline", "--train", path, "--task-settings", "folds=2,skip=feats+lemma+xpos", "--passes", "2", "--out", dir)
	if first.Ranks != 2 || len(first.Stages) != 4 {
		t.Errorf("%+v", first)
	}
	for _, says := range []string{
		"rank 0: too small to share: one process trains it stage=words", "rank 0: each process works on examples of its own: the model depends on how many there are stage=upos ",
		"rank 0: trained, to label the sentences left out stage=upos/fold2 passes=2 ranks=2 ",
		"rank 0: each process works on examples of its own: the model depends on how many there are stage=trees",
	} {
		if !strings.Contains(log, says) {
			t.Errorf("no %q in the log:\n%s", says, log)
		}
	}
	if strings.Contains(log, "rank 1: ") {
		t.Errorf("rank 1 logs:\n%s", log)
	}
	if again, _ := run(3, "train", "--resume", dir); again.Fingerprint != first.Fingerprint || again.Ranks != 3 {
		t.Errorf("resumed: %+v, expected %+v", again, first)
	}
	if out := dspWith(t, characters.Text(sentences), "predict", "--model", dir, "--text").ok(); strings.Count(out.stdout, "\n1\t") < 200 {
		t.Errorf("250 sentences become\n%s", out.stdout)
	}
}

// What only ranks do is refused in one process.
func TestOneProcessRefuses(t *testing.T) {
	t.Parallel()
	text := filepath.Join(drawnText(t), "train.conll")
	for says, flags := range map[string][]string{
		"--local-steps 4 is for several ranks": {"train", "--train", text, "--columns", "word=0,pos=1,label=-1", "--method", "adam", "--local-steps", "4"},
		"--train-local " + text:                {"train", "--train-local", text},
		"--train-local is for dsp train":       {"sweep", "--train-local", text, "--grid", "reg=1,2", "--out", filepath.Join(t.TempDir(), "sweep")},
	} {
		dsp(t, flags...).refused(exitBadInput, says)
	}
}

// A machine without MPI says what to install, and with --ranks off each process trains on its own.
func TestRanksWithoutLibrary(t *testing.T) {
	t.Parallel()
	rank := []string{ranks.LibraryVariable + "=/no/libmpi.so", "OMPI_COMM_WORLD_SIZE=2", "OMPI_COMM_WORLD_RANK=0"}
	if out := dspIn(t, rank, with(ranked(t)["lbfgs"], "--out", filepath.Join(t.TempDir(), "run"))...); out.code != 1 || !strings.Contains(out.stderr, "/no/libmpi.so") {
		t.Errorf("exit code %d:\n%s", out.code, out.stderr)
	}
	dspIn(t, rank, with(ranked(t)["lbfgs"], "--passes", "1", "--ranks", "off", "--out", filepath.Join(t.TempDir(), "run"))...).ok()
}

// endARank starts two ranks, sends one of them a signal when the run has a checkpoint, and waits for the end of both.
func endARank(t *testing.T, l rankstest.Launcher, signal syscall.Signal, flags []string) {
	t.Helper()
	dir := flags[len(flags)-1]
	ctx, cancel := context.WithTimeout(t.Context(), 3*time.Minute)
	defer cancel()
	pids := filepath.Join(t.TempDir(), "pids")
	c := l.Command(ctx, 2, []string{asProgram + "=1"}, "sh", append([]string{"-c", "echo $$ >>" + pids + "; exec \"$0\" \"$@\"", binary}, flags...)...)
	var out bytes.Buffer
	c.Stdout, c.Stderr = &out, &out
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	for ctx.Err() == nil { // until it has a checkpoint
		if _, err := os.Stat(filepath.Join(dir, "checkpoint", "state.safetensors")); err == nil {
			break
		}
		time.Sleep(time.Millisecond)
	}
	all, err := os.ReadFile(pids)
	if err != nil {
		t.Fatal(err)
	}
	pid := 0
	if _, err := fmt.Sscan(string(all), &pid); err != nil {
		t.Fatal(err)
	}
	_ = syscall.Kill(pid, signal) // if it has not ended yet
	_ = c.Wait()
	if ctx.Err() != nil {
		t.Fatalf("the run goes on after the end of a rank:\n%s", out.String())
	}
}

// certified is the part of a result that bounds the optimum.
type certified struct{ Objective, Dual, Gap float64 }

// Ranks that own examples certify a gap. Killed, as many go on to the same bits, and another number to the same gap.
func TestRanksOwnExamples(t *testing.T) {
	t.Parallel()
	flags := []string{"train", "--examples", "240,10,10", "--net", "linear", "--loss", "crf", "--method", "sdca", "--gap", "0.3", "--checkpoint-every", "1", "--baselines", "off", "--json"}
	result := func(out string) (c certified) {
		if err := json.Unmarshal([]byte(out), &c); err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
		return c
	}
	one := result(dsp(t, with(flags, "--out", filepath.Join(t.TempDir(), "run"))...).stdout)
	for k, l := range rankstest.Launchers(t) {
		t.Run(l.Name, func(t *testing.T) {
			t.Parallel()
			train := func(n int, flags ...string) certified {
				var stdout, stderr bytes.Buffer
				c := l.Command(t.Context(), n, []string{asProgram + "=1"}, binary, flags...)
				c.Stdout, c.Stderr = &stdout, &stderr
				if err := c.Run(); err != nil {
					t.Fatalf("%v\n%s", err, stderr.String())
				}
				r := result(stdout.String())
				if !(r.Gap <= 0.3*r.Objective && r.Dual <= one.Objective && one.Dual <= r.Objective) {
					t.Errorf("%d ranks: %+v, one process: %+v", n, r, one)
				}
				return r
			}
			whole, broken, n := filepath.Join(t.TempDir(), "run"), filepath.Join(t.TempDir(), "run"), 2+k
			train(n, with(flags, "--threads", "1", "--out", whole)...)
			endARank(t, l, syscall.SIGKILL, with(flags, "--threads", "1", "--out", broken)) // of two
			train(n, "train", "--resume", broken, "--threads", "1", "--json")
			if n == 2 && !bytes.Equal(modelBytes(t, whole), modelBytes(t, broken)) {
				t.Error("2 ranks that were killed and resumed have another model than without a break")
			}
		})
	}
}

// When dsp has ended well, each rank's shell goes on to its next command, whatever the others take.
func TestRanksEndWell(t *testing.T) {
	t.Parallel()
	flags := with(ranked(t)["lbfgs"], "--passes", "1", "--threads", "1", "--quiet", "--out")
	for k, l := range rankstest.AllLaunchers(t) {
		t.Run(l.Name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			out, err := l.Run(t, 2+k%2, []string{asProgram + "=1"}, "sh", with([]string{"-c", `"$0" "$@" >/dev/null && sleep 0.2 && echo goes on`, binary}, with(flags, dir+"/run")...)...)
			if err != nil || strings.Count(out, "goes on") != 2+k%2 {
				t.Errorf("%v\n%s", err, out)
			}
		})
	}
}

// A rank that is killed ends the run. Another number of ranks resumes it to the bits of a run without a break. So it is
// after an interrupt.
func TestRanksResume(t *testing.T) {
	t.Parallel()
	flags := with(ranked(t)["lbfgs"], "--passes", "40", "--gap", "0", "--checkpoint-every", "1")
	whole := filepath.Join(t.TempDir(), "run")
	if err := runProgram(with(flags, "--quiet", "--out", whole)...); err != nil {
		t.Fatal(err)
	}
	for _, l := range rankstest.Launchers(t) {
		for name, signal := range map[string]syscall.Signal{"kill": syscall.SIGKILL, "terminate": syscall.SIGTERM} {
			t.Run(l.Name+"/"+name, func(t *testing.T) {
				t.Parallel()
				dir := filepath.Join(t.TempDir(), "run")
				endARank(t, l, signal, with(flags, "--threads", "1", "--out", dir))
				if out, err := l.Run(t, 3, []string{asProgram + "=1"}, binary, "train", "--resume", dir, "--threads", "1"); err != nil {
					t.Fatalf("%v\n%s", err, out)
				}
				if !bytes.Equal(modelBytes(t, dir), modelBytes(t, whole)) {
					t.Error("another model than that of a run without a break")
				}
			})
		}
	}
}
