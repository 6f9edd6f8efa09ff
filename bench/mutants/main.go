// Command mutants measures what tests notice: it makes single harmful changes, drawn from the syntax trees of packages
// with a fixed seed, runs the tests of the package and of those that import it with each, and prints the share that
// some test notices, by package. Files stay as they are: go sees a change in an overlay.
//
//	go run ./bench/mutants -each 2                        two changes in each package of more than 300 lines
//	go run ./bench/mutants -n 40 -seed 7                  40 changes, in packages drawn at random
//	go run ./bench/mutants -each 10 models/data/pieces    ten in one package
//
// A change after which its package does not compile is not tried. Left out, too, is what no test could notice: lines of
// the log, the capacity of a slice, how large the number is that a comparison returns, the order of arguments of which
// none comes first, and an early return of what a function returns at once anyway. All other changes count, those of
// messages and pictures, too.
//
// The tests of all packages that import the changed one count. Three of these are run at once (-users), first those
// that mention what is changed. Changes that these tests do not notice are open: they are tried, after all others, with
// the tests of the other importing packages, and then with those of the whole program (-then), which are counted apart.
// Tests that take more than -memory have noticed a change, and so have those that take longer than -timeout, unless
// they do without it. A change that survives shows a test that is missing, or changes nothing: a reader must tell.
//
// Files that work with a device are left out unless make test-gpu's emulated device is there to test them:
//
//	make emulator && eval "$(make -s gpu-env)" && export GOFLAGS=-tags=gpu DSP_CUDA_LIBRARY=$PWD/build/libcuda-emulated.so
package main

import (
	"context"
	"flag"
	"fmt"
	"hash/fnv"
	"io"
	"math/rand/v2"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// settings say what is to be drawn and run.
type settings struct {
	module   string
	each, n  int
	lines    int
	users    int
	seed     uint64
	list     bool
	then     []string
	packages []string
}

func main() {
	var s settings
	r := new(runner)
	var memory float64
	flag.IntVar(&s.each, "each", 1, "changes in each package")
	flag.IntVar(&s.n, "n", 0, "changes in all, in packages drawn at random; 0: no limit")
	flag.IntVar(&s.lines, "lines", 300, "only packages of more lines than that")
	flag.IntVar(&s.users, "users", 3,
		"packages that import the changed one whose tests are run at once; all others are run with what these do not notice")
	flag.Uint64Var(&s.seed, "seed", 1, "of what is drawn")
	flag.BoolVar(&s.list, "list", false, "list the changes that would be tried first, and run nothing")
	then := flag.String("then", "cmd/dsp/cli,docs,cmd/dsp/endtoend", "packages, separated by commas, whose tests are "+
		"run with what no other test notices")
	flag.DurationVar(&r.limit, "timeout", 10*time.Minute, "for the tests of one package")
	flag.Float64Var(&memory, "memory", 6, "GiB that the tests of one package may hold, on Linux")
	flag.StringVar(&s.module, "module", ".", "folder of the module")
	flag.Parse()
	s.packages, s.then, r.memory = flag.Args(), strings.Split(*then, ","), int64(memory*(1<<30))
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, os.Stdout, s, r); err != nil {
		fmt.Fprintln(os.Stderr, "mutants:", err)
		os.Exit(1)
	}
}

// score counts the changes of a package.
type score struct {
	path           string
	lines          int
	noticed, tried int
	late           int // of those noticed, by tests of the whole program alone
	open           int // tried, not noticed, and not yet tried with all tests
}

// mutant is a change that the tests of its package and of the first of its users do not notice.
type mutant struct {
	change
	source []byte
	where  string
	users  []string // packages that import the changed one and have not been run
	last   []string // packages that test the whole program
	of     *score
}

func run(ctx context.Context, out io.Writer, s settings, r *runner) (err error) {
	if r.module, err = filepath.Abs(s.module); err != nil {
		return err
	}
	all, types, err := list(r.module)
	if err != nil {
		return err
	}
	if r.scratch, err = os.MkdirTemp("", "mutants"); err != nil {
		return err
	}
	defer os.RemoveAll(r.scratch)
	rand.New(rand.NewPCG(s.seed, 0)).Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
	var scores []*score
	var open []mutant
	left := s.n
	for _, p := range all {
		if s.n > 0 && left == 0 || ctx.Err() != nil {
			break
		}
		if !s.wants(r.module, p) {
			continue
		}
		each := s.each
		if s.n > 0 {
			each = min(each, left)
		}
		of, some, err := s.change(ctx, out, r, types, p, each)
		for k := range some {
			some[k].last = s.last(r.module, all, p)
		}
		open = append(open, some...)
		if left -= of.tried; of.tried > 0 {
			scores = append(scores, of)
		}
		if err != nil && ctx.Err() == nil {
			return err
		}
	}
	for _, m := range open {
		if err := m.tryLast(ctx, out, r); err != nil && ctx.Err() == nil {
			return err
		}
	}
	if !s.list {
		report(out, scores)
	}
	return nil
}

// wants reports whether changes of a package are asked for and can be noticed.
func (s *settings) wants(module string, p *goPackage) bool {
	if p.helps() || !p.tested() && len(p.users) == 0 {
		return false
	}
	folder, err := filepath.Rel(module, p.Dir)
	if err != nil {
		return false
	}
	folder = filepath.ToSlash(folder)
	return len(s.packages) == 0 || slices.Contains(s.packages, folder) || slices.Contains(s.packages, "./"+folder)
}

// last returns the packages that are tested with what no other test of p notices.
func (s *settings) last(module string, all []*goPackage, p *goPackage) (paths []string) {
	for _, folder := range s.then {
		for _, q := range all {
			if q.Dir == filepath.Join(module, filepath.FromSlash(folder)) && q.tested() && q.on[p.ImportPath] {
				paths = append(paths, q.ImportPath)
			}
		}
	}
	return paths
}

// change tries changes of a package until enough of them have compiled. It also returns those that no test noticed.
func (s *settings) change(
	ctx context.Context, out io.Writer, r *runner, types *compiled, p *goPackage, each int,
) (of *score, open []mutant, err error) {
	of = &score{path: p.ImportPath}
	changes, err := p.changes(os.ReadFile)
	if of.lines = p.lines; err != nil || p.lines <= s.lines {
		return of, nil, err
	}
	name := fnv.New64a()
	_, _ = io.WriteString(name, p.ImportPath)
	random := rand.New(rand.NewPCG(s.seed, name.Sum64()))
	random.Shuffle(len(changes), func(i, j int) { changes[i], changes[j] = changes[j], changes[i] })
	for _, c := range evenly(changes) {
		if of.tried == each {
			break
		}
		source, err := os.ReadFile(c.file)
		if err != nil {
			return of, open, err
		}
		changed := c.apply(source)
		if !types.accepts(p, c.file, changed) {
			continue
		}
		at, _ := filepath.Rel(r.module, c.file)
		where := fmt.Sprintf("%s:%d: %s", filepath.ToSlash(at), c.line, c.describe(source))
		if s.list {
			of.tried++
			fmt.Fprintln(out, where)
			continue
		}
		users := p.usersOf(c)
		first := min(max(s.users, 0), len(users))
		got, by, err := r.try(ctx, c, changed, append([]string{p.ImportPath}, users[:first]...))
		if err != nil {
			return of, open, err
		}
		switch got {
		case invalid:
			continue
		case survived:
			of.open++
			fmt.Fprintf(out, "%-8s %s\n", "open", where)
			open = append(open, mutant{change: c, source: source, where: where, users: users[first:], of: of})
		default:
			of.noticed++
			fmt.Fprintf(out, "%-8s %s [%s]\n", got, where, by)
		}
		of.tried++
	}
	return of, open, nil
}

// tryLast runs the tests of the other users with a change, and then those of the whole program.
func (m *mutant) tryLast(ctx context.Context, out io.Writer, r *runner) error {
	late := false
	got, by, err := r.try(ctx, m.change, m.apply(m.source), m.users)
	if err == nil && got == survived {
		late = true
		got, by, err = r.try(ctx, m.change, m.apply(m.source), m.last)
	}
	switch {
	case err != nil:
		fmt.Fprintf(out, "%-8s %s [not tried with all tests]\n", survived, m.where)
		return err
	case got == survived:
		fmt.Fprintf(out, "%-8s %s\n", got, m.where)
	case !late:
		m.of.noticed++
		fmt.Fprintf(out, "%-8s %s [%s]\n", got, m.where, by)
	default:
		m.of.noticed++
		m.of.late++
		fmt.Fprintf(out, "%-8s %s [%s, of the whole program]\n", got, m.where, by)
	}
	m.of.open--
	return nil
}

// evenly orders drawn changes such that their kinds take turns: comparisons are many, and early returns few.
func evenly(changes []change) []change {
	turn, seen := make([]int, len(changes)), map[string]int{}
	order := make([]int, len(changes))
	for k, c := range changes {
		order[k], turn[k] = k, seen[c.kind]
		seen[c.kind]++
	}
	slices.SortStableFunc(order, func(a, b int) int { return turn[a] - turn[b] })
	to := make([]change, len(changes))
	for k, from := range order {
		to[k] = changes[from]
	}
	return to
}

// report prints the scores by package, the lowest first, and that of all.
func report(out io.Writer, scores []*score) {
	if len(scores) == 0 {
		fmt.Fprintln(out, "no package with tests is large enough")
		return
	}
	slices.SortFunc(scores, func(a, b *score) int { return strings.Compare(a.path, b.path) })
	fmt.Fprintf(out, "\n%-64s %6s %9s\n", "package", "lines", "noticed")
	total := &score{path: "all"}
	for _, of := range scores {
		total.noticed, total.tried, total.lines = total.noticed+of.noticed, total.tried+of.tried, total.lines+of.lines
		total.late, total.open = total.late+of.late, total.open+of.open
		fmt.Fprintln(out, of)
	}
	fmt.Fprintln(out, total)
	if total.late > 0 {
		fmt.Fprintf(out, "%d of those noticed only by tests of the whole program\n", total.late)
	}
	if total.open > 0 {
		fmt.Fprintf(out, "%d of the others not tried with all tests\n", total.open)
	}
}

func (s *score) String() string {
	share := 100 * float64(s.noticed) / float64(s.tried)
	return fmt.Sprintf("%-64s %6d %4d / %-4d %3.0f %%", s.path, s.lines, s.noticed, s.tried, share)
}
