package optimisers

import (
	"slices"
	"sync/atomic"

	"github.com/dsp-go/dsp/models/settings"
	"github.com/dsp-go/dsp/structured"
)

var descriptors settings.Registry[*Descriptor]

// builtin registers a method of dsp itself, in the file that describes it.
func builtin(d *Descriptor) *Descriptor { return descriptors.Builtin(d.Name, d) }

// Register adds a method of a program's own: every verb then knows it by its name, with its settings. A program
// registers its methods before it uses any.
//
// A name that is empty or taken, a missing summary, settings without help, and a Make that fails with default settings
// are errors, which every later use of a method reports.
func Register(d *Descriptor) {
	err := checkRegistration(d)
	descriptors.Add(d, err)
	someOwn.Store(nil)
}

var someOwn atomic.Pointer[bool] // whether some method has settings that only it has; nil: nobody has asked yet

func checkRegistration(d *Descriptor) error {
	err := settings.CheckName(d.Name, NamesOf(func(*Descriptor) bool { return true }))
	switch {
	case err != nil:
	case d.Summary == "":
		err = structured.BadInput("it has no summary")
	case d.Make == nil:
		err = structured.BadInput("it has no function that makes it")
	default:
		if err = settings.CheckOwn(d.Settings); err == nil {
			err = d.checkShared()
		}
	}
	if err != nil {
		return structured.BadInput("own method %q: %w", d.Name, err)
	}
	return nil
}

// checkShared refuses settings of other methods' names and other types, and a method that cannot be made with the
// defaults.
func (d *Descriptor) checkShared() error {
	shared := settings.Of(&Settings{})
	_, all := settings.Fresh(d.Settings)
	for _, s := range all {
		same, ok := settings.Named(shared, s.Name)
		if ok && same.Value.Type() != s.Value.Type() {
			return structured.BadInput("its setting %s is a %v, that of other methods a %v; embed the group that has it", s.Name, s.Value.Type(), same.Value.Type())
		}
	}
	if _, ok := settings.Named(all, d.StepSetting); !ok && d.StepSetting != "" {
		return structured.BadInput("it has no setting %s, which it calls its step size", d.StepSetting)
	}
	if _, err := d.New(&Run{Settings: Default()}); err != nil {
		return structured.BadInput("it cannot be made with default settings: %w", err)
	}
	return nil
}

// All returns the methods of dsp in the order of their names, and then those that the program registered.
func All() []*Descriptor { return descriptors.All() }

// Failed returns the first error of a registration.
func Failed() error { return descriptors.Failed() }

// HasOwnSettings reports whether a method has settings that only it has.
func HasOwnSettings() bool {
	known := someOwn.Load()
	if known == nil {
		some := slices.ContainsFunc(All(), func(d *Descriptor) bool { return len(d.OwnSettings()) > 0 })
		known = &some
		someOwn.Store(known)
	}
	return *known
}

// Find returns the method of that name; auto is none.
func Find(name string) (*Descriptor, bool) {
	for _, d := range All() {
		if d.Name == name {
			return d, true
		}
	}
	return nil, false
}
