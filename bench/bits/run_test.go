package main

import (
	"context"
	"errors"
	"maps"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"testing"
)

// fake is a program that writes down its arguments in fake.log, beside it. It leaves a model and metrics, refuses the
// method fw, and fails with agm.
const fake = `#!/bin/sh
echo "$DSP_KERNELS $DSP_BLAS $*" >> "$0.log"
case "$1" in
info) [ "$DSP_KERNELS" != avx512 ] || exit 1 ;;
predict) echo "predicted by $DSP_KERNELS" ;;
train)
	while [ $# -gt 0 ]; do
		case "$1" in
		--out | --resume) out="$2" ;;
		--method) method="$2" ;;
		esac
		shift
	done
	[ "$method" != fw ] || exit 2
	[ "$method" != agm ] || exit 1
	mkdir -p "$out"
	printf '\002\000\000\000\000\000\000\000{}weights' > "$out/model.safetensors"
	echo '{"pass":1,"seconds":0.1}' > "$out/metrics.jsonl"
	;;
esac
`

// faked returns a bench of the fake program, and what it was called with.
func faked(t *testing.T) (b *bench, calls func() string) {
	t.Helper()
	if runtime.GOOS == "windows" {
		t.Skip("the program is a script")
	}
	dir := t.TempDir()
	program := filepath.Join(dir, "fake")
	if err := os.WriteFile(program, []byte(fake), 0o777); err != nil {
		t.Fatal(err)
	}
	mkdir, err := exec.LookPath("mkdir")
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(os.Mkdir(filepath.Join(dir, "bin"), 0o777),
		os.Symlink(mkdir, filepath.Join(dir, "bin", "mkdir"))); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", filepath.Join(dir, "bin")) // there is no mpirun
	b = &bench{program: program, scratch: filepath.Join(dir, "scratch")}
	if err := os.Mkdir(b.scratch, 0o777); err != nil {
		t.Fatal(err)
	}
	folder := regexp.MustCompile(regexp.QuoteMeta(b.scratch) + `(/run\d+)?`)
	return b, func() string {
		log, err := os.ReadFile(program + ".log")
		if err != nil && !errors.Is(err, os.ErrNotExist) {
			t.Fatal(err)
		}
		_ = os.Remove(program + ".log")
		return folder.ReplaceAllString(string(log), "SCRATCH")
	}
}

// Rows call the program as testdata/commands.txt has it: hashes are of these trainings, and of no others.
func TestCommands(t *testing.T) {
	b, calls := faked(t)
	table, err := readTable("table.tsv")
	if err != nil {
		t.Fatal(err)
	}
	if b.best, err = b.bestKernel(t.Context()); err != nil || b.best != "avx2" ||
		calls() != "avx512 own info --json\navx2 own info --json\n" {
		t.Errorf("the best kernel is %s, %v", b.best, err)
	}
	if err := b.drawData(t.Context()); err != nil {
		t.Fatal(err)
	}
	got := strings.Join(slices.Sorted(strings.Lines(calls())), "")
	seen := map[string]bool{}
	for _, r := range table.rows { // each choice once
		novel := false
		for f, x := range r.choices {
			name := factorNames[f] + x
			novel = novel || !seen[name] && homes[r.choices[home]].ranks == 0 && !homes[r.choices[home]].device &&
				r.choices[method] != "fw" && r.choices[method] != "agm"
			seen[name] = seen[name] || novel
		}
		if !novel {
			continue
		}
		hashes, err := b.measure(t.Context(), r, "avx2")
		if err != nil {
			t.Fatal(err)
		}
		got += "== " + r.name() + "\n" + calls()
		if parts := strings.Split(hashes, "/"); len(parts) != 3 ||
			(parts[1] == none) != (structures[r.choices[structure]].predict == "") || parts[0] != hash([]byte("weights")) ||
			parts[1] != none && parts[1] != hash([]byte("predicted by avx2\n")) {
			t.Errorf("%s: hashes %s", r.name(), hashes)
		}
	}
	if want, err := os.ReadFile("testdata/commands.txt"); err != nil || got != string(want) {
		t.Errorf("%v; the program is called now as follows; testdata/commands.txt has what was read\n%s", err, got)
	}
	for _, h := range slices.Sorted(maps.Keys(homes)) {
		r := &row{choices: table.rows[0].choices}
		r.choices[home] = h
		if got := strings.Join(b.arguments(r), " "); !strings.HasSuffix(got, homes[h].flags) {
			t.Errorf("%s: %s", h, got)
		}
	}
	if left, err := os.ReadDir(b.scratch); err != nil || len(left) != 0 {
		t.Errorf("%v left, %v", left, err)
	}
}

// Rows that differ are counted, and so are those without hashes and those that fail. An update writes the hashes, and
// says which moved.
func TestCompare(t *testing.T) {
	b, _ := faked(t)
	choices := [factors]string{"chain", "bcfw", "hinge", "auto", linear, "1-thread", whole}
	plain, err := b.measure(t.Context(), &row{choices: choices}, "plain")
	if err != nil {
		t.Fatal(err)
	}
	right, wrong, new, failing, refused, away := &row{choices: choices}, &row{choices: choices}, &row{choices: choices},
		&row{choices: choices}, &row{choices: choices}, &row{choices: choices}
	failing.choices[method], refused.choices[method], away.choices[home] = "agm", "fw", "device"
	rows := []*row{right, wrong, new, failing, refused, away}
	for _, r := range rows {
		r.hashes = map[string]string{"plain": plain}
	}
	wrong.hashes["plain"], new.hashes = "other", map[string]string{}
	if moved, unchecked, failed := b.compare(t.Context(), rows, []string{"plain"}, 2, false); moved != 1 ||
		unchecked != 2 || failed != 2 || wrong.hashes["plain"] != "other" {
		t.Errorf("%d differ, %d unchecked, %d failed", moved, unchecked, failed)
	}
	if _, err := b.measure(t.Context(), refused, "plain"); !errors.Is(err, errRefused) {
		t.Errorf("refused: %v", err)
	}
	if _, err := b.measure(t.Context(), failing, "plain"); err == nil || errors.Is(err, errRefused) ||
		errors.Is(err, errNotHere) {
		t.Errorf("failed: %v", err)
	}
	if _, err := b.measure(t.Context(), away, "plain"); !errors.Is(err, errNotHere) {
		t.Errorf("on a device that is not there: %v", err)
	}
	if moved, unchecked, failed := b.compare(t.Context(), rows, []string{"plain", "avx2"}, 3, true); moved != 1 ||
		unchecked != 2 || failed != 4 ||
		wrong.hashes["plain"] != plain || new.hashes["plain"] != plain || right.hashes["avx2"] == "" ||
		right.hashes["avx2"] == plain {
		t.Errorf("%d moved, %d unchecked, %d failed, %v", moved, unchecked, failed, right.hashes)
	}
	ctx, stop := context.WithCancel(t.Context())
	stop()
	if moved, unchecked, failed := b.compare(ctx, rows, []string{"plain"}, 1, false); moved+unchecked+failed != 0 {
		t.Errorf("after an interrupt: %d differ, %d unchecked, %d failed", moved, unchecked, failed)
	}
	if failures(0) != nil || failures(3) == nil || failures(3).Error() != "3 rows are not as in the table" {
		t.Error(failures(3))
	}
}

// Rows are added until each pair of choices occurs, as far as the program takes it. What is refused is not drawn.
func TestDrawRows(t *testing.T) {
	b, _ := faked(t)
	b.best = "plain"
	given := &row{choices: [factors]string{"chain", "bcfw", "hinge", "auto", linear, "1-thread", whole},
		hashes: map[string]string{"plain": "x"}}
	rows, err := drawRows(t.Context(), b, []*row{given}, regexp.MustCompile("^(oeg|fw)$"), 3)
	if err != nil {
		t.Fatal(err)
	}
	seen, kept := map[[factors]string]bool{}, false
	homesOf := map[string]bool{}
	for _, r := range rows {
		kept = kept || r == given
		if seen[r.choices] || r != given && r.choices[method] != "oeg" {
			t.Errorf("%s is there twice, or not of the method", r.name())
		}
		seen[r.choices] = true
		homesOf[r.choices[home]] = true
		if r != given && !plausible(&r.choices) {
			t.Errorf("%s does not go together", r.name())
		}
	}
	if !kept || len(rows) < 3 ||
		!slices.IsSortedFunc(rows, func(a, b *row) int { return slices.Compare(a.choices[:], b.choices[:]) }) ||
		!homesOf["3-threads"] || homesOf["device"] {
		t.Errorf("%d rows, %v", len(rows), homesOf)
	}
	if _, err := drawRows(t.Context(), b, nil, regexp.MustCompile("^agm$"), 2); err == nil ||
		!strings.HasSuffix(err.Error(), "runs fail") {
		t.Errorf("runs that fail: %v", err)
	}
}

// Choices that do not go together, as descriptors of methods say, are not plausible.
func TestPlausible(t *testing.T) {
	for _, c := range []struct {
		choices string
		want    bool
	}{
		{"chain bcfw hinge auto linear 1-thread whole", true}, {"chain bcfw crf auto linear 1-thread whole", false},
		{"chain lbfgs crf auto linear 1-thread whole", true},
		{"chain lbfgs hinge auto linear 1-thread whole", false}, {"windows svrg crf auto linear 1-thread whole", false},
		{"windows svrg hinge auto linear 1-thread whole", true},
		{"chain svrg crf l2 linear 1-thread whole", false}, {"chain svrg hinge l2 linear 1-thread whole", true},
		{"chain bcfw hinge l2 linear 1-thread whole", false},
		{"chain bcfw hinge auto network 1-thread whole", false}, {"chain adam hinge auto network 1-thread whole", true},
		{"siblings adam hinge auto network 1-thread whole", false},
		{"chain counts crf auto linear 2-ranks whole", false}, {"chain svrg hinge auto linear 2-ranks whole", true},
		{"chain sdca crf auto linear device whole", false},
		{"chain svrg crf auto linear device whole", true}, {"chain adam crf auto network device whole", false},
		{"chain-dense adam crf auto network device whole", true},
		{"boxes adam hinge auto network device whole", true}, {"trees counts crf auto linear 1-thread whole", false},
		{"chain counts crf auto linear 1-thread whole", true},
		{"chain sdca quadratic auto linear 1-thread whole", true},
		{"chain prox-linear quadratic auto network 1-thread whole", false},
	} {
		choices := [factors]string(strings.Fields(c.choices))
		if got := plausible(&choices); got != c.want {
			t.Errorf("%s: %v", c.choices, got)
		}
	}
	p := pair{method, home, "sdca", "2-ranks"}
	best, ok := complete(p, map[pair]bool{}, map[pair]int{}, newRandom())
	if !ok || best[method] != "sdca" || best[home] != "2-ranks" || !plausible(&best) {
		t.Errorf("%v, %v", best, ok)
	}
	if best, ok := complete(pair{method, loss, "bcfw", "crf"}, map[pair]bool{}, map[pair]int{}, newRandom()); ok {
		t.Errorf("%v goes together", best)
	}
	open := map[pair]bool{}
	for _, x := range values[structure] {
		if x == "warp" {
			open[pair{structure, method, x, "sdca"}] = true
		}
	}
	if best, ok := complete(p, open, map[pair]int{}, newRandom()); !ok || best[structure] != "warp" {
		t.Errorf("an open pair is not preferred: %v", best)
	}
	refused := map[pair]int{{structure, method, "warp", "sdca"}: 9}
	for _, x := range values[structure] {
		if x != "warp" && x != "chain" {
			refused[pair{structure, method, x, "sdca"}] = 1
		}
	}
	if best, ok := complete(p, map[pair]bool{}, refused, newRandom()); !ok || best[structure] != "chain" {
		t.Errorf("a pair that is often refused is preferred: %v", best)
	}
}

func newRandom() *rand.Rand { return rand.New(rand.NewPCG(1, 0)) }

// Lines of a table that do not have what the heading says are refused with their number.
func TestBadRows(t *testing.T) {
	content, err := os.ReadFile("table.tsv")
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.SplitAfterN(string(content), "\n", 4)
	head := lines[0] + lines[1] + lines[2]
	for text, want := range map[string]string{
		head + "x\n": ":4: 1 columns, expected 10",
		head + strings.Replace(lines[2], "alignment", "x", 1): ":4: no structure x", lines[0] + "structure\n" +
			lines[2]: ": expected two lines of heading", "hashes\n" + lines[1]: ": expected two lines of heading",
		lines[0]: ": expected two lines of heading",
	} {
		if _, err := readTable(write(t, []byte(text))); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, expected %s", text, err, want)
		}
	}
	empty, err := readTable(
		write(t, []byte(lines[0]+lines[1]+strings.Join(append(strings.Split(lines[2], "\t")[:7], "-", "a/b/c", "-"), "\t")+
			"\n")))
	if err != nil || len(empty.rows) != 1 || !maps.Equal(empty.rows[0].hashes, map[string]string{"avx2": "a/b/c"}) {
		t.Errorf("%+v, %v", empty, err)
	}
	path := filepath.Join(t.TempDir(), "t")
	if err := empty.write(path); err != nil {
		t.Fatal(err)
	}
	if got, err := os.ReadFile(path); err != nil || !strings.HasSuffix(string(got), "\t-\ta/b/c\t-\n") {
		t.Errorf("%s, %v", got, err)
	}
}
