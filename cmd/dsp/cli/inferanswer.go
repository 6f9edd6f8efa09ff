package cli

import (
	"bufio"
	"cmp"
	"fmt"
	"io"
	"log/slog"
	"math"
	"os"

	"github.com/dsp-go/dsp/models/data/arrays"
	"github.com/dsp-go/dsp/models/data/uai"
	"github.com/dsp-go/dsp/oracles/query"
	"github.com/dsp-go/dsp/structured/sys/host"
)

// answer is what infer prints as JSON. Values are natural logarithms, null for probability 0.
type answer struct {
	Task         string      `json:"task"`
	Oracle       string      `json:"oracle"`
	Value        any         `json:"value"` // a whole number of any size for an assignment of a constraint network
	Bound        any         `json:"bound"`
	Gap          *float64    `json:"gap"` // bound − value
	RelativeGap  *float64    `json:"relative_gap"`
	Exact        bool        `json:"exact"`
	Width        int         `json:"width,omitempty"`
	Stopped      string      `json:"stopped,omitempty"`  // "time" or "signal", if that came before the end
	Rounding     float64     `json:"rounding,omitempty"` // by which an exact value may be off
	Nodes        int         `json:"nodes,omitempty"`    // of a search
	Seconds      float64     `json:"seconds"`
	LogPartition *float64    `json:"log_partition,omitempty"`  // of pr and mar; an upper bound if not exact
	Estimate     *float64    `json:"estimate,omitempty"`       // of log Z, where it is not exact
	Error        *float64    `json:"estimate_error,omitempty"` // its standard error
	Assignment   []int       `json:"assignment,omitempty"`
	Marginals    [][]float64 `json:"marginals,omitempty"`
}

// finite returns nil for −∞ and for the difference of such numbers, which JSON cannot hold.
func finite(x float64) *float64 {
	if math.IsInf(x, 0) || math.IsNaN(x) {
		return nil
	}
	return &x
}

// log says how good an answer is.
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
	default:
		f.warnOfEstimate(a, stopped)
	}
	slog.Info(path, args...)
}

// warnOfEstimate says what the answer to pr and mar is where it is not exact.
func (f *inference) warnOfEstimate(a *query.Answer, stopped string) {
	why := "no exact oracle was used"
	if stopped != "" {
		why = "stopped by " + stopped
	}
	what := "the answer is an estimate of the partition function, between a lower and an upper bound: "
	switch {
	case f.task == query.MAR:
		what = "the marginals are those of an upper bound of the partition function: "
	case math.IsInf(a.Deviation, 1):
		what = "the answer is an upper bound of the partition function: "
	}
	args := []any{"estimate", digits(a.Estimate)}
	if !math.IsInf(a.Deviation, 1) {
		args = append(args, "error", fmt.Sprintf("%.2g", a.Deviation))
	}
	slog.Warn(what+why, args...)
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
			uai.WritePR(w, a.Estimate)
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
		if err := host.WriteFile(f.to, func(w io.Writer) error { return f.writeAnswer(w, a) }); err != nil {
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

// writeAnswer writes an answer as arrays for NumPy: value and bound as float64 and exact as int64, of shape [1]; cost
// int64 [1], of an assignment of a constraint network; states int64 [V], of map; marginals float64 [Σ states] with
// offsets int64 [V+1], of mar.
func (f *inference) writeAnswer(w io.Writer, a *query.Answer) error {
	return arrays.WriteNPZ(w, func(n arrays.NPZWriter) error {
		exact := int64(0)
		if a.Exact {
			exact = 1
		}
		err := cmp.Or(arrays.Add(n, "value", []float64{a.Value}, 1), arrays.Add(n, "bound", []float64{a.Bound}, 1), arrays.Add(n, "exact", []int64{exact}, 1))
		if f.cost != nil {
			err = cmp.Or(err, arrays.Add(n, "cost", []int64{*f.cost}, 1))
		}
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

// object returns an answer as printed by --json.
func (f *inference) object(a *query.Answer, seconds float64, stopped string) answer {
	o := answer{
		Task: f.task, Oracle: a.Oracle, Exact: a.Exact, Width: a.Width, Seconds: seconds, Assignment: a.States, Marginals: a.Marginals,
		Value: finite(a.Value), Bound: finite(a.Bound), Gap: finite(a.Gap()), RelativeGap: finite(a.Gap() / math.Abs(a.Value)),
		Stopped: stopped, Rounding: a.Rounding, Nodes: a.Nodes,
	}
	if a.Gap() == 0 {
		o.RelativeGap = new(float64)
	}
	if f.cost != nil {
		o.Value = -*f.cost
		if a.Exact {
			o.Bound = o.Value
		}
	}
	if f.task != query.MAP {
		o.LogPartition = finite(a.Bound)
		if !a.Exact {
			o.Estimate, o.Error = finite(a.Estimate), finite(a.Deviation)
		}
	}
	return o
}
