package endtoend

import (
	"slices"
	"strings"
	"testing"

	"github.com/dsp-go/dsp/oracles"
	"github.com/dsp-go/dsp/oracles/registry"
)

func TestUsageErrors(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ args, message string }{
		{"selftset", "did you mean selftest?"},
		{"frobnicate", "dsp --help"},
		{"info --jsno", "did you mean --json?"},
		{"info a b", "at most 1"},
		{"version", "did you mean dsp --version?"},
		{"eval --spans", "dsp eval has no flag --spans; dsp predict has it"},
		{"predict --errors 3", "dsp eval has it"},
		{"predict --net cnn", "dsp train and dsp sweep have it"},
		{"eval --input x", "did you mean --data?"},
		{"train --epochs 3", "did you mean --passes?"}, {"train --num_train_epochs 3", "did you mean --passes?"}, {"train --batch-size 8", "did you mean --batch?"},
		{"train --lr-scheduler linear", "did you mean --schedule?"}, {"train --c2 1", "did you mean --reg?"}, {"train --output_dir x", "did you mean --out?"},
		{"predict --test x", "did you mean --input?"}, {"eval --test-file x", "did you mean --data?"}, {"predict --eval-file x", "did you mean --input?"},
		{"train --per-device-train-batch-size 8", "did you mean --batch?"}, {"train --mini_batch_size 8", "did you mean --batch?"}, {"train --rho1 1", "did you mean --l1?"},
		{"train --early-stopping 3", "did you mean --patience?"}, {"train --feature.minfreq 3", "did you mean --min-count?"}, {"train --pattern x", "did you mean --template?"},
		{"train --nthread 2", "did you mean --threads?"}, {"train --random_state 1", "did you mean --seed?"}, {"train --model_name_or_path x", "did you mean --encoder?"},
		{"calibrate --data x", "did you mean --dev?"},
		{"train --input x", "did you mean --train?"},
		{"export --out x", "did you mean --to?"},
		{"import --to x", "did you mean --out?"},
		{"train -train x", "dsp train has no flag -train; did you mean --train?"},
		{"train -o x", "dsp train has no flag -o; see dsp train --help"},
		{"data text --data x", "see dsp data text --help"},
		{"train usage_test.go", "did you mean --train usage_test.go?"},
		{"eval usage_test.go", "did you mean --model usage_test.go or --data usage_test.go?"},
		{"selftest usage_test.go", "see dsp selftest --help"},
		{"train --train=", "leave --train out to draw data"},
		{"sweep --train= --grid reg=1,2", "leave --train out to draw data"},
		{"info -x", "dsp info --help"},
		{"data orc", "did you mean ocr?"},
		{"data ocr", "--out"},
		{"data ocr --out x --train many", "expected a whole number"},
		{"data ocr --out x --difficulty -1", "difficulty"},
		{"data text", "--out"},
		{"data text --out x --examples 5", "expected three numbers"},
		{"data text --out x --examples -1,2,3", "-1 sentences to train"},
		{"data trees", "--out"},
		{"data trees --out x --examples 5", "expected three numbers"},
		{"data trees --out x --extraposition 2", "extraposition 2, expected a share from 0 to 1"},
		{"bench --seconds 0", "expected a number above 0"},
		{"selftest now", "flags only"},
		{"--quiet=3 info", "expected true or false"},
	} {
		dsp(t, strings.Fields(c.args)...).refused(exitBadInput, c.message)
	}
}

func TestHelp(t *testing.T) {
	t.Parallel()
	if o := dsp(t).ok(); !strings.Contains(o.stdout, "selftest") {
		t.Errorf("help without the verbs:\n%s", o.stdout)
	}
	all := verbs(t)
	if len(all) < 12 {
		t.Errorf("completion lists %d verbs: %q", len(all), all)
	}
	for _, verb := range all {
		all := dsp(t, verb, "--help", "all").ok().stdout
		for line := range strings.Lines(all) {
			if len([]rune(line)) > 130 {
				t.Errorf("%s --help: long line: %s", verb, line)
			}
		}
		short := dsp(t, verb, "--help").ok().stdout
		if lines := strings.Count(short, "\n"); lines > 70 {
			t.Errorf("%s --help has %d lines; expected the common flags", verb, lines)
		}
		if more := "dsp " + verb + " --help all shows "; (len(short) < len(all)) != strings.Contains(short, more) {
			t.Errorf("%s --help: %d characters of %d, expected %q where that is not all:\n%s", verb, len(short), len(all), more, short)
		}
	}
}

// verbs returns the program's verbs, as it completes them for a shell.
func verbs(t *testing.T) []string {
	t.Helper()
	var all []string
	for line := range strings.Lines(dsp(t, "__complete", "").ok().stdout) {
		if verb, _, ok := strings.Cut(line, "\t"); ok && verb != "help" && verb != "completion" {
			all = append(all, verb)
		}
	}
	return all
}

func TestVersion(t *testing.T) {
	t.Parallel()
	if o := dsp(t, "--version").ok(); !strings.HasPrefix(o.stdout, "dsp ") || strings.Count(o.stdout, "\n") != 1 {
		t.Errorf("got %q", o.stdout)
	}
}

func TestTrainHelpBeginsWithCommonFlags(t *testing.T) {
	t.Parallel()
	help := dsp(t, "train", "--help", "all").ok().stdout
	_, flags, _ := strings.Cut(help, "[flags]\n")
	first := strings.TrimSpace(flags)
	if !strings.HasPrefix(first, "Common:\n  --task") {
		t.Errorf("the flags begin with %.200s", first)
	}
	if strings.Count(help, "\n  --reg ") != 1 {
		t.Error("--reg is not explained once")
	}
	help = strings.Join(strings.Fields(help), " ")
	if strings.Contains(help, "all cores (default 0)") || !strings.Contains(help, "0 (the default): all cores") {
		t.Error("the default of --threads reads badly")
	}
}

// choices are the flags whose values decide which others apply.
var choices = []string{"task", "format", "net", "method"}

func TestTrainHelpShowsWhatApplies(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ args, with, without string }{
		{"", "--reg C", "--superpixels N"},
		{"--task tag", "--scheme keep", "--superpixels N"},
		{"--task segment", "--superpixels N", "--unmatched"},
		{"--net linear", "--window N", "--arc-units N"},
		{"--task tag", "--path ", "--path-low C"},
		{"--task tag --path", "--path-low C", "--superpixels N"},
		{"--task tag", "--encoder DIR", "--pieces first"},
		{"--encoder x", "--pieces first", "--lr X"},
		{"--task tag", "--structure chain", "--segment-ends"},
		{"--task tag --structure segments", "--segment-ends", "--tree "},
		{"--task tag", "--evaluate auto", "--lr X"},
		{"--task graph", "--oracle auto", "--shape random"},
		{"--task graph --format builtin", "--oracle auto", "--shape random"},
		{"--method sp-fw", "--radius R", "--momentum X"},
		{"--method bcfw", "--label-weights LABEL", "--teacher MODEL"},
		{"--net biaffine", "--arc-units N", "--pair-units N"},
		{"--method svrg", "--lipschitz X", "--kappa X"},
		{"--method casimir", "--kappa X", "--momentum X"},
	} {
		help := dsp(t, slices.Concat([]string{"train"}, strings.Fields(c.args), []string{"--help"})...).ok().stdout
		if !strings.Contains(help, "--help all shows") || !strings.Contains(help, "\n  "+c.with) || strings.Contains(help, "\n  "+c.without) || !strings.Contains(help, "\n  --method ") {
			t.Errorf("train %s --help: expected %s, not %s:\n%s", c.args, c.with, c.without, help)
		}
	}
	listed := dsp(t, "train", "--task", "tag", "--help", "all").ok().stdout
	if n := strings.Count(listed, "\n  --"); n > 60 {
		t.Errorf("train --task tag --help all lists %d flags, more than anybody reads", n)
	}
	for _, flag := range choices {
		dsp(t, "train", "--"+flag, "foo", "--help").refused(exitBadInput, `"foo" is not known`)
	}
	if short := dsp(t, "train", "--task", "pipeline", "--help").ok().stdout; strings.Contains(short, "\n  --net ") || strings.Contains(short, "\n  --tune-encoder") || !strings.Contains(short, "\n  --crossing ") {
		t.Errorf("--task pipeline --help shows settings that pipelines refuse, or lacks some:\n%s", short)
	}
	dsp(t, "train", "--task", "foo", "--help").refused(exitBadInput, "align", "pipeline", "tag")
}

func TestCompletion(t *testing.T) {
	t.Parallel()
	for _, shell := range []string{"bash", "zsh", "fish", "powershell"} {
		if o := dsp(t, "completion", shell).ok(); !strings.Contains(o.stdout, "dsp") {
			t.Errorf("nothing for %s", shell)
		}
	}
}

func TestInfo(t *testing.T) {
	t.Parallel()
	var info struct {
		Version, Go, System, Vector, BLAS string
		GPUs                              []any
		NoGPU                             string `json:"no_gpu"`
	}
	o := dsp(t, "info", "--json").ok()
	o.json(&info)
	if info.Version == "" || info.Go == "" || info.System == "" || info.Vector == "" || info.BLAS == "" {
		t.Errorf("info lacks something: %s", o.stdout)
	}
	if (len(info.GPUs) > 0) != (info.NoGPU == "") {
		t.Errorf("info neither lists GPUs nor says why there is none: %s", o.stdout)
	}
}

func TestSelftest(t *testing.T) {
	t.Parallel()
	var report struct {
		OK     bool
		Checks []struct{ Name string }
	}
	o := dsp(t, "selftest", "--json").ok()
	o.json(&report)
	if !report.OK {
		t.Errorf("got %+v", report)
	}
	if lines := strings.Count(o.stderr, "\nok    "); lines != len(report.Checks) {
		t.Errorf("%d lines on stderr for %d checks", lines, len(report.Checks))
	}
	names := strings.Fields(dsp(t, "selftest", "--list", "--only", "^matching m").ok().stdout)
	if list := strings.Join(names, " "); !strings.HasPrefix(list, "matching max") {
		t.Errorf("the checks of matchings are %q", list)
	}
	if some := dsp(t, "selftest", "--only", "^matching m").ok().stdout; strings.Count(some, "\nok ") != 1 || !strings.Contains(some, "ok    matching max") {
		t.Errorf("%s, expected one check", some)
	}
	dsp(t, "selftest", "--only", "nothing").refused(exitBadInput, `--only "nothing"`, "--list")
	dsp(t, "selftest", "--only", "(").refused(exitBadInput, "--only", "missing closing")
	for _, kind := range registry.All {
		questions, o := []string{"max"}, kind.Oracle()
		if _, sums := o.(oracles.Summer); sums {
			questions = append(questions, "exp")
		}
		of := ""
		if r, ok := o.(oracles.Relaxed); ok && r.Relaxed() != "" {
			of = "bound of "
		}
		for _, question := range questions {
			name := kind.Name() + " " + of + question + " vs enumeration"
			if !slices.ContainsFunc(report.Checks, func(c struct{ Name string }) bool { return c.Name == name }) {
				t.Errorf("no check %q", name)
			}
		}
	}
}

// bench measures the oracle of every registered kind.
func TestBench(t *testing.T) {
	t.Parallel()
	var report struct {
		Speeds []struct {
			Part, What string
			Sequences  float64 `json:"sequences_per_second"`
		}
	}
	dsp(t, "bench", "--seconds", "0.001", "--json").ok().json(&report)
	measured := map[string]int{}
	for _, s := range report.Speeds {
		if !(s.Sequences > 0) {
			t.Errorf("%s, %s: %v sequences per second", s.Part, s.What, s.Sequences)
		}
		for _, kind := range registry.All {
			if strings.HasPrefix(s.Part, "oracle, "+kind.Name()+", ") {
				measured[kind.Name()]++
			}
		}
	}
	for _, kind := range registry.All {
		want, oracle := 2, kind.Oracle() // every answer at two sizes
		if _, ranks := oracle.(oracles.Ranker); ranks {
			want += 2
		}
		if _, sums := oracle.(oracles.Summer); sums {
			want += 2
		}
		if measured[kind.Name()] < want {
			t.Errorf("%d measurements of the oracle of a %s", measured[kind.Name()], kind.Name())
		}
	}
}

// DSP_KERNELS chooses the kernels of another processor.
func TestKernelsOfOtherProcessors(t *testing.T) {
	var info struct{ Vector string }
	dspIn(t, []string{"DSP_KERNELS=plain"}, "info", "--json").ok().json(&info)
	if info.Vector != "plain Go" {
		t.Errorf("DSP_KERNELS=plain runs kernels of %s", info.Vector)
	}
	dspIn(t, []string{"DSP_KERNELS=mmx"}, "info").refused(exitBadInput, "DSP_KERNELS=mmx: expected plain, avx2 or avx512")
}
