package transcripts

import (
	"fmt"
	"slices"

	"github.com/dsp-go/dsp/structured"
)

// Edits are the fewest changes that make a string of another: symbols replaced, inserted and deleted (Levenshtein
// 1966).
type Edits struct{ Replaced, Inserted, Deleted int }

// Sum returns the number of changes.
func (e Edits) Sum() int { return e.Replaced + e.Inserted + e.Deleted }

// Distance counts the changes that make predicted of gold. Among the fewest, it prefers replacements.
func Distance(gold, predicted []int32) Edits {
	row := make([]Edits, len(predicted)+1)
	for j := range row {
		row[j].Inserted = j
	}
	for i, g := range gold {
		corner := row[0] // of the row above
		row[0].Deleted = i + 1
		for j, p := range predicted {
			best := corner
			if g != p {
				best.Replaced++
			}
			corner = row[j+1]
			if above := row[j+1]; above.Sum()+1 < best.Sum() {
				best = above
				best.Deleted++
			}
			if left := row[j]; left.Sum()+1 < best.Sum() {
				best = left
				best.Inserted++
			}
			row[j+1] = best
		}
	}
	return row[len(predicted)]
}

// Metrics measure transcripts. All but the counts are fractions of 1; the character error rate can be more than 1.
type Metrics struct {
	// fewest changes that make the predicted strings of the gold ones, per gold symbol
	CER          float64 `json:"cer"`
	LineAccuracy float64 `json:"line_accuracy"` // share of lines without a mistake
	Symbols      int     `json:"symbols"`       // of the gold strings
	Lines        int     `json:"lines"`
	Replaced     int     `json:"replaced"`
	Inserted     int     `json:"inserted"` // symbols that are not in the gold strings
	Deleted      int     `json:"deleted"`  // symbols that were missed
}

// Evaluator compares predicted strings with gold ones.
type Evaluator struct {
	edits                 Edits
	symbols, lines, right int
}

// Add compares a string with the gold one.
func (e *Evaluator) Add(gold, predicted []int32) {
	d := Distance(gold, predicted)
	e.edits.Replaced += d.Replaced
	e.edits.Inserted += d.Inserted
	e.edits.Deleted += d.Deleted
	e.symbols += len(gold)
	if e.lines++; slices.Equal(gold, predicted) {
		e.right++
	}
}

// Metrics returns the measures of all lines added so far. Of no gold symbols the character error rate is the number of
// changes.
func (e *Evaluator) Metrics() Metrics {
	m := Metrics{Symbols: e.symbols, Lines: e.lines, Replaced: e.edits.Replaced, Inserted: e.edits.Inserted,
		Deleted: e.edits.Deleted}
	m.CER = float64(e.edits.Sum()) / float64(max(1, e.symbols))
	m.LineAccuracy = float64(e.right) / float64(max(1, e.lines))
	return m
}

// General returns the measures under the names that scripts rely on.
func (m Metrics) General() structured.Metrics {
	return structured.Metrics{Measures: []structured.Measure{
		{Name: "cer", Value: m.CER}, {Name: "line_accuracy", Value: m.LineAccuracy},
		{Name: "symbols", Value: float64(m.Symbols)},
		{Name: "lines", Value: float64(m.Lines)}, {Name: "replaced", Value: float64(m.Replaced)},
		{Name: "inserted", Value: float64(m.Inserted)},
		{Name: "deleted", Value: float64(m.Deleted)},
	}}
}

// Table formats the measures for people.
func (m Metrics) Table() string {
	return fmt.Sprintf("%d symbols in %d lines; %.2f %% of the lines are right as a whole\n"+
		"character error %.2f %%: %d replaced, %d inserted, %d deleted\n",
		m.Symbols, m.Lines, 100*m.LineAccuracy, 100*m.CER, m.Replaced, m.Inserted, m.Deleted)
}
