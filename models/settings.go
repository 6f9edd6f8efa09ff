package models

import (
	"io"
	"os"
	"reflect"
	"slices"
	"strings"

	"github.com/dsp-go/dsp/models/settings"
	"github.com/dsp-go/dsp/structured"
)

// Settings returns the settings of c, in the order of the fields.
func Settings(c *Config) []settings.Setting { return settings.Of(c) }

// setting returns the setting of that name.
func setting(c *Config, name string) (settings.Setting, bool) {
	return settings.Named(Settings(c), name)
}

// CheckSetting refuses a value of s that is out of range, and one that differs from the default although the rest of c gives
// it no effect.
func CheckSetting(s settings.Setting, c *Config) error {
	if err := s.Check(); err != nil {
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
		if settings.Undecided(at) || slices.Contains(allowed, at) {
			continue
		}
		if name == "method" && at == "prox-linear" { // its inner method has settings too
			inner, _ := setting(c, "inner")
			possible := func(method string) bool { return slices.Contains(inner.Values, method) }
			if slices.Contains(allowed, c.Inner) || settings.Undecided(c.Inner) && slices.ContainsFunc(allowed, possible) {
				continue
			}
			at += " --inner " + c.Inner
		}
		return structured.BadInput("--%s %v has no effect with --%s %s; it is for --%s %s",
			s.Name, s.Value.Interface(), name, at, name, strings.ReplaceAll(values, ",", ", "))
	}
	return nil
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
