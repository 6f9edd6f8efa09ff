package sweep

import (
	"fmt"
	"math"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/dsp-go/dsp/models/config"
	"github.com/dsp-go/dsp/models/settings"
	"github.com/dsp-go/dsp/structured"
)

// axis is one varying setting.
type axis struct {
	name   string
	values []string // to choose from; nil if numbers are drawn from between
	between
}

// between is an interval of numbers.
type between struct {
	low, high float64
	log       bool // the logarithm is uniform
}

// at returns the number at the fraction x of the interval.
func (b between) at(x float64) float64 {
	if b.log {
		return b.low * math.Pow(b.high/b.low, x)
	}
	return b.low + x*(b.high-b.low)
}

// parseAxes parses the ranges. An unknown name, a setting that cannot vary, and values that the setting cannot have are
// bad input.
func parseAxes(r settings.Ranges) ([]axis, error) {
	var all []axis
	for _, text := range r {
		a, err := parseAxis(text)
		if err != nil {
			return nil, err
		}
		if slices.ContainsFunc(all, func(b axis) bool { return a.name == b.name }) {
			return nil, structured.BadInput("--grid %s: %s is given twice; list all its values at once", text, a.name)
		}
		all = append(all, a)
	}
	return all, nil
}

func parseAxis(text string) (axis, error) {
	name, values, ok := strings.Cut(text, "=")
	if !ok {
		return axis{}, structured.BadInput("--grid %q: expected NAME=VALUES, such as reg=0.1,1,10 or reg=log:0.01:10:7", text)
	}
	c := config.Default()
	s, ok := settings.Named(config.Settings(&c), name)
	a := axis{name: s.Name}
	switch {
	case !ok:
		return a, structured.BadInput("--grid %s: unknown setting %q%s", text, name,
			settings.Suggest(config.Settings(&c), name))
	case s.Run:
		return a, structured.BadInput("--grid %s: %s does not change the model; name a setting that does", text, name)
	case s.Name == "dev" || s.Name == "test":
		return a, structured.BadInput("--grid %s: settings are compared on the same data; name one that is trained with",
			text)
	}
	var err error
	if kind, _, _ := strings.Cut(values, ":"); kind == "log" || kind == "lin" {
		err = a.parseInterval(text, values, s)
	} else {
		err = a.parseList(text, values, s)
	}
	return a, err
}

func (a *axis) parseList(text, values string, s settings.Setting) error {
	separator := ","
	if strings.Contains(values, ";") {
		separator = ";"
	}
	for value := range strings.SplitSeq(values, separator) {
		if err := s.Set(strings.TrimSpace(value)); err != nil {
			return structured.BadInput("--grid %s: %w", text, err)
		}
		value = fmt.Sprint(s.Value.Interface())
		if slices.Contains(a.values, value) {
			return structured.BadInput("--grid %s: %s comes twice", text, value)
		}
		a.values = append(a.values, value)
	}
	return nil
}

func (a *axis) parseInterval(text, values string, s settings.Setting) error {
	switch s.Value.Interface().(type) {
	case float64, int, uint64, settings.Count, settings.Gap, settings.Strength:
	default:
		return structured.BadInput("--grid %s: %s is not a number; list its values with commas between", text, s.Name)
	}
	parts := strings.Split(values, ":")
	bad := structured.BadInput("--grid %s: expected %s:LOW:HIGH:COUNT, or %[2]s:LOW:HIGH to draw from at "+
		"random, with LOW below HIGH",
		text, parts[0])
	if len(parts) < 3 || len(parts) > 4 {
		return bad
	}
	low, err1 := strconv.ParseFloat(parts[1], 64)
	high, err2 := strconv.ParseFloat(parts[2], 64)
	a.between = between{low, high, parts[0] == "log"}
	switch {
	case err1 != nil || err2 != nil || !(low < high) || math.IsInf(high-low, 0):
		return bad
	case a.log && low <= 0:
		return structured.BadInput("--grid %s: the logarithm needs numbers above 0", text)
	case len(parts) == 3:
		return nil
	}
	n, err := strconv.Atoi(parts[3])
	if err != nil || n < 2 || n > 10000 {
		return bad
	}
	for k := range n {
		if value := numeral(a.at(float64(k)/float64(n-1)), s); !slices.Contains(a.values, value) {
			a.values = append(a.values, value)
		}
	}
	return nil
}

// numeral writes x as a value of s, rounded to four digits, so that the value shown is the value used.
func numeral(x float64, s settings.Setting) string {
	if s.Value.Kind() != reflect.Float64 {
		return strconv.FormatFloat(math.Round(x), 'f', 0, 64)
	}
	return strconv.FormatFloat(x, 'g', 4, 64)
}

// pick returns the value at the fraction u of the values or of the interval.
func (a *axis) pick(u float64) string {
	if n := len(a.values); n > 0 {
		return a.values[min(int(u*float64(n)), n-1)]
	}
	c := config.Default()
	s, _ := settings.Named(config.Settings(&c), a.name)
	return numeral(a.at(u), s)
}
