package reproduce

import (
	"fmt"
	"math"
	"slices"
	"strings"
)

// The verdicts.
const (
	agrees      = "agrees"
	disagrees   = "disagrees"
	mixed       = "mixed"
	notMeasured = "not measured"
)

// clearShare is the share of seeds that a clear verdict needs on its side, besides the medians.
const clearShare = 0.8

// ClaimResult says whether a claim of the paper holds here.
type ClaimResult struct {
	Says    string   `json:"says"`
	Where   string   `json:"where"`
	Part    string   `json:"part"`
	Check   string   `json:"check"`
	Values  []string `json:"values"`  // of each curve: median and quartiles
	Holds   int      `json:"holds"`   // seeds for which it holds
	Decided int      `json:"decided"` // seeds for which its values are known
	Verdict string   `json:"verdict"`
}

// claims checks all claims of a figure, each in every part that it speaks of.
func (r *figureResults) claims() []ClaimResult {
	var all []ClaimResult
	for _, c := range r.Claims {
		for _, p := range r.parts {
			if c.Part == "" || c.Part == p.Name {
				all = append(all, p.judge(c))
			}
		}
	}
	return all
}

// judge checks a claim by the medians over seeds, and for each seed by itself. It agrees or disagrees if the medians do
// and so do at least 80 % of the seeds; otherwise the verdict is mixed.
func (p *partResults) judge(c Claim) ClaimResult {
	out := ClaimResult{Says: c.Says, Where: c.Where, Part: p.Name, Check: c.Check.text, Verdict: notMeasured}
	values, seeds := map[string][]float64{}, 0
	for _, name := range c.Check.curves() {
		for _, curve := range p.curves {
			if curve.name != name {
				continue
			}
			for _, run := range curve.runs {
				values[name] = append(values[name], c.Check.measure.of(run))
			}
			seeds = max(seeds, len(curve.runs))
		}
		out.Values = append(out.Values, name+" "+c.Check.measure.summary(values[name]))
	}
	sd := func(name string) float64 { return deviation(values[name]) }
	holds, decided := c.Check.holds(func(name string) float64 { return quantile(values[name], 0.5) }, sd)
	if !decided {
		return out
	}
	for seed := range seeds {
		one, decided := c.Check.holds(func(name string) float64 {
			if seed < len(values[name]) {
				return values[name][seed]
			}
			return math.NaN()
		}, sd)
		if decided {
			out.Decided++
		}
		if one {
			out.Holds++
		}
	}
	share := float64(out.Holds) / float64(max(1, out.Decided))
	switch {
	case holds && share >= clearShare:
		out.Verdict = agrees
	case !holds && share <= 1-clearShare+1e-9:
		out.Verdict = disagrees
	default:
		out.Verdict = mixed
	}
	return out
}

// summary shows the median of values and, if there are several, their quartiles.
func (m measure) summary(values []float64) string {
	text := m.show(quantile(values, 0.5))
	if len(values) > 1 {
		text += fmt.Sprintf(" [%s, %s]", m.show(quantile(values, 0.25)), m.show(quantile(values, 0.75)))
	}
	return text
}

// quantile returns the q-quantile of values by linear interpolation. It is NaN if there are none, or if one of them is
// NaN.
func quantile(values []float64, q float64) float64 {
	if len(values) == 0 || slices.ContainsFunc(values, math.IsNaN) {
		return math.NaN()
	}
	sorted := slices.Sorted(slices.Values(values))
	at := q * float64(len(sorted)-1)
	k := int(at)
	if k+1 == len(sorted) || at == float64(k) || sorted[k] == sorted[k+1] {
		return sorted[k]
	}
	return sorted[k] + (at-float64(k))*(sorted[k+1]-sorted[k])
}

// deviation returns the standard deviation of values; 0 with fewer than two.
func deviation(values []float64) float64 {
	n := float64(len(values))
	if n < 2 {
		return 0
	}
	mean, squares := 0.0, 0.0
	for _, x := range values {
		mean += x / n
	}
	for _, x := range values {
		squares += (x - mean) * (x - mean)
	}
	return math.Sqrt(squares / (n - 1))
}

// summary counts claims by verdict, in words.
func summary(counts map[string]int) string {
	var parts []string
	for _, v := range []string{agrees, mixed, disagrees, notMeasured} {
		if n := counts[v]; n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", n, map[string]string{
				agrees: "agree", mixed: "mixed", disagrees: "disagree", notMeasured: "not measured",
			}[v]))
		}
	}
	if parts == nil {
		return "no claims"
	}
	return strings.Join(parts, ", ")
}
