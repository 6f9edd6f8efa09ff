package choices

import "github.com/dsp-go/dsp/structured"

// CheckData implements structured.DataChecker: every example has a candidate, and its gold output, if there is one, is
// one of them. Costs, if there are any, are one number ≥ 0 per candidate.
func (Choice) CheckData(d *structured.Dataset) error {
	if d.Costs != nil && (d.CostRows != structured.Positions || len(d.Costs) != d.Positions()) {
		return structured.BadInput("%s: %d costs per %q, expected one for each of the %d candidates", d.Name, len(d.Costs),
			d.CostRows, d.Positions())
	}
	for i := range d.Len() {
		n := d.Length(i)
		if n == 0 {
			return structured.BadInput("%s: no candidates, expected at least 1", d.Where(i))
		}
		if err := checkGold(d, i, n); err != nil {
			return err
		}
		for k, c := range d.GoldOf(i).Costs {
			if !(c >= 0) {
				return structured.BadInput("%s: candidate %d costs %g, expected 0 or more", d.Where(i), k, c)
			}
		}
	}
	return nil
}

// checkGold checks the gold output of example i, which has n candidates.
func checkGold(d *structured.Dataset, i, n int) error {
	if d.Labels == nil {
		return nil
	}
	gold := d.GoldOf(i)
	if len(gold.Output) != 1 {
		return structured.BadInput("%s: a gold output of %d numbers, expected the number of one candidate",
			d.Where(i), len(gold.Output))
	}
	var single [1]int32
	for _, k := range gold.Possible(0, &single) {
		if k < 0 || int(k) >= n {
			return structured.BadInput("%s: candidate %d, expected a number from 0 to %d", d.Where(i), k, n-1)
		}
	}
	return nil
}
