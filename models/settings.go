package models

import (
	"fmt"
	"math"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/dsp-go/dsp/structured"
)

// Setting is one field of a Config with what its tags say.
type Setting struct {
	Name   string        // flag and key
	Group  string        // heading in the help
	Help   string        // what it does
	Unit   string        // what stands for the value in the help, or empty
	Values []string      // the values it may have, or nil
	Only   string        // the settings it has a meaning with ("method=sgd,svrg"), or empty
	Run    bool          // whether it leaves the trained model alone
	Value  reflect.Value // the field, settable; Gap, K, Sizes and LabelWeights have Set, String and Type as flags do

	min string
}

// Settings returns the settings of c, in the order of the fields.
func Settings(c *Config) []Setting { return settingsOf(c) }

// settingsOf returns the settings that a struct's fields are; a field without a name is none.
func settingsOf(c any) []Setting {
	v := reflect.ValueOf(c).Elem()
	var all []Setting
	for i := range v.NumField() {
		tag := v.Type().Field(i).Tag
		name, _, _ := strings.Cut(tag.Get("yaml"), ",")
		if name == "" {
			continue
		}
		s := Setting{
			Name:  name,
			Group: tag.Get("group"),
			Help:  tag.Get("help"),
			Unit:  tag.Get("unit"),
			Only:  tag.Get("only"),
			Run:   tag.Get("run") != "",
			Value: v.Field(i),
			min:   tag.Get("min"),
		}
		if values, ok := tag.Lookup("values"); ok {
			s.Values = strings.Split(values, "|")
		}
		all = append(all, s)
	}
	return all
}

// setting returns the setting of that name.
func setting(c *Config, name string) (Setting, bool) { return named(Settings(c), name) }

func named(all []Setting, name string) (Setting, bool) {
	for _, s := range all {
		if s.Name == name {
			return s, true
		}
	}
	return Setting{}, false
}

// check refuses a value out of range, or one that was changed although the rest of c gives it no meaning.
func (s Setting) check(c *Config) error {
	if s.Values != nil {
		if err := oneOf("--"+s.Name, s.Value.String(), s.Values); err != nil {
			return err
		}
	}
	if err := s.checkRange(); err != nil {
		return err
	}
	def := Default()
	plain, _ := setting(&def, s.Name)
	if s.Only == "" || reflect.DeepEqual(s.Value.Interface(), plain.Value.Interface()) {
		return nil
	}
	for _, condition := range strings.Fields(s.Only) {
		name, values, _ := strings.Cut(condition, "=")
		other, ok := setting(c, name)
		if !ok {
			panic("models: setting " + s.Name + " depends on an unknown one: " + name)
		}
		at, allowed := other.Value.String(), strings.Split(values, ",")
		if undecided(at) || slices.Contains(allowed, at) {
			continue
		}
		if name == "method" && at == "prox-linear" { // its inner method has settings too
			inner, _ := setting(c, "inner")
			possible := func(method string) bool { return slices.Contains(inner.Values, method) }
			if slices.Contains(allowed, c.Inner) || undecided(c.Inner) && slices.ContainsFunc(allowed, possible) {
				continue
			}
			at += " --inner " + c.Inner
		}
		return structured.BadInput("--%s %v means nothing with --%s %s; it is for --%s %s",
			s.Name, s.Value.Interface(), name, at, name, strings.ReplaceAll(values, ",", ", "))
	}
	return nil
}

// undecided reports whether a setting's value leaves the choice open.
func undecided(value string) bool { return value == "" || value == "auto" }

// checkRange refuses numbers that are not finite or below the least value.
func (s Setting) checkRange() error {
	low := math.Inf(-1)
	if s.min != "" {
		low, _ = strconv.ParseFloat(s.min, 64)
	}
	check := func(x float64) error {
		if math.IsNaN(x) || math.IsInf(x, 0) {
			return structured.BadInput("--%s %v: expected a finite number", s.Name, x)
		}
		if x < low {
			return structured.BadInput("--%s %v: expected at least %v", s.Name, x, low)
		}
		return nil
	}
	switch v := s.Value; v.Kind() {
	case reflect.Float64:
		if v.Interface() == any(AutoGap) {
			return nil
		}
		return check(v.Float())
	case reflect.Int:
		return check(float64(v.Int()))
	case reflect.Slice:
		for i := range v.Len() {
			if err := check(float64(v.Index(i).Int())); err != nil {
				return err
			}
		}
	}
	return nil
}

// oneOf refuses a value that is not among those allowed, and suggests the nearest.
func oneOf(what, value string, allowed []string) error {
	if slices.Contains(allowed, value) {
		return nil
	}
	var named []string
	for _, v := range allowed {
		if v != "" {
			named = append(named, v)
		}
	}
	hint := ""
	if near := Nearest(value, named); near != "" {
		hint = fmt.Sprintf(" (did you mean %s?)", near)
	}
	return structured.BadInput("%s %q is not known%s; use %s", what, value, hint, strings.Join(named, ", "))
}

// Nearest returns the candidate with the fewest edits from name, or "" when none is close.
func Nearest(name string, candidates []string) string {
	best, distance := "", len(name)/2+1
	for _, c := range candidates {
		if d := edits(name, c); d < distance {
			best, distance = c, d
		}
	}
	return best
}

// edits is Levenshtein's distance between a and b, in bytes.
func edits(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			d := diagonal
			if a[i] != b[j] {
				d++
			}
			diagonal = row[j+1]
			row[j+1] = min(d, diagonal+1, row[j]+1)
		}
	}
	return row[len(b)]
}
