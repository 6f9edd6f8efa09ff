package endtoend

import (
	"archive/zip"
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/ulikunitz/xz"
)

// Three binary variables in a loop that disagrees with itself: relaxations cannot be tight, exact answers are known by
// hand.
const frustrated = `MARKOV
3
2 2 2
4
1 0
2 0 1
2 1 2
2 2 0
2
1 2
4
1 3 3 1
4
1 3 3 1
4
1 3 3 1
`

// inferred is what dsp infer --json prints.
type inferred struct {
	Oracle            string
	Value, Bound, Gap float64
	LogPartition      *float64 `json:"log_partition"`
	Exact             bool
	Estimate          *float64
	Error             *float64 `json:"estimate_error"`
	Stopped           string
	Assignment        []int
	Marginals         [][]float64
}

func TestInfer(t *testing.T) {
	t.Parallel()
	file := write(t, "loop.uai", frustrated)
	evidence := write(t, "loop.evid", "1 1 1")
	var a inferred
	dsp(t, "infer", file, "--json").ok().json(&a)
	if want := math.Log(2 * 3 * 3); !a.Exact || a.Gap != 0 || math.Abs(a.Value-want) > 1e-9 || a.Assignment[0] != 1 {
		t.Errorf("map: %+v, want value %v with variable 0 in state 1", a, want)
	}
	dsp(t, "infer", file, "--json", "--oracle", "relaxed").unproven("--oracle search").json(&a)
	if a.Value > math.Log(18)+1e-9 || a.Bound < math.Log(18)-1e-9 || a.Exact {
		t.Errorf("relaxed: %+v, want a value below and a bound above %v", a, math.Log(18))
	}
	wide := dsp(t, "infer", file, "--json", "--oracle", "relaxed", "--gap", "9").ok()
	if wide.json(&a); a.Exact || a.Gap == 0 || !strings.Contains(wide.stderr, "need not be the best: --gap") {
		t.Errorf("a wide --gap proves nothing: %+v\n%s", a, wide.stderr)
	}
	z := 0.0 // by hand: each of 8 assignments
	for s := range 8 {
		z += weightOf(s&1, s>>1&1, s>>2)
	}
	dsp(t, "infer", file, "--json", "--task", "pr").ok().json(&a)
	if math.Abs(a.Value-math.Log(z)) > 1e-9 {
		t.Errorf("pr: %v, want %v", a.Value, math.Log(z))
	}
	dsp(t, "infer", file, "--json", "--task", "mar", "--evidence", evidence).ok().json(&a)
	high := weightOf(1, 1, 0) + weightOf(1, 1, 1)
	if want := high / (high + weightOf(0, 1, 0) + weightOf(0, 1, 1)); math.Abs(a.Marginals[0][1]-want) > 1e-9 || a.Marginals[1][1] != 1 {
		t.Errorf("mar: %v, want %v for variable 0 and 1 for variable 1", a.Marginals, want)
	}
	out := filepath.Join(t.TempDir(), "answer")
	dsp(t, "infer", file, "--out", file).refused(exitBadInput, "--out "+file+": this is what dsp infer reads; expected another file")
	dsp(t, "infer", file, "--evidence", evidence, "--out", evidence).refused(exitBadInput, "--out "+evidence+": this is what --evidence reads")
	dsp(t, "infer", file, "--evidence", evidence, "--out", out).ok()
	if text, err := os.ReadFile(out); err != nil || !strings.HasPrefix(string(text), "MAP\n3 ") || strings.Fields(string(text))[3] != "1" {
		t.Errorf("the answer is %q, %v", text, err)
	}
}

func weightOf(a, b, c int) float64 {
	w := 1 + float64(a)
	for _, differ := range []bool{a != b, b != c, c != a} {
		if differ {
			w *= 3
		}
	}
	return w
}

func TestInferRefuses(t *testing.T) {
	t.Parallel()
	file := write(t, "loop.uai", frustrated)
	dsp(t, "infer").refused(exitBadInput, "one file, in UAI format or .wcsp", "found 0", "dsp infer --help")
	dsp(t, "infer", file, file).refused(exitBadInput, "found 2")
	dspWith(t, "MARKOF", "infer", "-").refused(exitBadInput, `standard input:1: "MARKOF", expected MARKOV or BAYES`)
	dsp(t, "infer", "missing.uai").refused(exitBadInput, "missing.uai")
	dsp(t, "infer", write(t, "bad.uai", "MARKOV\n1\n0")).refused(exitBadInput, "bad.uai:3:")
	dsp(t, "infer", file, "--task", "max").refused(exitBadInput, "--task", "map")
	dsp(t, "infer", file, "--oracle", "exact").refused(exitBadInput, "--oracle", "junction")
	dsp(t, "infer", file, "--oracle", "tree").refused(exitBadInput, "loop.uai", "factor 3 closes a loop", "variables 2 and 0", "--oracle junction")
	dsp(t, "infer", file, "--oracle", "cut").refused(exitBadInput, "loop.uai", "odd number of factors that favour different states", "factor 2 of variables 1 and 2")
	dsp(t, "infer", file, "--oracle", "cut", "--task", "mar").refused(exitBadInput, "best assignment only", "#P-complete")
	dsp(t, "infer", file, "--bucket", "0").refused(exitBadInput, "--bucket 0")
	dsp(t, "infer", file, "--oracle", "junction", "--max-table", "7").refused(exitBadInput, "8 entries or more", "limit of 7; raise --max-table", "--oracle relaxed")
	dsp(t, "infer", file, "--evidence", write(t, "e", "1 7 0")).refused(exitBadInput, "e:1: variable 7")
	none := write(t, "none.uai", "MARKOV\n1\n2\n1\n1 0\n2\n0 0")
	dsp(t, "infer", none, "--task", "mar").refused(exitBadInput, "none.uai", "probability 0", "factor 0")
	dsp(t, "infer", none).refused(exitBadInput, "none.uai", "probability 0")
	rain := write(t, "rain.uai", "BAYES\n2\n2 2\n2\n1 0\n2 0 1\n2\n0.5 0.5\n4\n1 0 0.2 0.8")
	dry := write(t, "dry.evid", "2 0 0 1 1")
	for _, task := range []string{"map", "pr", "mar"} {
		dsp(t, "infer", rain, "--task", task, "--evidence", dry).refused(exitBadInput, "dry.evid", "probability 0", "factor 1", "rain.uai")
	}
	dsp(t, "infer", write(t, "short.uai", "MARKOV\n1\n2\n1\n1 0\n3 1 1 1")).refused(exitBadInput, "short.uai:6", "3 entries, expected 2")
	dsp(t, "infer", write(t, "negative.uai", "MARKOV\n1\n2\n1\n1 0\n2 1 -1")).refused(exitBadInput, "negative.uai:6", "at least 0")
	if o := dsp(t, "infer", none, "--task", "pr").ok(); o.stdout != "PR\n-inf\n" || !strings.Contains(o.stderr, "gap=0 ") {
		t.Errorf("pr of the empty distribution: %q\n%s", o.stdout, o.stderr)
	}
}

// auto says which oracle it takes; all exact oracles that fit a model agree, and bounds hold.
func TestInferOracles(t *testing.T) {
	t.Parallel()
	tree := write(t, "tree.uai", "BAYES\n3\n2 3 2\n3\n1 0\n2 0 1\n2 1 2\n2 0.4 0.6\n6 0.2 0.3 0.5 0.1 0.1 0.8\n6 0.5 0.5 0.9 0.1 0 1")
	smooth := write(t, "smooth.uai", strings.NewReplacer("3 1", "9 9", "1 3", "2 1").Replace(frustrated))
	loop := write(t, "loop.uai", frustrated)
	for _, test := range []struct {
		file, task, auto string
		fits             []string
	}{
		{tree, "map", "tree", []string{"junction", "search", "relaxed"}}, {tree, "pr", "tree", []string{"junction", "search", "relaxed"}}, {tree, "mar", "tree", []string{"junction", "search", "relaxed"}},
		{smooth, "map", "cut", []string{"junction", "search", "relaxed"}}, {loop, "map", "junction", []string{"search", "relaxed"}}, {loop, "mar", "junction", []string{"search", "relaxed"}},
	} {
		var want inferred
		o := dsp(t, "infer", test.file, "--json", "--task", test.task).ok()
		if o.json(&want); want.Oracle != test.auto || !want.Exact || want.Gap != 0 {
			t.Errorf("%s, %s: %+v, want %s", test.file, test.task, want, test.auto)
		}
		if !strings.Contains(o.stderr, "oracle="+test.auto) || test.auto != "tree" && !strings.Contains(o.stderr, "auto passes over tree: factor 3 closes a loop") {
			t.Errorf("%s, %s: the log does not say which oracle and why:\n%s", test.file, test.task, o.stderr)
		}
		for _, oracle := range test.fits {
			var a inferred
			o := dsp(t, "infer", test.file, "--json", "--task", test.task, "--oracle", oracle, "--bucket", "4")
			if o.json(&a); (o.code == exitDone) != a.Exact || (o.code == exitUnproven) == a.Exact {
				t.Errorf("%s, %s, %s: exit %d, exact %v", test.file, test.task, oracle, o.code, a.Exact)
			}
			if !(a.Value <= want.Value+1e-9) || !(a.Bound >= want.Value-1e-9) || a.Exact && math.Abs(a.Value-want.Value) > 1e-9 || oracle == "junction" && !a.Exact {
				t.Errorf("%s, %s, %s: %+v, want %+v", test.file, test.task, oracle, a, want)
			}
			if (test.task == "map") != (a.LogPartition == nil) || a.LogPartition != nil && *a.LogPartition != a.Bound {
				t.Errorf("%s, %s, %s: log_partition %v, bound %v", test.file, test.task, oracle, a.LogPartition, a.Bound)
			}
			for v, p := range a.Marginals {
				if math.Abs(p[0]-want.Marginals[v][0]) > 0.2 || a.Exact && math.Abs(p[0]-want.Marginals[v][0]) > 1e-9 {
					t.Errorf("%s, %s, %s: variable %d has %v, want %v", test.file, test.task, oracle, v, p, want.Marginals[v])
				}
			}
		}
	}
	if o := dsp(t, "infer", loop, "--task", "pr", "--oracle", "relaxed", "--bucket", "4").unproven(); !strings.Contains(o.stderr, "upper bound") || !strings.Contains(o.stderr, "oracle=relaxed") {
		t.Errorf("the log does not warn of a bound:\n%s", o.stderr)
	}
	if o := dsp(t, "infer", loop, "--task", "pr", "--max-table", "7", "--bucket", "4").ok(); !strings.Contains(o.stderr, "oracle=search exact=true") {
		t.Errorf("a search ends with an exact sum:\n%s", o.stderr)
	}
}

// An answer that is neither exact nor within --gap ends with 3, whatever the question, and whatever ended the work.
func TestInferUnproven(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(10, 1))
	var scopes, tables strings.Builder
	for u := range 10 {
		for v := range u {
			fmt.Fprintf(&scopes, "2 %d %d\n", u, v)
			tables.WriteString("9")
			for range 9 {
				fmt.Fprintf(&tables, " %.6g", math.Exp(2*r.NormFloat64()))
			}
			tables.WriteByte('\n')
		}
	}
	pairs := write(t, "pairs.uai", fmt.Sprintf("MARKOV\n10\n%s\n45\n%s%s", strings.Repeat("3 ", 10), scopes.String(), tables.String()))
	var a inferred
	dsp(t, "infer", pairs, "--task", "mar", "--max-table", "1000", "--gap", "1e-6", "--json").unproven("neither exact nor within --gap", "--max-table").json(&a)
	if a.Exact || !(a.Gap > 1e-6*math.Abs(a.Value)) {
		t.Errorf("%+v", a)
	}
	wide := fmt.Sprint(2 * a.Gap / math.Abs(a.Value))
	dsp(t, "infer", pairs, "--task", "mar", "--max-table", "1000", "--gap", wide).ok()
	for _, task := range []string{"map", "pr", "mar"} {
		dsp(t, "infer", pairs, "--task", task, "--oracle", "relaxed", "--passes", "1", "--bucket", "9").unproven("--oracle search")
		dsp(t, "infer", pairs, "--task", task, "--oracle", "relaxed", "--passes", "1", "--bucket", "9", "--gap", "100").ok()
	}
	dsp(t, "infer", pairs, "--task", "pr", "--max-table", "1000").ok()
}

// The answer to pr that is not exact is an estimate between the bounds, near the truth, and is called one.
func TestInferEstimates(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(26, 1))
	const side = 9
	var scopes, tables strings.Builder
	factors := 0
	for v := range side * side {
		for _, next := range []int{1, side} {
			if next == 1 && v%side == side-1 || v+next >= side*side {
				continue
			}
			fmt.Fprintf(&scopes, "2 %d %d\n", v, v+next)
			fmt.Fprintf(&tables, "4 %.6g %.6g %.6g %.6g\n", math.Exp(2*r.NormFloat64()), math.Exp(2*r.NormFloat64()), math.Exp(2*r.NormFloat64()), math.Exp(2*r.NormFloat64()))
			factors++
		}
	}
	grid := write(t, "grid.uai", fmt.Sprintf("MARKOV\n%d\n%s\n%d\n%s%s", side*side, strings.Repeat("2 ", side*side), factors, scopes.String(), tables.String()))
	var truth inferred
	dsp(t, "infer", grid, "--task", "pr", "--json").ok().json(&truth)
	if !truth.Exact || truth.Estimate != nil {
		t.Fatalf("%+v", truth)
	}
	for _, args := range [][]string{{"--oracle", "relaxed", "--bucket", "8"}, {"--oracle", "search", "--bucket", "8", "--gap", "0.5"}} {
		var a inferred
		o := dsp(t, append([]string{"infer", grid, "--task", "pr", "--json"}, args...)...)
		o.json(&a)
		if a.Estimate == nil || a.Error == nil || *a.Estimate < a.Value || *a.Estimate > a.Bound || math.Abs(*a.Estimate-truth.Value) > 5**a.Error+1e-9 || *a.Error > 0.2 {
			t.Fatalf("%v: %+v, log Z is %v", args, a, truth.Value)
		}
		text := dsp(t, append([]string{"infer", grid, "--task", "pr"}, args...)...)
		decimal, err := strconv.ParseFloat(strings.TrimSpace(strings.TrimPrefix(text.stdout, "PR\n")), 64)
		if err != nil || math.Abs(decimal*math.Ln10-*a.Estimate) > 1e-6 || !strings.Contains(text.stderr, "the answer is an estimate of the partition function, between a lower and an upper bound") {
			t.Errorf("%v: %s%s", args, text.stdout, text.stderr)
		}
	}
}

// tangle writes a network that no search proves: 150 variables of 8 states, each in factors with 8 others. Any
// assignment is allowed.
func tangle(t *testing.T) string {
	r := rand.New(rand.NewPCG(1, 1))
	const variables, pairs = 150, 600
	var scopes, tables strings.Builder
	for range pairs {
		u := r.IntN(variables)
		fmt.Fprintf(&scopes, "2 %d %d\n", u, (u+1+r.IntN(variables-1))%variables)
		tables.WriteString("64")
		for range 64 {
			fmt.Fprintf(&tables, " %.6g", math.Exp(r.NormFloat64()))
		}
		tables.WriteByte('\n')
	}
	return write(t, "tangle.uai", fmt.Sprintf("MARKOV\n%d\n%s\n%d\n%s%s", variables, strings.Repeat("8 ", variables), pairs, scopes.String(), tables.String()))
}

// Entries that float64 cannot hold count as what the file says.
func TestInferSmallestEntries(t *testing.T) {
	t.Parallel()
	for _, entries := range []string{"1e-320 3e-320", "1e-400 3e-400", "1e400 3e400"} {
		file := write(t, "small.uai", "MARKOV 2  2 2  2  1 0 1 1  2 "+entries+" 2 0.5 0.5")
		var a inferred
		dsp(t, "infer", file, "--task", "mar", "--json").ok().json(&a)
		if !a.Exact || math.Abs(a.Marginals[0][0]-0.25) > 1e-12 || math.Abs(a.Marginals[1][0]-0.5) > 1e-12 {
			t.Errorf("%s: %+v", entries, a)
		}
	}
}

// A signal, or --time, ends infer with the best answer so far, which says that it is not proven.
func TestInferStops(t *testing.T) {
	t.Parallel()
	file := tangle(t)
	for _, task := range []string{"map", "pr", "mar"} {
		for _, signal := range []os.Signal{os.Interrupt, syscall.SIGTERM} {
			out := filepath.Join(t.TempDir(), "answer.json")
			code, stderr := signalled(t, signal, out, "infer", file, "--task", task, "--json")
			var a inferred
			text, err := os.ReadFile(out)
			if err == nil {
				err = json.Unmarshal(text, &a)
			}
			if err != nil || code != exitInterrupted || a.Exact || a.Stopped != "signal" || !(a.Value < a.Bound) || (task == "map") != (len(a.Assignment) == 150) {
				t.Errorf("%s, %v: exit %d, %v, %+v\n%s", task, signal, code, err, a, stderr)
			}
			if !strings.Contains(stderr, "stopped by a signal") || !strings.Contains(stderr, "auto passes over junction") {
				t.Errorf("%s, %v: the log does not say what was decided, or why it ended:\n%s", task, signal, stderr)
			}
		}
	}
	o := dsp(t, "infer", file, "--time", "50ms", "--json")
	var a inferred
	o.json(&a)
	if o.code != exitUnproven || a.Exact || a.Stopped != "time" || !strings.Contains(o.stderr, "--time ended") {
		t.Errorf("--time: exit %d, %+v\n%s", o.code, a, o.stderr)
	}
	dsp(t, "infer", file, "--time", "-1s").refused(exitBadInput, "--time -1s")
	dsp(t, "infer", file, "--time", "soon").refused(exitBadInput, "--time soon", "30s")
	if easy := dsp(t, "infer", write(t, "loop.uai", frustrated), "--oracle", "search", "--time", "1h", "--json").ok(); !strings.Contains(easy.stdout, `"exact":true`) || strings.Contains(easy.stdout, "stopped") {
		t.Errorf("a proof within the time: %s", easy.stdout)
	}
}

// signalled starts the program, sends a signal once the log tells of a value, and returns the exit code and the log.
// Standard output goes to a file.
func signalled(t *testing.T, signal os.Signal, out string, args ...string) (code int, stderr string) {
	t.Helper()
	file, err := os.Create(out)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	cmd := exec.Command(binary, args...)
	cmd.Stdout = file
	pipe, err := cmd.StderrPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	value := regexp.MustCompile(`value=-?[0-9]`)
	var log strings.Builder
	for lines, sent := bufio.NewScanner(pipe), false; lines.Scan(); {
		log.WriteString(lines.Text() + "\n")
		if !sent && value.MatchString(lines.Text()) {
			sent = true
			if err := cmd.Process.Signal(signal); err != nil {
				t.Fatal(err)
			}
		}
	}
	_ = cmd.Wait() // the exit code says how it ended
	return cmd.ProcessState.ExitCode(), log.String()
}

// A weighted constraint network, compressed by xz: three variables of which no two may be equal, with costs.
func TestInferWCSP(t *testing.T) {
	t.Parallel()
	text := "colours 3 3 4 100\n3 3 3\n-2 0 1 0 3\n0 0 100\n1 1 100\n2 2 100\n2 1 2 0 -1\n2 0 2 0 -1\n1 0 2 1\n1 7\n"
	var packed bytes.Buffer
	w, err := xz.NewWriter(&packed)
	if err == nil {
		_, err = io.WriteString(w, text)
	}
	if err == nil {
		err = w.Close()
	}
	if err != nil {
		t.Fatal(err)
	}
	file, arrays := write(t, "colours.wcsp.xz", packed.String()), filepath.Join(t.TempDir(), "answer.npz")
	var a inferred
	dsp(t, "infer", file, "--oracle", "search", "--json", "--to", arrays).ok().json(&a)
	if !a.Exact || a.Value != -2 || a.Assignment[0] == 1 || a.Assignment[0] == a.Assignment[1] || a.Assignment[1] == a.Assignment[2] || a.Assignment[0] == a.Assignment[2] {
		t.Errorf("%+v", a)
	}
	z, err := zip.OpenReader(arrays)
	if err != nil {
		t.Fatal(err)
	}
	defer z.Close()
	var names []string
	for _, f := range z.File {
		names = append(names, f.Name)
	}
	if got := strings.Join(names, " "); got != "value.npy bound.npy exact.npy cost.npy states.npy" {
		t.Errorf("the archive holds %s", got)
	}
	large := write(t, "large.wcsp", "large 1 2 1 9223372036854775807\n2\n1 0 9007199254740995 1\n1 9007199254740993\n")
	if o := dsp(t, "infer", large, "--json").ok(); !strings.Contains(o.stdout, `"value":-9007199254740993,"bound":-9007199254740993,"gap":0`) || !strings.Contains(o.stdout, `"assignment":[1]`) {
		t.Errorf("a cost above 2^53: %s", o.stdout)
	}
	dsp(t, "infer", write(t, "wide.wcsp", "wide 1 2 1 9223372036854775807\n2\n1 0 0 1\n1 9007199254740993\n"), "--json").unproven("neither exact").json(&a)
	full := write(t, "full.wcsp", "full 1 1 2 9223372036854775807\n1\n1 0 9223372036854775806 0\n1 0 1 0\n")
	dsp(t, "infer", full).refused(exitBadInput, "full.wcsp", "costs 9223372036854775807 or more")
	dsp(t, "infer", file, "--to", "answer.csv").refused(exitBadInput, "--to answer.csv", ".npz")
	dsp(t, "infer", write(t, "dear.wcsp", "dear 1 2 1 5\n2\n1 0 4 1\n0 9\n")).ok()
	dsp(t, "infer", write(t, "dearer.wcsp", "dearer 2 2 2 5\n2 2\n1 0 3 0\n1 1 3 0\n")).refused(exitBadInput, "dearer.wcsp", "costs 5 or more")
	dsp(t, "infer", write(t, "global.wcsp", "global 2 2 1 5\n2 2\n2 0 1 -1 salldiff var 1\n")).refused(exitBadInput, "global.wcsp:3", "intension")
	dsp(t, "infer", write(t, "cut.wcsp.xz", packed.String()[:packed.Len()/2])).refused(exitBadInput, "cut.wcsp.xz:", "the file ends in the middle of xz data")
	dsp(t, "infer", write(t, "sum.wcsp.xz", packed.String()[:packed.Len()-1])).refused(exitBadInput, "sum.wcsp.xz:")
	dsp(t, "infer", write(t, "letter.wcsp", strings.Replace(text, "1 1 100", "1 x 100", 1))).refused(exitBadInput, `letter.wcsp:5: "x", expected a state`)
}
