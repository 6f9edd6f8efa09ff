package settings

import (
	"reflect"
	"slices"
	"strings"
	"sync"

	"github.com/dsp-go/dsp/structured"
)

// Fresh returns a pointer to a copy of plain, a struct of settings with their defaults, and the settings in it. Both
// are nil if plain is.
func Fresh(plain any) (own any, all []Setting) {
	if plain == nil {
		return nil, nil
	}
	fresh := reflect.New(reflect.TypeOf(plain))
	fresh.Elem().Set(reflect.ValueOf(plain))
	return fresh.Interface(), Of(fresh.Interface())
}

// CheckOwn refuses, as bad input, a plain that is no struct, and settings in it without an exported field or a help
// text.
func CheckOwn(plain any) error {
	if plain != nil && reflect.TypeOf(plain).Kind() != reflect.Struct {
		return structured.BadInput("its settings are a %T; expected a struct", plain)
	}
	_, all := Fresh(plain)
	for _, s := range all {
		switch {
		case !s.Value.CanSet():
			return structured.BadInput("its setting %s needs an exported field", s.Name)
		case s.Help == "":
			return structured.BadInput("its setting %s needs a tag help", s.Name)
		}
	}
	return nil
}

// Fill returns a pointer to a copy of plain with the values that were given as text. flag is the setting that gives
// them (--FLAG NAME=VALUE), and of says whose settings they are, for messages.
func Fill(plain any, given Texts, flag, of string) (any, error) {
	own, all := Fresh(plain)
	for name := range given {
		if _, ok := Named(all, name); !ok {
			return nil, structured.BadInput("--%s %s: %s has no setting %q%s", flag, given, of, name, Listed(all))
		}
	}
	for _, s := range all {
		text, ok := given[s.Name]
		s.Name = flag + " " + s.Name // as the user gives it
		if ok {
			if err := s.Set(text); err != nil {
				return nil, structured.BadInput("--%s: %w", s.Name, err)
			}
		}
		if err := s.Check(); err != nil {
			return nil, err
		}
	}
	return own, nil
}

// Listed ends a message with the names of settings.
func Listed(all []Setting) string {
	var names []string
	for _, s := range all {
		names = append(names, s.Name)
	}
	if len(names) == 0 {
		return ""
	}
	return "; it has " + strings.Join(names, ", ")
}

// Registry holds what a program can choose by name: first what dsp itself has, in the order of the names, then what the
// program registered, in that order. It also holds the first error of a registration. The zero value is empty.
type Registry[D any] struct {
	lock  sync.RWMutex
	all   []D
	names []string // of what dsp itself has
	err   error
}

// Builtin adds and returns a value that dsp itself has. The file that describes the value calls it when the program
// starts, so that the value is listed nowhere else. It panics if the name is taken.
func (r *Registry[D]) Builtin(name string, d D) D {
	k, taken := slices.BinarySearch(r.names, name)
	if taken {
		panic("two things of the name " + name)
	}
	r.names, r.all = slices.Insert(r.names, k, name), slices.Insert(r.all, k, d)
	return d
}

// Add adds a value, unless err says why it cannot be added. The first such error stays.
func (r *Registry[D]) Add(d D, err error) {
	r.lock.Lock()
	defer r.lock.Unlock()
	switch {
	case err == nil:
		r.all = append(r.all, d)
	case r.err == nil:
		r.err = err
	}
}

// All returns the values, in a slice of the caller's own.
func (r *Registry[D]) All() []D {
	r.lock.RLock()
	defer r.lock.RUnlock()
	return slices.Clone(r.all)
}

// Each visits the values without copying them, as every check of a setting does. visit must not change them.
func (r *Registry[D]) Each(visit func(d *D)) {
	r.lock.RLock()
	all := r.all
	r.lock.RUnlock()
	for k := range all {
		visit(&all[k])
	}
}

// Failed returns the first error of a registration.
func (r *Registry[D]) Failed() error {
	r.lock.RLock()
	defer r.lock.RUnlock()
	return r.err
}

// Put replaces the values and forgets an error, for tests.
func (r *Registry[D]) Put(all []D) {
	r.lock.Lock()
	defer r.lock.Unlock()
	r.all, r.err = slices.Clone(all), nil
}

// CheckName refuses, as bad input, a name that a user could not give to a flag, and one that is taken.
func CheckName(name string, taken []string) error {
	switch {
	case name == "" || strings.ContainsAny(name, " ,=|"):
		return structured.BadInput("expected a name without spaces, commas, = and |")
	case slices.Contains(taken, name) || Undecided(name):
		return structured.BadInput("another one has this name")
	}
	return nil
}
