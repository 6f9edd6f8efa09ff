package main

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"
)

// problem is a small training and what its model predicts. In its flags DATA stands for the folder of drawn data.
type problem struct {
	task     string
	examples int // that training draws; 0: it reads files
	train    string
	network  string // empty: none scores these outputs
	predict  string // empty: nothing is predicted
	sums     bool   // there are sums over all outputs
}

const textFiles = "--train DATA/text/train.conll --dev DATA/text/dev.conll"

// structures are problems by the structure of their outputs.
var structures = map[string]problem{
	"alignment": {"align", 24, "", "bilinear", "--input DATA/pairs/dev.pairs", false},
	"boxes":     {"localise", 12, "", "mlp", "--input DATA/objects/dev.json", true},
	"chain": {"tag", 0, "--columns word=0,pos=1,label=-1 " + textFiles, "embed", "--input DATA/text/dev.conll",
		true},
	"chain-dense": {"ocr", 40, "", "cnn", "--input DATA/ocr/dev.data", true},
	"chain-order-2": {"tag", 0, "--order 2 --columns word=0,label=-1 " + textFiles, "embed", "--input DATA/text/dev.conll",
		true},
	"constituents": {"constituency", 20, "", "biaffine", "--input DATA/constituents/dev.penn", true},
	"cuts":         {"segment", 6, "--oracle cut", "mlp", "", false},
	"graph":        {"graph", 16, "", "mlp", "--input DATA/graphs/dev.npz", true},
	"relaxed":      {"graph", 12, "--shape grid --oracle relaxed", "mlp", "--input DATA/graphs/dev.npz", true},
	"segments": {"tag", 0, "--structure segments --columns word=0,pos=1,label=-1 " + textFiles, "embed",
		"--input DATA/text/dev.conll", true},
	"siblings":   {"parse", 20, "--order 2", "", "--input DATA/trees/dev.conllu", true},
	"transcript": {"transcribe", 16, "", "mlp", "--input DATA/lines/dev", true},
	"trees":      {"parse", 24, "", "biaffine", "--input DATA/trees/dev.conllu", true},
	"trees-any":  {"parse", 24, "--tree nonprojective", "biaffine", "--input DATA/trees/dev.conllu", true},
	"warp":       {"warp", 24, "", "mlp", "--input DATA/spellings/dev.pairs", true},
	"windows":    {"localise", 8, "--search windows", "mlp", "--input DATA/objects/dev.json", false},
}

// drawn are the data that problems read, by their verb of dsp data.
var drawn = map[string]string{
	"text": "--examples 60,12,2", "ocr": "--train 20 --dev 8 --test 2", "trees": "--examples 2,8,2",
	"constituents": "--examples 2,8,2", "lines": "--examples 2,4,2", "objects": "--examples 2,4,2",
	"graphs": "--examples 2,6,2", "pairs": "--examples 2,8,2",
	"spellings": "--examples 2,8,2",
}

// needs are flags that a choice needs.
var needs = map[string]string{"quadratic": "--edges none", "sp-fw": "--radius 10", "sp-bcfw": "--radius 10"}

var smoothings = map[string]string{
	"auto": "", "entropy": "--smoothing entropy --mu 0.5", "l2": "--smoothing l2 --mu 0.5",
}

// linear is the net of convex methods; of the other, a problem says which.
const (
	linear  = "linear"
	network = "network"
)

// home is where a run computes: processes under mpirun (none if 0), and flags.
type homeOf struct {
	ranks  int
	device bool
	flags  string
}

var homes = map[string]homeOf{
	"1-thread":  {flags: "--threads 1"},
	"3-threads": {flags: "--threads 3"},
	"device":    {device: true, flags: "--device cuda"},
	"2-ranks":   {ranks: 2},
	"3-ranks":   {ranks: 3},
}

// bench runs rows with one program.
type bench struct {
	program string
	driver  string // of the emulated device; empty: there is none
	scratch string
	best    string // the best kernel of this processor
}

var (
	errRefused = errors.New("refused")
	errNotHere = errors.New("not on this machine")
)

// longest is the time that a row may take.
const longest = 10 * time.Minute

// bestKernel asks the program which kernels the processor has.
func (b *bench) bestKernel(ctx context.Context) (string, error) {
	for _, name := range slices.Backward(kernelNames) {
		if _, err := b.command(ctx, name, 0, "info", "--json"); err == nil {
			return name, nil
		}
	}
	return "", fmt.Errorf("%s info: does not run", b.program)
}

// drawData writes the data that problems read. Drawing is the same with all kernels.
func (b *bench) drawData(ctx context.Context) error {
	for verb, args := range drawn {
		if _, err := b.command(ctx, "plain", 0,
			append([]string{"data", verb, "--quiet", "--out", filepath.Join(b.scratch, "data", verb)},
				strings.Fields(args)...)...); err != nil {
			return err
		}
	}
	return nil
}

// arguments are those of the training of a row, but for its folder and passes.
func (b *bench) arguments(r *row) []string {
	p := structures[r.choices[structure]]
	args := []string{"train", "--task", p.task, "--baselines", "off", "--quiet", "--gap", "0", "--method",
		r.choices[method], "--loss", r.choices[loss]}
	if p.examples > 0 {
		args = append(args, "--examples", strconv.Itoa(p.examples)+",6,2")
	}
	net := linear
	if r.choices[scorer] == network {
		net = p.network + " --hidden 8"
	}
	for _, flags := range []string{p.train, needs[r.choices[method]], needs[r.choices[loss]], "--net " + net,
		smoothings[r.choices[smoothing]], homes[r.choices[home]].flags} {
		args = append(args, b.split(flags)...)
	}
	return args
}

// split divides flags at blanks and puts the folder of drawn data into them.
func (b *bench) split(flags string) []string {
	args := strings.Fields(flags)
	for k := range args {
		args[k] = strings.ReplaceAll(args[k], "DATA", filepath.Join(b.scratch, "data"))
	}
	return args
}

// measure runs a row and returns the hashes of its model, predictions and metrics, with slashes between them.
func (b *bench) measure(ctx context.Context, r *row, kernel string) (string, error) {
	at := homes[r.choices[home]]
	if at.device && b.driver == "" {
		return "", errNotHere
	}
	if _, err := exec.LookPath("mpirun"); at.ranks > 0 && err != nil {
		return "", errNotHere
	}
	ctx, cancel := context.WithTimeout(ctx, longest)
	defer cancel()
	folder, err := os.MkdirTemp(b.scratch, "run")
	if err != nil {
		return "", err
	}
	defer os.RemoveAll(folder)
	out := filepath.Join(folder, "out")
	args := b.arguments(r)
	passes := 3
	if r.choices[course] == resumed {
		passes = 1
	}
	if _, err := b.command(ctx, kernel, at.ranks,
		append(args, "--out", out, "--passes", strconv.Itoa(passes))...); err != nil {
		return "", err
	}
	if r.choices[course] == resumed {
		again := append([]string{"train", "--quiet", "--resume", out, "--passes", "3"}, strings.Fields(at.flags)...)
		if _, err := b.command(ctx, kernel, at.ranks, again...); err != nil {
			return "", err
		}
	}
	model, err := modelHash(filepath.Join(out, "model.safetensors"))
	if err != nil {
		return "", err
	}
	predictions := none
	if p := structures[r.choices[structure]].predict; p != "" {
		text, err := b.command(ctx, kernel, 0,
			append([]string{"predict", "--json", "--threads", "1", "--model", out}, b.split(p)...)...)
		if err != nil {
			return "", fmt.Errorf("predict: %w", err)
		}
		predictions = hash(text)
	}
	metrics, err := metricsHash(filepath.Join(out, "metrics.jsonl"))
	return model + "/" + predictions + "/" + metrics, err
}

// command runs the program, under mpirun if there are ranks, and returns what it prints. Where it refuses its
// arguments, the error is errRefused.
func (b *bench) command(ctx context.Context, kernel string, ranks int, args ...string) ([]byte, error) {
	all := append([]string{b.program}, args...)
	if ranks > 0 {
		all = append([]string{"mpirun", "--oversubscribe", "-np", strconv.Itoa(ranks)}, all...)
	}
	c := exec.CommandContext(ctx, all[0], all[1:]...)
	c.WaitDelay = 5 * time.Second
	c.Env = append(os.Environ(), "DSP_KERNELS="+kernel, "DSP_BLAS=own", "OMPI_ALLOW_RUN_AS_ROOT=1",
		"OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1")
	if b.driver != "" {
		c.Env = append(c.Env, "DSP_CUDA_LIBRARY="+b.driver)
	}
	var stdout, stderr bytes.Buffer
	c.Stdout, c.Stderr = &stdout, &stderr
	err := c.Run()
	if exit := (*exec.ExitError)(nil); errors.As(err, &exit) && exit.ExitCode() == 2 {
		err = errRefused
	}
	if err != nil {
		err = fmt.Errorf("%w: %s: %s", err, strings.Join(args, " "), bytes.TrimSpace(stderr.Bytes()))
	}
	return stdout.Bytes(), err
}

// hash is the first 12 digits of a SHA-256.
func hash(content []byte) string {
	sum := sha256.Sum256(content)
	return fmt.Sprintf("%x", sum[:6])
}

// modelHash is the hash of the tensors of a model: what follows the header of its file, which tells of versions, data
// and settings.
func modelHash(path string) (string, error) {
	content, err := os.ReadFile(path)
	if err != nil {
		return "", err
	}
	if len(content) < 8 {
		return "", io.ErrUnexpectedEOF
	}
	header := binary.LittleEndian.Uint64(content)
	if header > uint64(len(content)-8) {
		return "", io.ErrUnexpectedEOF
	}
	return hash(content[8+header:]), nil
}

// metricsHash is the hash of the metrics of all passes, without times.
func metricsHash(path string) (string, error) {
	content, err := os.ReadFile(path)
	if err != nil {
		return "", err
	}
	var kept bytes.Buffer
	for line := range bytes.Lines(content) {
		var metrics map[string]any
		if err := json.Unmarshal(line, &metrics); err != nil {
			return "", err
		}
		delete(metrics, "seconds")
		text, err := json.Marshal(metrics) // with sorted names
		if err != nil {
			return "", err
		}
		kept.Write(append(text, '\n'))
	}
	return hash(kept.Bytes()), nil
}
