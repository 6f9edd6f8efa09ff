package settings

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/dsp-go/dsp/structured"
)

// Count is a number of at least 1, or 0 for "auto".
type Count int

// String returns the number, or auto.
func (c Count) String() string {
	if c == 0 {
		return "auto"
	}
	return strconv.Itoa(int(c))
}

// Set reads a number of at least 1 or auto.
func (c *Count) Set(text string) error {
	if text == "auto" {
		*c = 0
		return nil
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < 1 {
		return structured.BadInput("%q: expected a number of at least 1, or auto", text)
	}
	*c = Count(n)
	return nil
}

// Type names the value in help texts.
func (Count) Type() string { return "N|auto" }

// MarshalJSON writes the number, or "auto".
func (c Count) MarshalJSON() ([]byte, error) {
	if c == 0 {
		return []byte(`"auto"`), nil
	}
	return json.Marshal(int(c))
}

// UnmarshalJSON reads what MarshalJSON writes.
func (c *Count) UnmarshalJSON(text []byte) error { return c.Set(strings.Trim(string(text), `"`)) }

// MarshalYAML writes the number, or auto.
func (c Count) MarshalYAML() ([]byte, error) { return []byte(c.String()), nil }

// UnmarshalYAML reads what MarshalYAML writes.
func (c *Count) UnmarshalYAML(text []byte) error {
	return c.Set(strings.Trim(strings.TrimSpace(string(text)), `"'`))
}

// AllExamples is the ModelBatch of all examples.
const AllExamples ModelBatch = -1

// ModelBatch is a number of examples of at least 1, AllExamples, or 0 for "auto".
type ModelBatch int

// String returns the number, all or auto.
func (b ModelBatch) String() string {
	if b == AllExamples {
		return "all"
	}
	return Count(b).String()
}

// Set reads a number of at least 1, all or auto.
func (b *ModelBatch) Set(text string) error {
	if text == "all" {
		*b = AllExamples
		return nil
	}
	var n Count
	if n.Set(text) != nil {
		return structured.BadInput("%q: expected a number of at least 1, all, or auto", text)
	}
	*b = ModelBatch(n)
	return nil
}

// Type names the value in help texts.
func (ModelBatch) Type() string { return "N|all|auto" }

// MarshalJSON writes the number, "all" or "auto".
func (b ModelBatch) MarshalJSON() ([]byte, error) {
	if b > 0 {
		return json.Marshal(int(b))
	}
	return json.Marshal(b.String())
}

// UnmarshalJSON reads what MarshalJSON writes.
func (b *ModelBatch) UnmarshalJSON(text []byte) error { return b.Set(strings.Trim(string(text), `"`)) }

// MarshalYAML writes the number, all or auto.
func (b ModelBatch) MarshalYAML() ([]byte, error) { return []byte(b.String()), nil }

// UnmarshalYAML reads what MarshalYAML writes.
func (b *ModelBatch) UnmarshalYAML(text []byte) error {
	return b.Set(strings.Trim(strings.TrimSpace(string(text)), `"'`))
}

// Sizes is a list of numbers, of layers or of data sets.
type Sizes []int

// String returns the numbers, separated by commas.
func (s Sizes) String() string {
	parts := make([]string, len(s))
	for i, n := range s {
		parts[i] = strconv.Itoa(n)
	}
	return strings.Join(parts, ",")
}

// Set reads numbers separated by commas; empty text is an empty list.
func (s *Sizes) Set(text string) error {
	*s = nil
	if text == "" {
		return nil
	}
	for part := range strings.SplitSeq(text, ",") {
		n, err := strconv.Atoi(strings.TrimSpace(part))
		if err != nil {
			return structured.BadInput("%q: expected whole numbers with commas between", text)
		}
		*s = append(*s, n)
	}
	return nil
}

// Type names the value in help texts.
func (Sizes) Type() string { return "N,..." }

// Bounds is an interval LOW,HIGH as it was given; empty: there is none.
type Bounds string

// Set reads an interval whose ends are numbers that float32 has room for, -inf or inf; or nothing.
func (b *Bounds) Set(text string) error {
	if text != "" {
		if _, _, err := readBounds(text); err != nil {
			return err
		}
	}
	*b = Bounds(text)
	return nil
}

// Ends returns the ends of the interval; ok is false if there is none.
func (b Bounds) Ends() (low, high float32, ok bool) {
	low, high, err := readBounds(string(b))
	return low, high, err == nil
}

func readBounds(text string) (low, high float32, err error) {
	bad := structured.BadInput("%q: expected LOW,HIGH, two numbers of which the first is smaller, such as 0,inf", text)
	from, to, ok := strings.Cut(text, ",")
	if !ok {
		return 0, 0, bad
	}
	var ends [2]float32
	for k, part := range []string{from, to} {
		x, err := strconv.ParseFloat(strings.TrimSpace(part), 32)
		if err != nil || math.IsNaN(x) {
			return 0, 0, bad
		}
		ends[k] = float32(x)
	}
	if low, high = ends[0], ends[1]; !(low < high) || math.IsInf(float64(low), 1) || math.IsInf(float64(high), -1) {
		return 0, 0, bad
	}
	return low, high, nil
}

// String returns the interval.
func (b Bounds) String() string { return string(b) }

// Type names the value in help texts.
func (Bounds) Type() string { return "LOW,HIGH" }

// UnmarshalYAML reads an interval.
func (b *Bounds) UnmarshalYAML(text []byte) error {
	return b.Set(strings.Trim(strings.TrimSpace(string(text)), `"'`))
}

// LabelWeights gives labels costs.
type LabelWeights map[string]float64

// String returns LABEL=COST, separated by commas and sorted by label.
func (l LabelWeights) String() string {
	var parts []string
	for _, name := range slices.Sorted(maps.Keys(l)) {
		parts = append(parts, fmt.Sprintf("%s=%v", name, l[name]))
	}
	return strings.Join(parts, ",")
}

// Set reads LABEL=COST, separated by commas.
func (l *LabelWeights) Set(text string) error {
	*l = nil
	if text == "" {
		return nil
	}
	*l = LabelWeights{}
	for part := range strings.SplitSeq(text, ",") {
		at := strings.LastIndexByte(part, '=')
		if at < 1 {
			return structured.BadInput("%q: expected LABEL=COST", part)
		}
		cost, err := strconv.ParseFloat(part[at+1:], 64)
		mantissa, _, _ := strings.Cut(strings.ToLower(part[at+1:]), "e")
		switch {
		case errors.Is(err, strconv.ErrRange), err == nil && cost == 0 && strings.ContainsAny(mantissa, "123456789"):
			return structured.BadInput("%q: too large or too small for a number of 64 bits", part)
		case err != nil:
			return structured.BadInput("%q: expected LABEL=COST with a number for the cost", part)
		}
		(*l)[part[:at]] = cost
	}
	return nil
}

// Type names the value in help texts.
func (LabelWeights) Type() string { return "LABEL=COST,..." }

// Texts gives names texts.
type Texts map[string]string

// String returns NAME=VALUE, separated by commas and sorted by name.
func (t Texts) String() string {
	var parts []string
	for _, name := range slices.Sorted(maps.Keys(t)) {
		parts = append(parts, name+"="+t[name])
	}
	return strings.Join(parts, ",")
}

// Set reads NAME=VALUE, separated by commas.
func (t *Texts) Set(text string) error {
	*t = nil
	if text == "" {
		return nil
	}
	*t = Texts{}
	for part := range strings.SplitSeq(text, ",") {
		name, value, ok := strings.Cut(part, "=")
		if !ok || name == "" {
			return structured.BadInput("%q: expected NAME=VALUE", part)
		}
		(*t)[strings.TrimSpace(name)] = value
	}
	return nil
}

// Type names the value in help texts.
func (Texts) Type() string { return "NAME=VALUE,..." }

// Gap is a relative gap to stop at, 0 for none, or AutoGap.
type Gap float64

// AutoGap leaves the gap to the method.
const AutoGap Gap = -1

// String returns the number, or auto.
func (g Gap) String() string {
	if g == AutoGap {
		return "auto"
	}
	return strconv.FormatFloat(float64(g), 'g', -1, 64)
}

// Set reads a number of at least 0 or auto.
func (g *Gap) Set(text string) error {
	if text == "auto" {
		*g = AutoGap
		return nil
	}
	x, err := strconv.ParseFloat(text, 64)
	if err != nil || !(x >= 0) || math.IsInf(x, 0) {
		return structured.BadInput("%q: expected a number of at least 0, or auto", text)
	}
	*g = Gap(x)
	return nil
}

// Type names the value in help texts.
func (Gap) Type() string { return "X|auto" }

// MarshalJSON writes the number, or "auto".
func (g Gap) MarshalJSON() ([]byte, error) {
	if g == AutoGap {
		return []byte(`"auto"`), nil
	}
	return json.Marshal(float64(g))
}

// UnmarshalJSON reads what MarshalJSON writes.
func (g *Gap) UnmarshalJSON(text []byte) error { return g.Set(strings.Trim(string(text), `"`)) }

// MarshalYAML writes the number, or auto.
func (g Gap) MarshalYAML() ([]byte, error) { return []byte(g.String()), nil }

// UnmarshalYAML reads what MarshalYAML writes.
func (g *Gap) UnmarshalYAML(text []byte) error {
	return g.Set(strings.Trim(strings.TrimSpace(string(text)), `"'`))
}
