package optimisers

import (
	"reflect"
	"slices"
	"strings"
	"sync"

	"github.com/dsp-go/dsp/models/settings"
	"github.com/dsp-go/dsp/structured"
)

// registry holds the methods in the order of their registration, and the first error of a registration.
var registry struct {
	sync.RWMutex
	all []*Descriptor
	err error
	own bool // a method has settings that only it has
}

// The order is that of the help.
func init() {
	registry.all = []*Descriptor{SGD, Adam, SVRG, Casimir, CasimirAdapt, SAGA, BCFW, BCPFW, SDCA, LBFGS, OWLQN, ProxLinear}
}

// Register adds a method of a program's own: every verb then knows it by its name, with its settings. A program registers its methods
// before it uses any.
//
// A name that is empty or taken, a missing summary, settings without help, and a Make that fails with default settings are errors, which every
// later use of a method reports.
func Register(d *Descriptor) {
	err := checkRegistration(d)
	registry.Lock()
	defer registry.Unlock()
	switch {
	case err == nil:
		registry.all, registry.own = append(registry.all, d), registry.own || len(d.OwnSettings()) > 0
	case registry.err == nil:
		registry.err = err
	}
}

func checkRegistration(d *Descriptor) error {
	_, taken := Find(d.Name)
	switch {
	case d.Name == "" || strings.ContainsAny(d.Name, " ,=|"):
		return structured.BadInput("own method %q: expected a name without spaces, commas, = and |", d.Name)
	case taken || settings.Undecided(d.Name):
		return structured.BadInput("own method %q has the name of another one; register it under its own", d.Name)
	case d.Summary == "":
		return structured.BadInput("own method %q is registered without a summary", d.Name)
	case d.Make == nil:
		return structured.BadInput("own method %q is registered without a function that makes it", d.Name)
	case d.Settings != nil && reflect.TypeOf(d.Settings).Kind() != reflect.Struct:
		return structured.BadInput("own method %q: its settings are a %T; expected a struct", d.Name, d.Settings)
	}
	shared := settings.Of(&Settings{})
	_, all := d.defaults()
	for _, s := range all {
		same, ok := settings.Named(shared, s.Name)
		switch {
		case ok && same.Value.Type() != s.Value.Type():
			return structured.BadInput("own method %q: its setting %s is a %v, that of other methods a %v; embed the group that has it", d.Name, s.Name, s.Value.Type(),
				same.Value.Type())
		case !s.Value.CanSet():
			return structured.BadInput("own method %q: its setting %s needs an exported field", d.Name, s.Name)
		case s.Help == "":
			return structured.BadInput("own method %q: its setting %s needs a tag help", d.Name, s.Name)
		}
	}
	if _, ok := settings.Named(all, d.StepSetting); !ok && d.StepSetting != "" {
		return structured.BadInput("own method %q: it has no setting %s, which it calls its step size", d.Name, d.StepSetting)
	}
	if _, err := d.New(&Run{Settings: Default()}); err != nil {
		return structured.BadInput("own method %q cannot be made with default settings: %w", d.Name, err)
	}
	return nil
}

// All returns the methods in the order of their registration.
func All() []*Descriptor {
	registry.RLock()
	defer registry.RUnlock()
	return slices.Clone(registry.all)
}

// Failed returns the first error of a registration.
func Failed() error {
	registry.RLock()
	defer registry.RUnlock()
	return registry.err
}

// HasOwnSettings reports whether a method has settings that only it has.
func HasOwnSettings() bool {
	registry.RLock()
	defer registry.RUnlock()
	return registry.own
}

// Find returns the method of that name; auto is none.
func Find(name string) (*Descriptor, bool) {
	registry.RLock()
	defer registry.RUnlock()
	k := slices.IndexFunc(registry.all, func(d *Descriptor) bool { return d.Name == name })
	if k < 0 {
		return nil, false
	}
	return registry.all[k], true
}
