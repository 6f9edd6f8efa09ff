package config

import (
	"io"
	"os"
	"slices"
	"strings"

	"github.com/dsp-go/dsp/models/optimisers"
	"github.com/dsp-go/dsp/models/settings"
	"github.com/dsp-go/dsp/nets"
	"github.com/dsp-go/dsp/structured"
)

// Settings returns the settings of c, in the order of the fields. The values of net and method include what is registered.
func Settings(c *Config) []settings.Setting {
	all := settings.Of(c)
	own, _ := nets.Registered()
	if !optimisers.HasOwnSettings() {
		all = slices.DeleteFunc(all, func(s settings.Setting) bool { return s.Name == optimisers.OwnSettingsName })
	}
	for i := range all {
		switch s := &all[i]; s.Name {
		case "net":
			s.Values = append(s.Values, own...)
		case "method":
			s.Values = append([]string{"auto"}, optimisers.NamesOf(func(*optimisers.Descriptor) bool { return true })...)
		case "inner":
			s.Values = append([]string{"auto"}, optimisers.NamesOf((*optimisers.Descriptor).CanBeInner)...)
		}
	}
	return all
}

// setting returns the setting of that name.
func setting(c *Config, name string) (settings.Setting, bool) {
	return settings.Named(Settings(c), name)
}

// Gives reports whether c gives the setting of that name, so that nothing else may choose its value: it is recorded as given, or it
// differs from the default. A value that leaves the choice open, such as auto, gives nothing where it is the default.
func (c *Config) Gives(name string) bool {
	def := Default()
	plain, _ := setting(&def, name)
	s, ok := setting(c, name)
	if !ok {
		panic("models: there is no setting " + name)
	}
	return s.GivenBeside(plain)
}

// CheckSetting refuses a value of s that is out of range, and one that was given although the rest of c gives it no effect. A zero asks
// for nothing where it is the default, and needs no effect.
func CheckSetting(s settings.Setting, c *Config) error {
	if err := checkValue(s); err != nil {
		return err
	}
	def := Default()
	plain, _ := setting(&def, s.Name)
	if s.Only == "" || !s.GivenBeside(plain) || s.Value.IsZero() && plain.Value.IsZero() {
		return nil
	}
	for _, condition := range strings.Fields(s.Only) {
		if condition == "method" { // that takes the setting
			if err := c.checkTaken(s); err != nil {
				return err
			}
			continue
		}
		name, values, _ := strings.Cut(condition, "=")
		other, ok := setting(c, name)
		if !ok {
			panic("models: setting " + s.Name + " depends on an unknown one: " + name)
		}
		at, allowed := other.Value.String(), strings.Split(values, ",")
		if name == "net" {
			if has, own := nets.HasSetting(at, s.Name); has || own && ofInputs(at, s.Name) {
				continue
			} else if own {
				return structured.BadInput("--%s %v has no effect: network %s of this program has no such setting", s.Name, s.Value.Interface(), at)
			}
			if nets.IsStackFile(at) {
				at = nets.StackNet
			}
			if at == nets.StackNet && c.Stack != "" && (s.Name == "template" || s.Name == "hash-bits") && !c.Network().ReadsAttributes() {
				return structured.BadInput("--%s %v has no effect: the stack has no layer \"attributes\"", s.Name, s.Value.Interface())
			}
		}
		if settings.Undecided(at) || slices.Contains(allowed, at) {
			continue
		}
		return structured.BadInput("--%s %v has no effect with --%s %s; it is for --%s %s",
			s.Name, s.Value.Interface(), name, at, name, strings.ReplaceAll(values, ",", ", "))
	}
	return nil
}

// checkValue refuses a value of s that is out of range.
func checkValue(s settings.Setting) error {
	switch s.Name {
	case "net":
	case "method":
		if err := optimisers.Failed(); err != nil {
			return err
		}
		return s.Check()
	default:
		return s.Check()
	}
	if _, err := nets.Registered(); err != nil || nets.IsStackFile(s.Value.String()) {
		return err
	}
	if err := s.Check(); err != nil {
		return structured.BadInput("%w, or FILE.yaml for a stack of layers; a network of your own is in the program that registers it (nets.Register): use that", err)
	}
	return nil
}

// ofInputs reports whether a setting says how the inputs of a registered network are made.
func ofInputs(net, setting string) bool {
	return setting == "min-count" || (setting == "template" || setting == "hash-bits") && nets.Config{Net: net}.ReadsAttributes()
}

// ReadConfig reads a YAML file of settings over the defaults; see settings.Parse. It does not Validate: flags may still
// change the result.
func ReadConfig(path string) (Config, error) {
	c := Default()
	text, err := os.ReadFile(path)
	if err != nil {
		return c, structured.BadInput("configuration: %w", err)
	}
	return c, settings.Parse(path, text, Settings(&c))
}

// Write writes c as the YAML that ReadConfig reads, without the settings that only steer a command's output.
func (c Config) Write(w io.Writer) error {
	c.Resume, c.Quiet, c.JSON = "", false, false
	return settings.Write(w, Settings(&c))
}

// ForModel returns c with default values for the settings that do not change the model. Of what was given it keeps what a model cannot
// tell from its values: that it draws as many examples as the defaults say because that was asked for.
func (c Config) ForModel() Config {
	def := Default()
	plain := Settings(&def)
	for i, s := range Settings(&c) {
		if s.Run {
			s.Value.Set(plain[i].Value)
		}
	}
	c.Given = c.Given.Only(func(name string) bool { return name == "examples" && slices.Equal(c.Examples, def.Examples) })
	return c
}
