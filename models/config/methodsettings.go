package config

import (
	"slices"
	"strings"

	"github.com/dsp-go/dsp/models/optimisers"
	"github.com/dsp-go/dsp/models/settings"
	"github.com/dsp-go/dsp/structured"
)

// Optimiser returns the descriptor of the method; ok is false where the choice is open.
func (c *Config) Optimiser() (d *optimisers.Descriptor, ok bool) { return optimisers.Find(c.Method) }

// Run returns what a method is made from.
func (c *Config) Run() *optimisers.Run {
	return &optimisers.Run{Settings: c.Settings, Continues: c.Init != "", Dropout: c.Dropout}
}

// CheckMethod refuses, as bad input, settings of the method that are out of range or have no effect with others.
func (c *Config) CheckMethod() error {
	if d, ok := c.Optimiser(); ok {
		if c.Path && !d.Certified {
			return structured.BadInput("--path needs a certificate, which --method %s does not give; use a convex method on --net linear", c.Method)
		}
		if d.Closed && c.Loss != "auto" && !d.Losses.Takes(c.Loss) { // another method says more about a loss when it knows the data
			return structured.BadInput("--method %s gives probabilities, of which the loss %s knows nothing; leave --loss out, or give one of %s", c.Method, c.Loss, d.Losses)
		}
		return d.Validate(c.Run())
	}
	return c.Settings.Check()
}

// MethodTakes reports whether a setting can have an effect on the method that c chooses, or is no setting of methods.
func MethodTakes(setting string, c *Config) bool {
	s, ok := settings.Named(Settings(c), setting)
	return !ok || c.checkTaken(s) == nil
}

// checkTaken refuses a setting that has an effect on other methods, and none on this one.
func (c *Config) checkTaken(s settings.Setting) error {
	takes := func(d *optimisers.Descriptor) bool { return d.Takes(s.Name) }
	d, ok := c.Optimiser()
	if !ok || takes(d) {
		return nil
	}
	takers := optimisers.NamesOf(takes)
	if len(takers) == 0 { // it is no setting of methods
		return nil
	}
	at := d.Name
	if parts, by := d.Parts(&c.Settings); slices.ContainsFunc(parts, takes) {
		return nil
	} else if by != "" {
		at += " " + by
	}
	return structured.BadInput("--%s %v has no effect with --method %s; it is for --method %s",
		s.Name, s.Value.Interface(), at, strings.Join(takers, ", "))
}
