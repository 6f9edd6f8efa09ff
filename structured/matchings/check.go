package matchings

import (
	"fmt"
	"math"

	"github.com/dsp-go/dsp/structured"
)

// Check returns an error unless y is a matching with that many targets. Numbers below 0 are not known for certain and
// are not checked.
func Check(y []int32, targets int) error {
	taken := make([]int, targets+1) // by which source, counted from 1
	for i, number := range y {
		switch {
		case int(number) > targets:
			return fmt.Errorf("source %d is linked to target %d, expected at most %d", i+1, number, targets)
		case number <= 0:
		case taken[number] > 0:
			return fmt.Errorf("sources %d and %d are both linked to target %d, expected one source per target",
				taken[number], i+1, number)
		default:
			taken[number] = i + 1
		}
	}
	return nil
}

// CostRows implements structured.CostReader: a cost per pair.
func (Matching) CostRows() string { return PairRows }

// CheckData implements structured.DataChecker: an example has the same number of pairs for every source, its gold
// output, if there is one, is a matching, and costs, if there are any, are finite numbers ≥ 0, one per pair. If
// matchings must be complete, no example has more sources than targets.
func (s Matching) CheckData(d *structured.Dataset) error {
	pairs := d.Rows(PairRows)
	if d.Costs != nil && (d.CostRows != PairRows || len(d.Costs) != pairs[d.Len()]) {
		return structured.BadInput("%s: %d costs per %q, expected one for each of the %d pairs", d.Name, len(d.Costs),
			d.CostRows, pairs[d.Len()])
	}
	for i := range d.Len() {
		rows := pairs[i+1] - pairs[i]
		n, m := Sizes(d.OutputLength(i), rows)
		if n*m != rows {
			return structured.BadInput("%s: %d pairs of %d sources, expected as many for every source",
				d.Where(i), rows, d.OutputLength(i))
		}
		if s.Complete && n > m {
			return structured.BadInput("%s: %d sources and %d targets, expected a target for every source "+
				"of a complete matching", d.Where(i), n, m)
		}
		gold := d.GoldOf(i)
		if err := s.checkGold(gold, m); err != nil {
			return structured.BadInput("%s: %v", d.Where(i), err)
		}
		for k, c := range gold.Costs {
			if !(c >= 0 && c <= math.MaxFloat32) {
				return structured.BadInput("%s: a false link of source %d with target %d costs %g, expected 0 or more",
					d.Where(i), k/m+1, k%m+1, c)
			}
		}
	}
	return nil
}

// checkGold checks a gold output with that many targets; without one there is nothing to check.
func (s Matching) checkGold(gold structured.Gold, targets int) error {
	if err := Check(gold.Output, targets); err != nil {
		return err
	}
	for i, number := range gold.Output {
		if number == 0 && s.Complete {
			return fmt.Errorf("source %d is unmatched, expected a target for every source of a complete matching", i+1)
		}
		if number >= 0 {
			continue
		}
		if int(-1-number) >= len(gold.Sets) {
			return fmt.Errorf("source %d has the gold number %d, expected 0 (unmatched) to %d", i+1, number, targets)
		}
		for _, possible := range gold.Sets[-1-number] {
			if possible < 0 || int(possible) > targets {
				return fmt.Errorf("source %d may have the number %d, expected 0 (unmatched) to %d", i+1, possible, targets)
			}
		}
	}
	return nil
}
