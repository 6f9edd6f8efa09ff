package cli

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"log/slog"
	"math"
	"os"
	"slices"
	"time"

	"github.com/spf13/cobra"

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
	maxTable, bucket, gap       float64
	passes                      int
	time                        time.Duration
	json                        bool
}

func inferCommand() *cobra.Command {
	f := inference{}
	cmd := &cobra.Command{
		Use:   "infer FILE.uai",
		Short: "Solve a graphical model that comes from elsewhere",
		Long: `infer reads a MARKOV or BAYES network in the format of the UAI competitions, with factors of any order, and answers in the
competitions' result format: the most probable assignment (map), the partition function (pr) or the probabilities of each
variable's states (mar). Values are natural logarithms in messages and in JSON, decimal ones in the answer to pr.

--oracle tree      exact, for factor graphs without loops, however large
--oracle cut       exact, map only, for variables of two states whose factors favour equal states
--oracle junction  exact; its memory grows exponentially with the width of the network, and --max-table limits it
--oracle relaxed   for every network: map gives an assignment and an upper bound of the best value; pr and mar
                   bound log Z from above, with marginals, and from below; they answer with the upper bound
--oracle auto      takes the first of these that can answer, and says why not an earlier one`,
		Example: `  dsp infer grid.uai
  dsp infer grid.uai --task mar --evidence grid.uai.evid --out grid.mar
  dsp infer large.uai --oracle relaxed --passes 500 --gap 1e-6
  dsp infer large.uai --task pr --oracle relaxed --bucket 65536`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) != 1 {
				return fmt.Errorf("infer takes one file in UAI format, found %d", len(args))
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
	flags.Float64Var(&f.maxTable, "max-table", 1e8, "the most table `ENTRIES` that a junction tree may have, 8 bytes each")
	flags.Float64Var(&f.bucket, "bucket", 512, "the most `ENTRIES` of each table of --oracle relaxed for pr and mar; larger tables give closer bounds and take longer")
	flags.IntVar(&f.passes, "passes", 200, "the most passes of --oracle relaxed, `N`")
	flags.Float64Var(&f.gap, "gap", 1e-9, "--oracle relaxed stops for map where the bound is above the value by at most this part `G` of it")
	flags.DurationVar(&f.time, "time", 0, "stop after this `DURATION`, such as 30s or 5m, with the best answer so far; 0 sets no limit")
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
	Seconds      float64     `json:"seconds"`
	LogPartition *float64    `json:"log_partition,omitempty"` // of pr and mar; an upper bound if not exact
	Assignment   []int       `json:"assignment,omitempty"`
	Marginals    [][]float64 `json:"marginals,omitempty"`
}

func (f *inference) run(ctx context.Context, path string) error {
	if err := f.check(); err != nil {
		return err
	}
	m, evidence, err := f.read(path)
	if err != nil {
		return err
	}
	start := time.Now()
	if f.time > 0 {
		var cancel func()
		ctx, cancel = context.WithTimeout(ctx, f.time)
		defer cancel()
	}
	found, err := query.Solve(ctx, m.Observe(evidence), f.task, f.settings())
	if err != nil {
		return structured.BadInput("%s: --oracle %s: %w%s", path, f.oracle, err, f.instead())
	}
	seconds := time.Since(start).Seconds()
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
	f.log(path, found, seconds)
	return f.write(found, seconds)
}

func (f *inference) settings() query.Settings {
	var last query.Answer
	return query.Settings{Oracle: f.oracle, Table: f.maxTable, Bucket: f.bucket, Passes: f.passes, Gap: f.gap,
		Decide: func(why string) { slog.Info("auto passes over " + why) },
		Report: func(a *query.Answer) {
			if a.Doing == last.Doing && a.Value == last.Value {
				return
			}
			last = *a
			slog.Info(a.Doing, "value", digits(a.Value), "bound", digits(a.Bound), "gap", fmt.Sprintf("%.2g", a.Gap()), "nodes", a.Nodes)
		},
	}
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

func (f *inference) log(path string, a *query.Answer, seconds float64) {
	args := []any{"oracle", a.Oracle, "exact", a.Exact, "value", digits(a.Value), "bound", digits(a.Bound), "gap", fmt.Sprintf("%.2g", a.Gap()), "seconds", fmt.Sprintf("%.2g", seconds)}
	if a.Width > 0 {
		args = append(args, "width", a.Width)
	}
	switch {
	case a.Exact:
	case f.task == query.MAP && math.IsInf(a.Value, -1):
		slog.Warn("found no assignment of positive probability, and no proof that there is none; raise --passes")
	case f.task == query.MAP && a.Gap() <= f.gap*math.Abs(a.Value):
		slog.Warn("the assignment need not be the best: --gap lets --oracle relaxed stop here")
	case f.task == query.MAP:
		slog.Warn("the assignment need not be the best: no exact oracle was used")
	default:
		slog.Warn("the answer is an upper bound of the partition function and its marginals: no exact oracle was used")
	}
	slog.Info(path, args...)
}

func (f *inference) read(path string) (m *factors.Model, evidence []int, err error) {
	err = formats.Open(path, func(r io.Reader) error {
		m, err = uai.ReadModel(r, path)
		return err
	})
	if err != nil {
		return nil, nil, err
	}
	if f.evidence == "" {
		evidence = make([]int, len(m.States))
		for v := range evidence {
			evidence[v] = factors.Free
		}
		return m, evidence, nil
	}
	err = formats.Open(f.evidence, func(r io.Reader) error {
		evidence, err = uai.ReadEvidence(r, f.evidence, m)
		return err
	})
	return m, evidence, err
}

func digits(x float64) string { return fmt.Sprintf("%.8g", x) }

func (f *inference) write(a *query.Answer, seconds float64) error {
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
	if f.out != "" {
		if err := host.WriteFile(f.out, result); err != nil {
			return err
		}
	}
	switch {
	case f.json:
		return printJSON(os.Stdout, f.object(a, seconds))
	case f.out == "":
		return result(os.Stdout)
	}
	return nil
}

func (f *inference) object(a *query.Answer, seconds float64) answer {
	o := answer{
		Task: f.task, Oracle: a.Oracle, Exact: a.Exact, Width: a.Width, Seconds: seconds, Assignment: a.States, Marginals: a.Marginals,
		Value: finite(a.Value), Bound: finite(a.Bound), Gap: finite(a.Gap()), RelativeGap: finite(a.Gap() / math.Abs(a.Value)),
	}
	if a.Gap() == 0 {
		o.RelativeGap = new(float64)
	}
	if f.task != query.MAP {
		o.LogPartition = o.Bound
	}
	return o
}
