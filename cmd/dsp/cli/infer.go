package cli

import (
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"github.com/dsp-go/dsp/models/data/uai"
	"github.com/dsp-go/dsp/models/settings"
	"github.com/dsp-go/dsp/oracles/factors"
	"github.com/dsp-go/dsp/oracles/query"
	"github.com/dsp-go/dsp/structured"
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
	costs                       *uai.CostNetwork // of a .wcsp file
	cost                        *int64           // of the answer's assignment, where it is a whole number
}

func inferCommand() *cobra.Command {
	f := inference{}
	cmd := &cobra.Command{
		Use:   "infer FILE",
		Short: "Solve a graphical model from a file of the UAI competitions or a WCSP",
		Long: `infer reads a MARKOV or BAYES network in the format of the UAI competitions, with factors of any order, or a weighted
constraint network (FILE.wcsp) whose costs are given in extension, and answers in the competitions' result format: the most
probable assignment (map), the partition function (pr) or the probabilities of each variable's states (mar). Values are
natural logarithms in messages and in JSON, for constraint networks costs times -1; decimal logarithms in the answer to pr.

--oracle tree      exact, for factor graphs without loops, however large
--oracle cut       exact, map only, for variables of two states whose factors favour equal states
--oracle junction  exact; its memory grows exponentially with the width of the network, and --max-table limits it
--oracle search    for every network, at any time an answer and how good it is, in the end exact: map searches for better
                   assignments and lowers a bound until both meet; pr and mar keep log Z between two bounds, which
                   come closer with time; pr answers with an estimate between them and says how sure that is, and
                   marginals are those of the upper one unless they meet
--oracle relaxed   for every network, bounds by messages alone, no search
--oracle auto      takes the first of tree, cut, junction and search that can answer, and says why not an earlier one

Ctrl-C, SIGTERM and --time stop it with the best answer so far. The exit code is 0 where the answer is exact, or within --gap;
3 where it is neither, whatever ended the work; 130 after a signal. --json says the same: exact, relative_gap, stopped.`,
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
	if found != nil && f.costs != nil {
		found = f.restored(found)
	}
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
	if found.Within(f.gap) {
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
	if err := f.write(found, seconds, stopped); err != nil || found.Within(f.gap) {
		return err
	}
	return f.unproven(stopped)
}

// restored is an answer about the costs of the file, not of the model that was solved.
func (f *inference) restored(found *query.Answer) *query.Answer {
	a := *found
	if cost, ok := f.costs.Cost(&a); ok {
		f.cost = &cost
	}
	f.costs.Restore(&a)
	return &a
}

// errUnproven means that an answer, which was given where there is one, is not as good as was asked for.
var errUnproven = errors.New("the answer is neither exact nor within --gap")

// unproven returns the error for an answer that is not as good as was asked for: stopped says what ended the work, if
// it was no end of its own.
func (f *inference) unproven(stopped string) error {
	switch {
	case stopped == "signal":
		return fmt.Errorf("stopped by a signal before the answer was proven: %w", context.Canceled)
	case stopped == "time":
		return fmt.Errorf("--time ended: %w", errUnproven)
	case f.oracle == query.Relaxed:
		return fmt.Errorf("%w; --oracle search goes on until it is", errUnproven)
	}
	return fmt.Errorf("%w; a larger --max-table brings the bounds closer", errUnproven)
}

// instead says what to do where the oracle that was asked for does not fit.
func (f *inference) instead() string {
	switch f.oracle {
	case query.Tree:
		return "; --oracle junction takes loops"
	case query.Cut:
		return "; --oracle auto takes the best one that fits"
	case query.Junction:
		return "; raise --max-table, or use --oracle relaxed, which needs no such tables and gives bounds"
	}
	return "; lower --bucket"
}

// impossible refuses questions about a model, or evidence, of probability 0. The partition function of a model without
// evidence may be 0.
func (f *inference) impossible(path string, m *factors.Model, evidence []int, found *query.Answer) error {
	if c := f.costs; c != nil && c.Upper > 0 && found.Exact && f.task == query.MAP && (f.cost != nil && *f.cost >= c.Upper || c.Least == c.Upper || -found.Value > float64(c.Upper)) {
		return structured.BadInput("%s: every assignment costs %d or more, which is the file's upper bound", path, c.Upper)
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
