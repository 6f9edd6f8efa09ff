package cli

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"math"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"github.com/dsp-go/dsp/models/data/arrays"
	"github.com/dsp-go/dsp/models/data/formats"
	"github.com/dsp-go/dsp/models/data/uai"
	"github.com/dsp-go/dsp/models/settings"
	"github.com/dsp-go/dsp/oracles/factors"
	"github.com/dsp-go/dsp/oracles/query"
	"github.com/dsp-go/dsp/structured"
	"github.com/dsp-go/dsp/structured/machine/host"
)

// inference holds the flags of dsp infer.
type inference struct {
	task, evidence, oracle, out string
	to                          string
	seed                        uint64
	maxTable, bucket, gap       float64
	passes                      int
	time                        time.Duration
	json                        bool
	upper                       int64 // costs that a constraint network's solutions stay below
}

func inferCommand() *cobra.Command {
	f := inference{}
	cmd := &cobra.Command{
		Use:   "infer FILE",
		Short: "Solve a graphical model that comes from elsewhere",
		Long: `infer reads a MARKOV or BAYES network in the format of the UAI competitions, with factors of any order, or a weighted
constraint network (FILE.wcsp) whose costs are given in extension, and answers in the competitions' result format: the most
probable assignment (map), the partition function (pr) or the probabilities of each variable's states (mar). Values are
natural logarithms in messages and in JSON, for constraint networks costs times -1; decimal logarithms in the answer to pr.

--oracle tree      exact, for factor graphs without loops, however large
--oracle cut       exact, map only, for variables of two states whose factors favour equal states
--oracle junction  exact; its memory grows exponentially with the width of the network, and --max-table limits it
--oracle search    for every network, at any time an answer and how good it is, in the end exact: map searches for better
                   assignments and lowers a bound until both meet; pr and mar keep log Z between two bounds, which
                   come closer with time, and answer with the upper one; marginals are approximate unless they meet
--oracle relaxed   for every network, bounds by messages alone, no search
--oracle auto      takes the first of tree, cut, junction and search that can answer, and says why not an earlier one

Ctrl-C, SIGTERM and --time stop it with the best answer so far. The exit code is 0 where the answer is exact, or what
--oracle relaxed or --gap asked for; 3 where --time ended before; 130 after a signal. --json says the same: exact, stopped.`,
		Example: `  dsp infer grid.uai
  dsp infer grid.uai --task mar --evidence grid.uai.evid --out grid.mar
  dsp infer pedigree.uai.xz --time 2m --json
  dsp infer radio.wcsp --to radio.npz
  dsp infer large.uai --oracle relaxed --passes 500 --gap 1e-6
  dsp infer large.uai --task pr --oracle relaxed --bucket 65536`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) != 1 {
				return fmt.Errorf("infer takes one file, in UAI format or .wcsp, found %d", len(args))
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			f.json = isSet(cmd, "json")
			return f.run(cmd.Context(), args[0])
		},
	}
	flags := cmd.Flags()
	flags.SortFlags = false
	flags.StringVar(&f.task, "task", query.MAP, "what to compute: `map|pr|mar`")
	flags.StringVar(&f.evidence, "evidence", "", "`FILE` with the states of observed variables")
	flags.StringVar(&f.oracle, "oracle", query.Auto, "how to compute it: `auto|tree|junction|cut|search|relaxed`")
	flags.Float64Var(&f.maxTable, "max-table", 1e8, "the most table `ENTRIES` that a junction tree, or a search, may have, 8 bytes each")
	flags.Float64Var(&f.bucket, "bucket", 512, "the most `ENTRIES` of each table of --oracle relaxed for pr and mar; larger tables give closer bounds and take longer; search begins with these")
	flags.IntVar(&f.passes, "passes", 200, "the most passes of --oracle relaxed, `N`, and of search before larger tables")
	flags.Float64Var(&f.gap, "gap", 0, "search, and for map relaxed, stops where the bound is above the value by at most this part `G` of it; 0 asks for a proof")
	flags.Uint64Var(&f.seed, "seed", 1, "`SEED` of what search draws")
	flags.DurationVar(&f.time, "time", 0, "stop after this `DURATION`, such as 30s or 5m, with the best answer so far; 0 sets no limit")
	flags.StringVar(&f.to, "to", "", "`FILE.npz` for value, bound, exact, and states, or marginals with offsets, beside the answer")
	flags.StringVar(&f.out, "out", "", "`FILE` for the answer; standard output by default")
	return cmd
}

func (f *inference) check() error {
	if err := settings.OneOf("--task", f.task, []string{query.MAP, query.PR, query.MAR}); err != nil {
		return err
	}
	if err := settings.OneOf("--oracle", f.oracle, []string{query.Auto, query.Tree, query.Junction, query.Cut, query.Search, query.Relaxed}); err != nil {
		return err
	}
	switch {
	case !(f.maxTable >= 1):
		return structured.BadInput("--max-table %v: expected a number of at least 1", f.maxTable)
	case !(f.bucket >= 1):
		return structured.BadInput("--bucket %v: expected a number of at least 1", f.bucket)
	case f.passes < 1:
		return structured.BadInput("--passes %d: expected at least 1", f.passes)
	case f.time < 0:
		return structured.BadInput("--time %v: expected a duration of at least 0", f.time)
	case f.to != "" && filepath.Ext(f.to) != ".npz":
		return structured.BadInput("--to %s: expected a file whose name ends in .npz", f.to)
	case !(f.gap >= 0):
		return structured.BadInput("--gap %v: expected a number of at least 0", f.gap)
	}
	return nil
}

// answer is what infer prints as JSON. Values are natural logarithms, null for probability 0.
type answer struct {
	Task         string      `json:"task"`
	Oracle       string      `json:"oracle"`
	Value        *float64    `json:"value"`
	Bound        *float64    `json:"bound"`
	Gap          *float64    `json:"gap"` // bound − value
	RelativeGap  *float64    `json:"relative_gap"`
	Exact        bool        `json:"exact"`
	Width        int         `json:"width,omitempty"`
	Stopped      string      `json:"stopped,omitempty"`  // "time" or "signal", if that came before the end
	Rounding     float64     `json:"rounding,omitempty"` // by which an exact value may be off
	Nodes        int         `json:"nodes,omitempty"`    // of a search
	Seconds      float64     `json:"seconds"`
	LogPartition *float64    `json:"log_partition,omitempty"` // of pr and mar; an upper bound if not exact
	Assignment   []int       `json:"assignment,omitempty"`
	Marginals    [][]float64 `json:"marginals,omitempty"`
}

func (f *inference) run(ctx context.Context, path string) error {
	if err := f.check(); err != nil {
		return err
	}
	m, evidence, err := f.read(ctx, path)
	if err != nil {
		return err
	}
	start := time.Now()
	limited := ctx
	if f.time > 0 {
		var cancel func()
		limited, cancel = context.WithTimeout(ctx, f.time)
		defer cancel()
	}
	shown := newInferProgress(os.Stderr, start)
	found, err := query.Solve(limited, m.Observe(evidence), f.task, query.Settings{
		Oracle: f.oracle, Table: f.maxTable, Bucket: f.bucket, Passes: f.passes, Gap: f.gap, Seed: f.seed, Report: shown.report, Decide: shown.decide,
	})
	shown.end()
	stopped := ""
	switch {
	case ctx.Err() != nil:
		stopped = "signal"
	case limited.Err() != nil:
		stopped = "time"
	}
	if err != nil && limited.Err() != nil {
		return f.unproven(stopped)
	}
	if err != nil {
		return structured.BadInput("%s: --oracle %s: %w%s", path, f.oracle, err, f.instead())
	}
	seconds := time.Since(start).Seconds()
	if found.Exact {
		stopped = ""
	}
	if err := f.impossible(path, m, evidence, found); err != nil {
		return err
	}
	for v, s := range evidence {
		if s == factors.Free {
			continue
		}
		if found.States != nil {
			found.States[v] = s
		}
		if found.Marginals != nil {
			found.Marginals[v] = make([]float64, m.States[v])
			found.Marginals[v][s] = 1
		}
	}
	f.log(path, found, seconds, stopped)
	if err := f.write(found, seconds, stopped); err != nil || stopped == "" {
		return err
	}
	return f.unproven(stopped)
}

// errUnproven means that --time ended before the answer was exact; it was given all the same.
var errUnproven = errors.New("--time ended before the answer was proven")

// unproven returns the error for an answer that is not exact because infer was stopped.
func (f *inference) unproven(stopped string) error {
	if stopped == "signal" {
		return fmt.Errorf("stopped by a signal before the answer was proven: %w", context.Canceled)
	}
	return errUnproven
}

// instead says what to do where the oracle that was asked for does not fit.
func (f *inference) instead() string {
	switch f.oracle {
	case query.Tree:
		return "; --oracle junction takes loops"
	case query.Cut:
		return "; --oracle auto takes the best one that fits"
	case query.Junction:
		return "; --oracle relaxed needs no such tables and gives bounds"
	}
	return "; lower --bucket"
}

// impossible refuses questions about a model, or evidence, of probability 0. The partition function of a model without evidence may be 0.
func (f *inference) impossible(path string, m *factors.Model, evidence []int, found *query.Answer) error {
	if f.upper > 0 && found.Exact && f.task == query.MAP && -found.Value >= float64(f.upper) {
		return structured.BadInput("%s: every assignment costs %d or more, which is the file's upper bound", path, f.upper)
	}
	if !math.IsInf(found.Bound, -1) || f.task == query.PR && f.evidence == "" {
		return nil
	}
	place, which, observed := path, "every assignment", m.Observe(evidence)
	if f.evidence != "" {
		place, which = f.evidence, "every assignment that agrees with the evidence"
	}
	for k, factor := range observed.Factors {
		if !slices.ContainsFunc(factor.Table, func(x float64) bool { return !math.IsInf(x, -1) }) {
			return structured.BadInput("%s: %s has probability 0: factor %d of %s, of the variables %v, has only zeros there", place, which, k, path, m.Factors[k].Scope)
		}
	}
	return structured.BadInput("%s: %s has probability 0", place, which)
}

// finite returns nil for −∞ and for the difference of such numbers, which JSON cannot hold.
func finite(x float64) *float64 {
	if math.IsInf(x, 0) || math.IsNaN(x) {
		return nil
	}
	return &x
}

func (f *inference) log(path string, a *query.Answer, seconds float64, stopped string) {
	args := []any{"oracle", a.Oracle, "exact", a.Exact, "value", digits(a.Value), "bound", digits(a.Bound), "gap", fmt.Sprintf("%.2g", a.Gap()), "seconds", fmt.Sprintf("%.2g", seconds)}
	if a.Width > 0 {
		args = append(args, "width", a.Width)
	}
	if a.Nodes > 0 {
		args = append(args, "nodes", a.Nodes)
	}
	switch {
	case a.Exact:
	case f.task == query.MAP && math.IsInf(a.Value, -1) && stopped == "":
		slog.Warn("found no assignment of positive probability, and no proof that there is none; raise --passes, or take --oracle search")
	case f.task == query.MAP && math.IsInf(a.Value, -1):
		slog.Warn("found no assignment of positive probability yet, and no proof that there is none")
	case f.task == query.MAP && stopped != "":
		slog.Warn("the assignment need not be the best: stopped by " + stopped + "; the bound says how far off it may be")
	case f.task == query.MAP && a.Gap() <= f.gap*math.Abs(a.Value):
		slog.Warn("the assignment need not be the best: --gap lets --oracle " + a.Oracle + " stop here")
	case f.task == query.MAP:
		slog.Warn("the assignment need not be the best: no exact oracle was used")
	case stopped != "":
		slog.Warn("the answer is an upper bound of the partition function: stopped by " + stopped + "; value is a lower bound")
	default:
		slog.Warn("the answer is an upper bound of the partition function and its marginals: no exact oracle was used")
	}
	slog.Info(path, args...)
}

func (f *inference) read(ctx context.Context, path string) (m *factors.Model, evidence []int, err error) {
	err = formats.Open(path, func(r io.Reader) error {
		r = interruptible{ctx, r}
		if !uai.IsWCSP(path) {
			m, err = uai.ReadModel(r, path)
			return err
		}
		m, f.upper, err = uai.ReadWCSP(r, path)
		return err
	})
	if err == nil {
		evidence = make([]int, len(m.States))
		for v := range evidence {
			evidence[v] = factors.Free
		}
		if f.evidence != "" {
			err = formats.Open(f.evidence, func(r io.Reader) error {
				evidence, err = uai.ReadEvidence(interruptible{ctx, r}, f.evidence, m)
				return err
			})
		}
	}
	if ctx.Err() != nil { // the reader's error would blame the file
		return nil, nil, ctx.Err()
	}
	return m, evidence, err
}

// interruptible is a reader that ends with its context.
type interruptible struct {
	ctx  context.Context
	from io.Reader
}

func (r interruptible) Read(p []byte) (int, error) {
	if err := r.ctx.Err(); err != nil {
		return 0, err
	}
	return r.from.Read(p)
}

func digits(x float64) string { return fmt.Sprintf("%.8g", x) }

// write writes the answer where there is one: a search for an assignment may be stopped before it has found any.
func (f *inference) write(a *query.Answer, seconds float64, stopped string) error {
	none := f.task == query.MAP && a.States == nil || f.task == query.MAR && a.Marginals == nil
	result := func(to io.Writer) error {
		w := bufio.NewWriter(to)
		switch f.task {
		case query.MAP:
			uai.WriteMAP(w, a.States)
		case query.PR:
			uai.WritePR(w, a.Bound)
		default:
			uai.WriteMAR(w, a.Marginals)
		}
		return w.Flush()
	}
	if f.out != "" && !none {
		if err := host.WriteFile(f.out, result); err != nil {
			return err
		}
	}
	if f.to != "" {
		if err := host.WriteFile(f.to, func(w io.Writer) error { return writeAnswer(w, a) }); err != nil {
			return err
		}
	}
	switch {
	case f.json:
		return printJSON(os.Stdout, f.object(a, seconds, stopped))
	case f.out == "" && !none:
		return result(os.Stdout)
	}
	return nil
}

// writeAnswer writes an answer as arrays for NumPy: value and bound as float64 and exact as int64, of shape [1]; states int64 [V], of map; marginals float64 [Σ states] with
// offsets int64 [V+1], of mar.
func writeAnswer(w io.Writer, a *query.Answer) error {
	return arrays.WriteNPZ(w, func(n arrays.NPZWriter) error {
		exact := int64(0)
		if a.Exact {
			exact = 1
		}
		err := cmp.Or(arrays.Add(n, "value", []float64{a.Value}, 1), arrays.Add(n, "bound", []float64{a.Bound}, 1), arrays.Add(n, "exact", []int64{exact}, 1))
		if a.States != nil {
			states := make([]int64, len(a.States))
			for v, s := range a.States {
				states[v] = int64(s)
			}
			err = cmp.Or(err, arrays.Add(n, "states", states, len(states)))
		}
		if a.Marginals != nil {
			offsets, all := []int64{0}, []float64{}
			for _, p := range a.Marginals {
				all = append(all, p...)
				offsets = append(offsets, int64(len(all)))
			}
			err = cmp.Or(err, arrays.Add(n, "marginals", all, len(all)), arrays.Add(n, "offsets", offsets, len(offsets)))
		}
		return err
	})
}

func (f *inference) object(a *query.Answer, seconds float64, stopped string) answer {
	o := answer{
		Task: f.task, Oracle: a.Oracle, Exact: a.Exact, Width: a.Width, Seconds: seconds, Assignment: a.States, Marginals: a.Marginals,
		Value: finite(a.Value), Bound: finite(a.Bound), Gap: finite(a.Gap()), RelativeGap: finite(a.Gap() / math.Abs(a.Value)),
		Stopped: stopped, Rounding: a.Rounding, Nodes: a.Nodes,
	}
	if a.Gap() == 0 {
		o.RelativeGap = new(float64)
	}
	if f.task != query.MAP {
		o.LogPartition = o.Bound
	}
	return o
}
