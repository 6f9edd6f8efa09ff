package review

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
)

// String says how large the expected calibration errors are.
func (c *Calibration) String() string {
	text := fmt.Sprintf("expected calibration error %.2f %% of %s", 100*c.ECE, c.Units)
	if c.Entities != nil {
		text += fmt.Sprintf(", %.2f %% of entities", 100*c.Entities.ECE)
	}
	return text
}

// String says where the curve has its largest F1.
func (c *Curve) String() string {
	return fmt.Sprintf("%s: average precision %.2f %%; largest F1 %.2f %% (precision %.2f %%, recall %.2f %%) "+
		"at a %s of %.4g or more",
		c.Units, 100*c.Area, 100*c.Best.F1, 100*c.Best.Precision, 100*c.Best.Recall, c.Scale, c.Best.Threshold)
}

// ErrorTable formats the examples that Worst kept: a line for each, and under it a line for each wrong part.
func (r *Review) ErrorTable() string {
	var b strings.Builder
	order := "those in which the model was most sure of something wrong"
	switch {
	case r.byValue && len(r.Examples) > 0:
		order = "those with the lowest " + r.Examples[0].Measure
	case !r.Probabilities:
		order = "those with the most mistakes"
	}
	if r.Wrong == 0 {
		return fmt.Sprintf("none of %d outputs is wrong\n", r.All)
	}
	fmt.Fprintf(&b, "%d of %d outputs are wrong; first %s:\n", r.Wrong, r.All, order)
	for _, e := range r.Examples {
		b.WriteString("\n" + e.Where)
		if !strings.HasSuffix(e.Where, "example "+e.ID) {
			b.WriteString(" (" + e.ID + ")")
		}
		if e.Value != nil {
			fmt.Fprintf(&b, "  %s %.4f", e.Measure, *e.Value)
		}
		if e.Probability != nil {
			fmt.Fprintf(&b, "  probability of the output %.3g", *e.Probability)
		}
		if e.Entropy != nil {
			fmt.Fprintf(&b, "  entropy %.3g", *e.Entropy)
		}
		b.WriteString("\n")
		rows := [][]string{{"", "at", "text", "gold", "predicted", "confidence", "of gold"}}
		if r.Scale != "" {
			rows[0][5] = r.Scale
		}
		for _, p := range e.Parts {
			rows = append(rows, p.row())
		}
		writeRows(&b, rows)
		if more := e.Wrong - len(e.Parts); more > 0 {
			fmt.Fprintf(&b, "  and %d more\n", more)
		}
	}
	return b.String()
}

func (p *Part) row() []string {
	at := fmt.Sprint(p.First)
	if p.Last != p.First || p.Kind == "link" {
		at += fmt.Sprintf("-%d", p.Last)
	}
	number := func(x *float64) string {
		if x == nil {
			return ""
		}
		return fmt.Sprintf("%.4f", *x)
	}
	or := func(text string) string {
		if text == "" {
			return "-"
		}
		return text
	}
	return []string{p.Kind, at, p.Text, or(p.Gold), or(p.Predicted), number(p.Confidence), number(p.GoldProbability)}
}

// writeRows writes rows in columns, without those that are empty below the first row.
func writeRows(b *strings.Builder, rows [][]string) {
	widths := make([]int, len(rows[0]))
	for c := range widths {
		for _, row := range rows[1:] {
			if row[c] != "" {
				widths[c] = max(widths[c], len([]rune(row[c])), len([]rune(rows[0][c])))
			}
		}
	}
	for _, row := range rows {
		line := ""
		for c, cell := range row {
			if widths[c] > 0 {
				line += "  " + cell + strings.Repeat(" ", widths[c]-len([]rune(cell)))
			}
		}
		b.WriteString(strings.TrimRight(line, " ") + "\n")
	}
}

// Extended is an object of JSON with more members.
type Extended struct {
	Object  any // marshals to an object
	Members []Member
}

// Member is a name and a value.
type Member struct {
	Name  string
	Value any
}

// MarshalJSON implements json.Marshaler.
func (e Extended) MarshalJSON() ([]byte, error) {
	text, err := json.Marshal(e.Object)
	if err != nil {
		return nil, err
	}
	text = bytes.TrimSuffix(text, []byte("}"))
	for _, m := range e.Members {
		value, err := json.Marshal(m.Value)
		if err != nil {
			return nil, err
		}
		if len(text) > 1 {
			text = append(text, ',')
		}
		text = append(fmt.Appendf(text, "%q:", m.Name), value...)
	}
	return append(text, '}'), nil
}
