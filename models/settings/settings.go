// Package settings reads the fields of a struct as settings: flags of a command, keys of a YAML file, and their help.
package settings

import (
	"cmp"
	"fmt"
	"math"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/dsp-go/dsp/structured"
)

// Setting is one field of a struct of settings, with what its tags say.
type Setting struct {
	Name   string   // flag and key
	Group  string   // heading in files, and what it is about
	Help   string   // what it does
	Unit   string   // placeholder of the value in the help, or empty
	Values []string // the allowed values, or nil
	Only   string   // the settings under which it takes effect ("search=windows"), or empty
	Needs  string   // another setting without which it has no effect, or empty
	Reads  []string // the inputs of a network that it is about, or nil
	Run    bool     // whether it does not change the trained model
	Was    string   // its name in earlier versions, which works too, or empty

	Heading string // in the help: that of its struct, or else Group
	Beside  string // the setting behind which the help shows it, under the same heading, or empty

	Value reflect.Value // the field, settable; Gap, Count, Sizes, Bounds, LabelWeights and Ranges have Set, String and Type, as flags do

	Asker Asker // who gives it

	field []int // its index in the struct, and in the structs embedded there
	min   string
	max   string // beyond it, the message says what Unit lists, if that is a list
	given *Given // of the struct, or nil
}

// Of returns the settings among the fields of the struct that c points to, and of structs embedded there without the
// tag yaml:"-", in their order: those with a yaml tag. A field Given of type Given gets the names of those that Set,
// Give and Parse set.
func Of(c any) []Setting {
	v := reflect.ValueOf(c).Elem()
	given, all := givenIn(v), slices.Clone(tagged(v.Type()))
	for i := range all {
		all[i].Value, all[i].given = v.FieldByIndex(all[i].field), given
	}
	return all
}

// Get returns the setting of that name among those of Of(c), without making the others.
func Get(c any, name string) (Setting, bool) {
	v := reflect.ValueOf(c).Elem()
	for _, s := range tagged(v.Type()) {
		if s.Name == name {
			s.Value, s.given = v.FieldByIndex(s.field), givenIn(v)
			return s, true
		}
	}
	return Setting{}, false
}

// described holds the settings of each type of struct, without values. Every check of a setting asks for some.
var described sync.Map

// tagged returns the settings that the tags of a struct describe, without values. Callers must not change them.
func tagged(of reflect.Type) []Setting {
	if all, ok := described.Load(of); ok {
		return all.([]Setting)
	}
	var all []Setting
	for _, f := range reflect.VisibleFields(of) {
		tag := f.Tag
		name, _, _ := strings.Cut(tag.Get("yaml"), ",")
		if name == "" || name == "-" || hidden(of, f.Index) {
			continue
		}
		s := Setting{
			Name:  name,
			Group: tag.Get("group"),
			Help:  tag.Get("help"),
			Unit:  tag.Get("unit"),
			Only:  tag.Get("only"),
			Needs: tag.Get("needs"),
			Run:   tag.Get("run") != "",
			Was:   tag.Get("was"),

			Heading: headingOf(of, f),
			Beside:  tag.Get("beside"),

			field: f.Index,
			min:   tag.Get("min"),
			max:   tag.Get("max"),
		}
		if values, ok := tag.Lookup("values"); ok {
			s.Values = slices.Clip(strings.Split(values, "|"))
		}
		if reads := tag.Get("reads"); reads != "" {
			s.Reads = strings.Split(reads, "|")
		}
		all = append(all, s)
	}
	described.Store(of, all)
	return all
}

// headingOf returns the heading of a field in the help.
func headingOf(of reflect.Type, f reflect.StructField) string {
	heading := cmp.Or(f.Tag.Get("heading"), f.Tag.Get("group"))
	for k := 1; k < len(f.Index); k++ {
		heading = cmp.Or(of.FieldByIndex(f.Index[:k]).Tag.Get("heading"), heading)
	}
	return heading
}

// hidden reports whether a field is in an embedded struct with the tag yaml:"-".
func hidden(of reflect.Type, index []int) bool {
	for k := 1; k < len(index); k++ {
		if of.FieldByIndex(index[:k]).Tag.Get("yaml") == "-" {
			return true
		}
	}
	return false
}

// Named returns the setting that has that name, or had it in an earlier version.
func Named(all []Setting, name string) (Setting, bool) {
	for _, s := range all {
		if s.Name == name || s.Was == name && name != "" {
			return s, true
		}
	}
	return Setting{}, false
}

// Stored is the name under which checkpoints know the setting, which stays when Name changes.
func (s Setting) Stored() string { return cmp.Or(s.Was, s.Name) }

// Displayed returns settings in the order of a help: those that belong beside another follow it, under its heading.
func Displayed(all []Setting) []Setting {
	var shown []Setting
	for _, s := range all {
		if s.Beside != "" {
			continue
		}
		shown = append(shown, s)
		for _, other := range all {
			if other.Beside == s.Name {
				other.Heading = s.Heading
				shown = append(shown, other)
			}
		}
	}
	return shown
}

// Check refuses a value that is not one of Values, is not finite, or is below the least value.
func (s Setting) Check() error {
	if s.Value.Kind() == reflect.String && !utf8.ValidString(s.Value.String()) {
		return structured.BadInput("%s %q: not UTF-8, which the files of settings and models are; rename the file or folder", s.Asker.Name(s.Name), s.Value.String())
	}
	if s.Values != nil {
		if err := OneOf(s.Asker.Name(s.Name), s.Value.String(), s.Values); err != nil {
			return err
		}
	}
	return s.CheckRange()
}

// AtMost returns the setting with another largest value.
func (s Setting) AtMost(most int) Setting {
	s.max = strconv.Itoa(most)
	return s
}

// Undecided reports whether a value leaves the choice open.
func Undecided(value string) bool { return value == "" || value == "auto" }

// CheckRange refuses numbers that are not finite, below the least value or above the largest.
func (s Setting) CheckRange() error {
	low, high := math.Inf(-1), math.Inf(1)
	if s.min != "" {
		low, _ = strconv.ParseFloat(s.min, 64)
	}
	if s.max != "" {
		high, _ = strconv.ParseFloat(s.max, 64)
	}
	check := func(x float64, value any) error {
		if math.IsNaN(x) || math.IsInf(x, 0) {
			return structured.BadInput("%s: expected a finite number", s.Asker.Name(s.Name, value))
		}
		if low <= x && x <= high {
			return nil
		}
		expected := fmt.Sprintf("%v to %s", low, s.max)
		switch {
		case x > high && strings.Contains(s.Unit, "|"):
			expected = strings.ReplaceAll(s.Unit, "|", " or ")
		case s.max == "":
			expected = fmt.Sprintf("at least %v", low)
		case s.min == "":
			expected = "at most " + s.max
		}
		return structured.BadInput("%s: expected %s", s.Asker.Name(s.Name, value), expected)
	}
	switch v := s.Value; v.Kind() {
	case reflect.Float64:
		if v.Interface() == any(AutoGap) || v.Interface() == any(AutoStrength) {
			return nil
		}
		return check(v.Float(), v.Float())
	case reflect.Int:
		return check(float64(v.Int()), v.Int())
	case reflect.Slice:
		for i := range v.Len() {
			if err := check(float64(v.Index(i).Int()), v.Index(i).Int()); err != nil {
				return err
			}
		}
	}
	return nil
}

// OneOf refuses a value that is not allowed, and suggests the nearest allowed one.
func OneOf(what, value string, allowed []string) error {
	if slices.Contains(allowed, value) {
		return nil
	}
	var named, listed []string
	for _, v := range allowed {
		if v != "" {
			named, listed = append(named, v), append(listed, structured.QuoteName(v))
		}
	}
	hint := ""
	if near := Nearest(value, named); near != "" {
		hint = fmt.Sprintf(" (did you mean %s?)", near)
	}
	return structured.BadInput("%s %q is not known%s; use %s", what, value, hint, strings.Join(listed, ", "))
}

// Set parses text as the setting's value, and records that it was given.
func (s Setting) Set(text string) error {
	var err error
	switch v := s.Value.Addr().Interface().(type) {
	case interface{ Set(text string) error }:
		if err := v.Set(text); err != nil {
			return err
		}
	case *string:
		*v = text
	case *bool:
		*v, err = strconv.ParseBool(text)
	case *int:
		*v, err = strconv.Atoi(text)
	case *uint64:
		*v, err = strconv.ParseUint(text, 10, 64)
	case *float64:
		*v, err = strconv.ParseFloat(text, 64)
	}
	if err != nil {
		return structured.BadInput("%q: expected %s", text, s.kind())
	}
	s.Give(s.Value)
	return nil
}
