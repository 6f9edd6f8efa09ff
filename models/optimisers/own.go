package optimisers

import (
	"slices"

	"github.com/dsp-go/dsp/models/settings"
	"github.com/dsp-go/dsp/structured"
)

// OwnSettingsName is the name of the setting that holds those that only one method has.
const OwnSettingsName = "method-settings"

// OwnSettings returns the settings that only this method has, with their defaults.
func (d *Descriptor) OwnSettings() []settings.Setting {
	shared := settings.Of(&Settings{})
	_, all := settings.Fresh(d.Settings)
	return slices.DeleteFunc(all, func(s settings.Setting) bool {
		_, ok := settings.Named(shared, s.Name)
		return ok
	})
}

// own returns a copy of the method's struct with the values of a run.
func (d *Descriptor) own(r *Run) (any, error) {
	own, all := settings.Fresh(d.Settings)
	shared := settings.Of(&r.Settings)
	for _, s := range all {
		if from, ok := settings.Named(shared, s.Name); ok {
			s.Value.Set(from.Value)
			continue
		}
		text, given := r.Extra[s.Name]
		s.Name = OwnSettingsName + " " + s.Name // as the user gives it
		if given {
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

// checkOwn refuses settings of the user's that none of the methods has.
func checkOwn(r *Run, methods []*Descriptor) error {
	for name := range r.Extra {
		if slices.ContainsFunc(methods, func(d *Descriptor) bool {
			_, ok := settings.Named(d.OwnSettings(), name)
			return ok
		}) {
			continue
		}
		return structured.BadInput("--%s %s: --method %s has no setting %q%s", OwnSettingsName, r.Extra, r.Method, name, settings.Listed(methods[0].OwnSettings()))
	}
	for _, d := range methods {
		if _, err := d.own(r); err != nil {
			return err
		}
	}
	return nil
}
