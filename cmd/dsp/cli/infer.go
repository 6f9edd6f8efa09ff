package cli

import (
	"bufio"
	"fmt"
	"io"
	"log/slog"
	"math"
	"os"
	"time"

	"github.com/spf13/cobra"

	"github.com/dsp-go/dsp/models/formats"
	"github.com/dsp-go/dsp/models/settings"
	"github.com/dsp-go/dsp/oracles/junction"
	"github.com/dsp-go/dsp/oracles/relaxation"
	"github.com/dsp-go/dsp/structured"
	"github.com/dsp-go/dsp/structured/factors"
	"github.com/dsp-go/dsp/structured/factors/uai"
	"github.com/dsp-go/dsp/structured/host"
)

// inference holds the flags of dsp infer.
type inference struct {
	task, evidence, oracle, out string
	maxTable                    float64
	passes                      int
	gap                         float64
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

--oracle junction is exact; its memory grows exponentially with the width of the network, which is estimated first.
--oracle relaxed, for map only, needs little memory; it finds an assignment, and an upper bound that says how far
from the best it can be. auto takes the first that --max-table allows.`,
		Example: `  dsp infer grid.uai
  dsp infer grid.uai --task mar --evidence grid.uai.evid --out grid.mar
  dsp infer large.uai --oracle relaxed --passes 500 --gap 1e-6`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) != 1 {
				return fmt.Errorf("infer takes one file in UAI format, found %d", len(args))
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			f.json = isSet(cmd, "json")
			return f.run(args[0])
		},
	}
	flags := cmd.Flags()
	flags.SortFlags = false
	flags.StringVar(&f.task, "task", "map", "what to compute: `map|pr|mar`")
	flags.StringVar(&f.evidence, "evidence", "", "`FILE` with the states of observed variables")
	flags.StringVar(&f.oracle, "oracle", "auto", "how to compute it: `auto|junction|relaxed`")
	flags.Float64Var(&f.maxTable, "max-table", 1e8, "the most table `ENTRIES` that a junction tree may have, 8 bytes each")
	flags.IntVar(&f.passes, "passes", 200, "the most passes of --oracle relaxed, `N`")
	flags.Float64Var(&f.gap, "gap", 1e-9, "--oracle relaxed stops where the bound is above the value by at most this part `G` of it")
	flags.StringVar(&f.out, "out", "", "`FILE` for the answer; standard output by default")
	return cmd
}

func (f *inference) check() error {
	if err := settings.OneOf("--task", f.task, []string{"map", "pr", "mar"}); err != nil {
		return err
	}
	if err := settings.OneOf("--oracle", f.oracle, []string{"auto", "junction", "relaxed"}); err != nil {
		return err
	}
	switch {
	case f.oracle == "relaxed" && f.task != "map":
		return structured.BadInput("--oracle relaxed bounds the best assignment only; --task %s needs --oracle junction", f.task)
	case !(f.maxTable >= 1):
		return structured.BadInput("--max-table %v: expected a number of at least 1", f.maxTable)
	case f.passes < 1:
		return structured.BadInput("--passes %d: expected at least 1", f.passes)
	case !(f.gap >= 0):
		return structured.BadInput("--gap %v: expected a number of at least 0", f.gap)
	}
	return nil
}

// answer is what infer found. Value and Bound are natural logarithms; they are equal if the answer is exact.
type answer struct {
	Task    string      `json:"task"`
	Oracle  string      `json:"oracle"`
	Value   *float64    `json:"value"` // null: every assignment has probability 0
	Bound   *float64    `json:"bound"`
	Gap     float64     `json:"gap"`
	Exact   bool        `json:"exact"`
	Width   int         `json:"width,omitempty"`
	Seconds float64     `json:"seconds"`
	States  []int       `json:"states,omitempty"`
	Mar     [][]float64 `json:"marginals,omitempty"`

	value float64
}

func (f *inference) run(path string) error {
	if err := f.check(); err != nil {
		return err
	}
	m, evidence, err := f.read(path)
	if err != nil {
		return err
	}
	start := time.Now()
	observed := m.Observe(evidence)
	a := &answer{Task: f.task}
	plan := junction.NewPlan(observed)
	fits := plan.Entries <= f.maxTable
	switch {
	case f.oracle != "relaxed" && fits:
		err = f.exact(a, observed, plan)
	case f.oracle == "junction" || f.task != "map":
		instead := "; raise --max-table"
		if f.task == "map" {
			instead = "; raise --max-table, or use --oracle relaxed, which needs no such tables"
		}
		return structured.BadInput("%s: the junction tree has width %d and %.3g table entries (%.3g GiB), more than --max-table %.3g%s", path, plan.Width, plan.Entries,
			8*plan.Entries/(1<<30), f.maxTable, instead)
	default:
		f.relaxed(a, observed)
	}
	if err != nil {
		return err
	}
	a.Seconds = time.Since(start).Seconds()
	if math.IsInf(a.value, -1) && f.task == "mar" {
		return structured.BadInput("%s: every assignment that agrees with the evidence has probability 0, so there are no marginals", path)
	}
	for v, s := range evidence {
		if s == factors.Free {
			continue
		}
		if a.States != nil {
			a.States[v] = s
		}
		if a.Mar != nil {
			a.Mar[v] = make([]float64, m.States[v])
			a.Mar[v][s] = 1
		}
	}
	a.log(path)
	return f.write(a)
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

func (f *inference) exact(a *answer, m *factors.Model, plan *junction.Plan) error {
	a.Oracle, a.Exact, a.Width = "junction", true, plan.Width
	if err := host.CheckMemory("the tables of the junction tree", 8*plan.Entries); err != nil {
		return structured.BadInput("%w; use --oracle relaxed", err)
	}
	t := junction.NewTree(m, plan)
	switch f.task {
	case "map":
		a.States, a.value = t.Max()
	case "pr":
		a.value = t.Sum()
	default:
		a.value, a.Mar = t.Marginals()
	}
	a.bounds(a.value)
	return nil
}

// relaxed passes messages until the bound meets the value or does not fall any more.
func (f *inference) relaxed(a *answer, m *factors.Model) {
	a.Oracle = "relaxed"
	r := relaxation.New(m)
	bound := r.Bound()
	for range f.passes {
		r.Pass()
		a.States, a.value = r.Best()
		last := bound
		bound = r.Bound()
		if bound-a.value <= f.gap*math.Abs(a.value) || last-bound <= 1e-12*math.Abs(bound) {
			break
		}
	}
	a.Exact = bound-a.value <= f.gap*math.Abs(a.value)
	a.bounds(bound)
}

// bounds sets what the JSON tells of the value.
func (a *answer) bounds(bound float64) {
	if !math.IsInf(a.value, -1) {
		a.Value, a.Gap = &a.value, bound-a.value
	}
	if !math.IsInf(bound, -1) {
		a.Bound = &bound
	}
}

func (a *answer) log(path string) {
	bound := a.value
	if a.Bound != nil {
		bound = *a.Bound
	}
	args := []any{"oracle", a.Oracle, "value", digits(a.value), "bound", digits(bound), "gap", fmt.Sprintf("%.2g", a.Gap), "seconds", fmt.Sprintf("%.2g", a.Seconds)}
	if a.Width > 0 {
		args = append(args, "width", a.Width)
	}
	slog.Info(path, args...)
}

func digits(x float64) string { return fmt.Sprintf("%.8g", x) }

func (f *inference) write(a *answer) error {
	result := func(to io.Writer) error {
		w := bufio.NewWriter(to)
		switch f.task {
		case "map":
			uai.WriteMAP(w, a.States)
		case "pr":
			uai.WritePR(w, a.value)
		default:
			uai.WriteMAR(w, a.Mar)
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
		return printJSON(os.Stdout, a)
	case f.out == "":
		return result(os.Stdout)
	}
	return nil
}
