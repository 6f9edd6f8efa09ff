package optimisers

import (
	"slices"
	"strings"
	"sync"

	"github.com/dsp-go/dsp/structured"
)

// registry holds the methods in the order of their registration, and the first error of a registration.
var registry struct {
	sync.RWMutex
	all []*Descriptor
	err error
}

// The order is that of the help.
func init() {
	registry.all = []*Descriptor{SGD, Adam, SVRG, Casimir, CasimirAdapt, SAGA, BCFW, BCPFW, SDCA, LBFGS, OWLQN, ProxLinear}
}

// Register adds a method of a program's own: every verb then knows it by its name, with its settings. A program registers its methods
// before it uses any.
//
// A name that is empty or taken, a missing summary or Make, and a Make that fails with default settings are errors, which every later use of a
// method reports.
func Register(d *Descriptor) {
	registry.Lock()
	defer registry.Unlock()
	if err := checkRegistration(d); err == nil {
		registry.all = append(registry.all, d)
	} else if registry.err == nil {
		registry.err = err
	}
}

func checkRegistration(d *Descriptor) error {
	switch {
	case d.Name == "" || strings.ContainsAny(d.Name, " ,=|"):
		return structured.BadInput("own method %q: expected a name without spaces, commas, = and |", d.Name)
	case d.Name == "auto" || slices.ContainsFunc(registry.all, func(other *Descriptor) bool { return other.Name == d.Name }):
		return structured.BadInput("own method %q has the name of another one; register it under its own", d.Name)
	case d.Summary == "":
		return structured.BadInput("own method %q is registered without a summary", d.Name)
	case d.Make == nil:
		return structured.BadInput("own method %q is registered without a function that makes it", d.Name)
	}
	_, err := d.New(&Run{Settings: Default()})
	return err
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
