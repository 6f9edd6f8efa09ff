package settings

import (
	"fmt"
	"reflect"
	"slices"
)

// Given are the names of the settings that somebody gave: by a flag, in a configuration file, or in a sweep. A struct
// of settings with a field Given of this type records them, whatever their values are: a given value that happens to be
// the default is given, too. Names are sorted. Methods change copies, so that copies of a struct stay apart.
type Given []string

// Has reports whether a setting was given.
func (g Given) Has(name string) bool {
	_, ok := slices.BinarySearch(g, name)
	return ok
}

func (g *Given) add(name string) {
	if k, ok := slices.BinarySearch(*g, name); !ok {
		*g = slices.Insert(slices.Clone(*g), k, name)
	}
}

func (g *Given) remove(name string) {
	*g = g.Only(func(other string) bool { return other != name })
}

func (g Given) Only(wanted func(name string) bool) Given {
	return slices.DeleteFunc(slices.Clone(g), func(name string) bool { return !wanted(name) })
}

// givenIn returns the record in a struct of settings, nil without one.
func givenIn(v reflect.Value) *Given {
	f := v.FieldByName("Given")
	if !f.IsValid() {
		return nil
	}
	given, _ := f.Addr().Interface().(*Given)
	return given
}

// Give sets the value and records that it was given.
func (s Setting) Give(value reflect.Value) {
	s.Value.Set(value)
	if s.given != nil {
		s.given.add(s.Name)
	}
}

// Reset sets the value of plain, which is the same setting with its default value, and forgets that another was given.
func (s Setting) Reset(plain Setting) {
	s.Value.Set(plain.Value)
	if s.given != nil {
		s.given.remove(s.Name)
	}
}

// GivenBeside reports whether the setting was given. plain is the same setting with its default value. A different
// value was given, by a user or by code that set the field. A default that leaves the choice to dsp, such as auto, does
// not count as given.
func (s Setting) GivenBeside(plain Setting) bool {
	if !reflect.DeepEqual(s.Value.Interface(), plain.Value.Interface()) {
		return true
	}
	return s.given != nil && s.given.Has(s.Name) && !Undecided(fmt.Sprint(s.Value.Interface()))
}
