package main

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"strings"

	"github.com/dsp-go/dsp/cmd/dsp/server"
)

// runFiles are the files that runs leave in their folders. A name with / at its end is a folder.
var runFiles = []struct{ name, when, what string }{
	{"config.yaml", "always", "every setting, resolved, and which were given"},
	{"metrics.jsonl", "always", "a line per pass ([members](json.md#metricsjsonl))"},
	{"model.safetensors", "always", "weights, labels, vocabularies, attributes and configuration; `dsp info` shows it"},
	{"last.safetensors", "with development data", "the model of the last pass, where that is not the best one"},
	{"curves.png", "always", "objective, gap and error against passes and seconds"},
	{"curves.svg", "always", "the same"},

	{"checkpoint/", "always", "what `--resume` continues"},
	{"events.out.tfevents.*", "always", "for TensorBoard"},
	{"path/", "`--path`", "a model for each strength of the regulariser"},
	{"path.json", "`--path`", "the strengths, with their certificates"},
	{"path.png", "`--path`", "the path as a picture"},
	{"path.svg", "`--path`", "the same"},
	{"sgd/", "`--baselines`, drawn data", "a run to compare with, by `sgd`"},
	{"independent/", "`--baselines`, drawn data", "a run to compare with, without edges"},
	{"relaxed/", "`--baselines`, drawn data of `segment`", "a run to compare with, by bounds"},
}

func writeRunFolder(b *strings.Builder) error {
	b.WriteString("`dsp train --out DIR` leaves these files. Each is written whole or not at all.\n\n")
	head(b, "file", "when", "what")
	for _, f := range runFiles {
		row(b, "`"+f.name+"`", f.when, f.what)
	}
	return nil
}

// writeExitCodes writes the constants of exit codes, with their comments.
func writeExitCodes(b *strings.Builder) error {
	parsed, err := parser.ParseFile(token.NewFileSet(), filepath.Join(root, "cmd/dsp/cli/main.go"), nil,
		parser.ParseComments|parser.SkipObjectResolution)
	if err != nil {
		return err
	}
	head(b, "code", "when")
	rows := 0
	ast.Inspect(parsed, func(n ast.Node) bool {
		spec, ok := n.(*ast.ValueSpec)
		if !ok || !strings.HasPrefix(spec.Names[0].Name, "exit") || len(spec.Values) != 1 {
			return true
		}
		if code, ok := spec.Values[0].(*ast.BasicLit); ok {
			row(b, "`"+code.Value+"`", strings.TrimSpace(spec.Comment.Text()))
			rows++
		}
		return true
	})
	if rows == 0 {
		return fmt.Errorf("cmd/dsp/cli/main.go declares no exit codes")
	}
	b.WriteString("\nMessages go to standard error, in a line that begins with `dsp:`.\n")
	return nil
}

// queries are the options of POST /predict. A test compares them with those that the server reads.
var queries = []struct{ name, value, what string }{
	{"model", "NAME", "which model, where the server has several"},
	{"nbest", "N", "the N best outputs"},
	{"beam", "N", "of lines: a search that keeps N beginnings"},
	{"samples", "N", "N outputs at random"},
	{"temperature", "X", "with samples: the temperature that they are drawn at"},
	{"seed", "N", "with samples: the same seed draws the same outputs"},
	{"decode", "max, risk or f1", "which output is the best"},
	{"threshold", "P", "with decode=f1: the least worth of an entity"},
	{"min_probability", "P", "with spans: the least probability of an entity"},
	{"marginals", "true or false", "the probability of every label at every part"},
	{"confidence", "true or false", "the probability of each predicted part"},
	{"entropy", "true or false", "the entropy of the outputs, in nats"},
	{"spans", "true or false", "entities"},
	{"truncate", "true or false", "change scores of edges for which cuts are not exact"},
	{"overlay", "true or false", "of images: a picture of the regions"},
	{"force", "true or false", "keep the labels that the request has"},
}

func writeHTTP(b *strings.Builder) error {
	b.WriteString("Routes under `/v2` follow the Open Inference Protocol.\n\n")
	head(b, "route", "answers", "needs `--token`'s token")
	for _, r := range server.Routes() {
		needs := "yes"
		if r.Open {
			needs = ""
		}
		row(b, "`"+strings.NewReplacer("{$}", "", "{model}", "NAME", "{version}", "VERSION").Replace(r.Pattern)+"`",
			r.Answers, needs)
	}
	b.WriteString("\n## POST /predict\n\nThe body is an object with an example, or several, an object per line; `GET /v2/models/NAME` shows one. Answers have the [members](json.md#predict) of `dsp predict --json`. Options are in the query; one that is true or false needs no value.\n\n")
	head(b, "option", "value", "what")
	for _, q := range queries {
		row(b, "`"+q.name+"`", q.value, q.what)
	}
	b.WriteString("\n## Codes\n\n")
	head(b, "code", "when")
	for _, c := range codes {
		row(b, c.code, c.when)
	}
	return nil
}

// codes are those of the server's answers. A test compares them with its source.
var codes = []struct{ code, when string }{
	{"200", "answered"}, {"400", "the request is wrong; the text says where, and what was expected"},
	{"401", "the token is missing or wrong"},
	{"403", "the page or host may not ask"}, {"404", "there is no such route or model"},
	{"405", "the route has another method"},
	{"408", "the body did not come in time"},
	{"413", "the body is too long, or the request needs more memory or has more examples than the server ever gives one"},
	{"415", "the body is said to be neither JSON nor what the route takes"},
	{"429", "too many requests wait; `Retry-After` says when to ask again"}, {"500", "a fault of the server"},
	{"503", "the server stops, or other requests hold the memory"}, {"504", "no answer within `--timeout`"},
}

// variables are those of the environment that the program, its Python package, its tests and the emulated device read.
// A test compares them with the sources.
var variables = []struct{ name, value, what string }{
	{"DSP_DEBUG", "1", "an internal error prints its stack"},
	{"DSP_CURVES", "off", "training draws no curves"},
	{"DSP_KERNELS", "plain, avx2 or avx512", "the widest instruction set that kernels use"},
	{"DSP_BLAS", "own, openblas or gonum", "what multiplies matrices on the CPU"},
	{"DSP_MPI_LIBRARY", "FILE", "the MPI library"},
	{"DSP_MPI_START", "TIME, such as 5m", "how long ranks wait for each other at the start: 50 s without it"},
	{"DSP_CUDA_BLAS", "own, or FILE", "dsp's own products on a GPU, or a cuBLAS"},
	{"DSP_CUDA_CUBINS", "DIR", "kernels that are assembled already (`make cubins`)"},
	{"DSP_CUDA_LIBRARY", "FILE", "another driver library, such as the emulated device"},
	{"DSP_CUDA_MEMORY", "arena or guarded", "how a GPU lends memory: from large blocks, or each array " +
		"an allocation of its own"},
	{"DSP_NCCL_LIBRARY", "FILE or off", "the library with which ranks exchange gradients between GPUs, or none"},
	{"DSP_THREADS", "N", "the Python package: threads that answer a question; 1 without it"},
	{"DSP_LIBRARY", "FILE", "the Python package: another library in place of its own"},
	{"DSP_MODEL_LIBRARY", "FILE", "the Python package: another library of models in place of its own"},
	{"DSP_PROGRAM", "FILE", "the Python package: another program in place of its own"},
	{"DSP_SEED", "N", "of tests: draws other cases; a failure prints it"},
	{"DSP_LONG", "1", "of tests: more cases"},
	{"DSP_CUDA_TEST", "device", "of tests: on a real GPU"},
	{"DSP_TEST_MPI", "DIR", "of tests: another MPI, beside that of the system"},
	{"DSP_EMULATED_DEVICES", "N", "the emulated device: how many there are"},
	{"DSP_EMULATED_THREADS", "N", "the emulated device: threads of the host that it uses"},
	{"DSP_EMULATED_MEMORY", "BYTES", "the emulated device: its memory"},
	{"DSP_EMULATED_LOSE", "N", "the emulated device: it is lost in a launch"},
	{"DSP_EMULATED_DEATH", "RANK:N", "the emulated device: a rank is killed in its exchange N"},
	{"DSP_EMULATED_ORDER", "random", "the emulated device: threads run in random order"},
	{"DSP_EMULATED_STREAMS", "late", "the emulated device: work runs when somebody waits for it"},
}

func writeEnvironment(b *strings.Builder) error {
	head(b, "variable", "value", "what")
	for _, v := range variables {
		row(b, "`"+v.name+"`", v.value, v.what)
	}
	return nil
}
