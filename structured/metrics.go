package structured

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strings"
)

// Metrics are measures of how well outputs match the gold ones, in display order, and the same measures by type of
// entity, relation or class. In JSON they are one object, with the types under "types". Scripts rely on the names: they
// are a contract.
type Metrics struct {
	Measures []Measure
	Types    map[string]Metrics // nil without types
}

// Measure is one named number of Metrics: a fraction of 1 or a count.
type Measure struct {
	Name  string
	Value float64
}

// selecting lists the measures that model selection minimises; the first one present is used. Each has the name of its
// error, which is lower for better weights.
var selecting = []struct {
	measure, err string
	rises        bool // the measure rises with quality: its error is 1 − the measure
}{
	{"aer", "alignment error rate", false},
	{"cer", "character error rate", false},
	{"class_iou", "class error (1 − mean class IoU)", true},
	{"miou", "class error (1 − mean class IoU)", true},
	{"corloc", "localisation error (1 − CorLoc)", true},
	{"f1", "entity error (1 − F1)", true},
	{"las", "attachment error (1 − LAS)", true},
	{"uas", "attachment error (1 − UAS)", true},
	{"link_f1", "link error (1 − F1)", true},
	{"token_error", "token error", false},
}

// Error returns the error that model selection minimises, and its name. The error is NaN if m is nil or has no such
// measure.
func (m *Metrics) Error() (name string, value float64) {
	if m != nil {
		for _, c := range selecting {
			v := m.Get(c.measure)
			if math.IsNaN(v) {
				continue
			}
			if c.rises {
				v = 1 - v
			}
			if c.measure == "f1" && m.isOfTrees() {
				return "bracket error (1 − F1)", v
			}
			return c.err, v
		}
	}
	return "error", math.NaN()
}

// printed lists the measures that String prints, with their titles. F1 is that of links where there is an AER.
var printed = []struct{ measure, title string }{
	{"token_error", "token error"}, {"sequence_error", "sequence error"}, {"aer", "AER"}, {"f1", "entity F1"},
	{"uas", "UAS"}, {"las", "LAS"}, {"root", "root accuracy"},
	{"link_f1", "link F1"}, {"complete", "complete trees"},
	{"cer", "character error"}, {"line_accuracy", "lines right"},
	{"corloc", "CorLoc"}, {"mean_iou", "mean IoU"}, {"ap", "AP"},
	{"accuracy", "accuracy"}, {"class_iou", "mean class IoU"},
	{"pixel_accuracy", "pixel accuracy"}, {"miou", "mean class IoU"},
}

// String returns the main measures in one line.
func (m *Metrics) String() string {
	var parts []string
	for _, s := range printed {
		if v := m.Get(s.measure); !math.IsNaN(v) {
			title := s.title
			switch {
			case s.measure == "f1" && !math.IsNaN(m.Get("aer")):
				title = "link F1"
			case s.measure == "f1" && m.isOfTrees():
				title = "bracket F1"
			}
			parts = append(parts, fmt.Sprintf("%s %.2f %%", title, 100*v))
		}
	}
	return strings.Join(parts, ", ")
}

// isOfTrees reports whether F1 is that of the brackets of trees.
func (m *Metrics) isOfTrees() bool { return !math.IsNaN(m.Get("complete")) }

// Get returns the measure of that name, or NaN if m is nil or lacks it.
func (m *Metrics) Get(name string) float64 {
	if m == nil {
		return math.NaN()
	}
	if k := slices.IndexFunc(m.Measures, func(x Measure) bool { return x.Name == name }); k >= 0 {
		return m.Measures[k].Value
	}
	return math.NaN()
}

// MarshalJSON implements json.Marshaler.
func (m Metrics) MarshalJSON() ([]byte, error) {
	var b bytes.Buffer
	b.WriteByte('{')
	for k, x := range m.Measures {
		if k > 0 {
			b.WriteByte(',')
		}
		value, err := json.Marshal(x.Value)
		if err != nil {
			return nil, err
		}
		fmt.Fprintf(&b, "%q:%s", x.Name, value)
	}
	if m.Types != nil {
		types, err := json.Marshal(m.Types)
		if err != nil {
			return nil, err
		}
		if len(m.Measures) > 0 {
			b.WriteByte(',')
		}
		fmt.Fprintf(&b, `"types":%s`, types)
	}
	b.WriteByte('}')
	return b.Bytes(), nil
}

// UnmarshalJSON implements json.Unmarshaler. It keeps the order and ignores fields that are neither numbers nor the
// types.
func (m *Metrics) UnmarshalJSON(text []byte) error {
	*m = Metrics{}
	d := json.NewDecoder(bytes.NewReader(text))
	if t, err := d.Token(); err != nil || t != json.Delim('{') {
		return fmt.Errorf("metrics are %.40q, expected an object", text)
	}
	for d.More() {
		t, err := d.Token()
		if err != nil {
			return err
		}
		var raw json.RawMessage
		if err := d.Decode(&raw); err != nil {
			return err
		}
		name, value := t.(string), 0.0
		switch {
		case name == "types":
			if err := json.Unmarshal(raw, &m.Types); err != nil {
				return err
			}
		case json.Unmarshal(raw, &value) == nil:
			m.Measures = append(m.Measures, Measure{name, value})
		}
	}
	return nil
}
