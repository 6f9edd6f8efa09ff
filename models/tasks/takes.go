package tasks

import (
	"cmp"
	"slices"
	"strings"

	"github.com/dsp-go/dsp/models/config"
	"github.com/dsp-go/dsp/models/data/formats"
	"github.com/dsp-go/dsp/models/settings"
	"github.com/dsp-go/dsp/nets"
	"github.com/dsp-go/dsp/structured"
)

// CheckSetting refuses a value of s that is out of range, and one that asks for something although the rest of c gives it no effect: a
// setting that some tasks, formats or networks take has none with the others.
func CheckSetting(s settings.Setting, c *config.Config) error {
	if err := config.CheckSetting(s, c); err != nil {
		return err
	}
	net := cmp.Or(c.Preset().Name, c.Net)
	for _, kind := range []struct {
		name, chosen string
		takers       []string
	}{
		{"task", c.Task, takersOf(s.Name)}, {"format", c.Format, formats.TakersOf(s.Name)}, {"net", net, netsThatTake(s.Name)},
	} {
		if len(kind.takers) == 0 || settings.Undecided(kind.chosen) || slices.Contains(kind.takers, kind.chosen) || !c.Asks(s) {
			continue
		}
		if has, own := nets.HasSetting(kind.chosen, s.Name); kind.name == "net" && own {
			if !has && !ofOwnInputs(kind.chosen, s.Name) {
				return structured.BadInput("--%s %v has no effect: network %s of this program has no such setting", s.Name, s.Value.Interface(), net)
			}
			continue
		}
		return structured.BadInput("--%s %v has no effect with --%s %s; it is for --%s %s",
			s.Name, s.Value.Interface(), kind.name, kind.chosen, kind.name, strings.Join(kind.takers, ", "))
	}
	if net == nets.StackNet && c.Stack != "" && slices.Contains(attributeSettings, s.Name) && c.Asks(s) && !c.Network().ReadsAttributes() {
		return structured.BadInput("--%s %v has no effect: the stack has no layer \"attributes\"", s.Name, s.Value.Interface())
	}
	return nil
}

// Applies reports whether a setting can have an effect on a training with the task, format, network and method that c chooses; any of
// these may be open.
func Applies(setting string, c *config.Config) bool {
	applies := func(chosen string, takers []string) bool {
		return len(takers) == 0 || settings.Undecided(chosen) || slices.Contains(takers, chosen)
	}
	net := cmp.Or(c.Preset().Name, c.Net)
	has, own := nets.HasSetting(net, setting)
	return applies(c.Task, takersOf(setting)) && applies(c.Format, formats.TakersOf(setting)) && config.MethodTakes(setting, c) &&
		(has || own && ofOwnInputs(net, setting) || applies(net, netsThatTake(setting)))
}

// TakesSetting reports whether a setting that has no effect on some tasks has one on t.
func (t Task) TakesSetting(name string) bool { return slices.Contains(t.Takes, name) }

// takersOf returns the names of the tasks that take a setting.
func takersOf(setting string) []string {
	return names(func(t Task) bool { return t.TakesSetting(setting) })
}

// attributeSettings say which attributes a network reads.
var attributeSettings = []string{"template", "hash-bits"}

// netsThatTake returns the names of the networks on which a setting has an effect: one of theirs, or one of the inputs that they read.
func netsThatTake(setting string) []string {
	return nets.PresetsThat(func(p *nets.Preset) bool {
		words, attributes, open := p.CanRead(nets.ReadsWords), p.CanRead(nets.ReadsAttributes), len(p.Reads) == 0
		switch {
		case setting == "dense" || setting == "vectors":
			return words || p.Linear
		case setting == "freeze-vectors":
			return words
		case slices.Contains(attributeSettings, setting):
			return attributes || open
		case setting == "clusters" || setting == "gazetteer":
			return attributes && p.CanScore(nets.ScoresPositions)
		case setting == "min-count":
			return words || attributes || open
		}
		return p.Takes(setting)
	})
}

// ofOwnInputs reports whether a setting says how the inputs of a registered network are made.
func ofOwnInputs(net, setting string) bool {
	return setting == "min-count" || slices.Contains(attributeSettings, setting) && nets.Config{Net: net}.ReadsAttributes()
}
