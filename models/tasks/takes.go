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

// CheckSetting refuses a value of s that is out of range, and one that asks for something although the rest of c gives
// it no effect: a setting that some tasks, formats or networks take has none with the others.
func CheckSetting(s settings.Setting, c *config.Config) error {
	if err := config.CheckSetting(s, c); err != nil {
		return err
	}
	if !c.Asks(s) {
		return nil
	}
	net := cmp.Or(c.Preset().Name, c.Net)
	for _, kind := range []struct {
		name, chosen string
		takers       []string
	}{
		{"task", c.Task, takersOf(s.Name)}, {"format", c.Format, formatsThatTake(s, c)}, {"net", net, netsThatTake(s)},
	} {
		if len(kind.takers) == 0 || settings.Undecided(kind.chosen) || slices.Contains(kind.takers, kind.chosen) {
			continue
		}
		if has, own := nets.HasSetting(kind.chosen, s.Name); kind.name == "net" && own {
			if !has && !ofOwnInputs(kind.chosen, s) {
				return structured.BadInput("--%s %v has no effect: network %s of this program has no such setting",
					s.Name, s.Value.Interface(), net)
			}
			continue
		}
		at := "with --" + kind.name + " " + kind.chosen
		if kind.chosen == formats.Builtin && c.Train == "" {
			at = "on drawn data; give --train FILE"
		}
		return structured.BadInput("--%s %v has no effect %s; it is for --%s %s", s.Name, s.Value.Interface(), at, kind.name,
			strings.Join(kind.takers, ", "))
	}
	if net == nets.StackNet && c.Stack != "" && aboutAttributes(s) && !c.Network().ReadsAttributes() {
		return structured.BadInput("--%s %v has no effect: the stack has no layer \"attributes\"",
			s.Name, s.Value.Interface())
	}
	return nil
}

// Listed reports whether a help lists a setting for what c chooses: it can have an effect on a training with the task,
// format, network and method that c chooses, and what it belongs to is chosen. What belongs to a method, a network, an
// encoder, drawn data or another setting waits for that; where the network is open, it is the linear one.
func Listed(s settings.Setting, c *config.Config) bool {
	takes := func(chosen string, takers []string) bool {
		return len(takers) == 0 || settings.Undecided(chosen) || slices.Contains(takers, chosen)
	}
	drawn := OfDrawn(s.Name) && settings.Undecided(c.Format)
	net := cmp.Or(c.Preset().Name, c.Net)
	if settings.Undecided(net) {
		net = nets.LinearNet
	}
	has, own := nets.HasSetting(net, s.Name)
	return takes(c.Task, takersOf(s.Name)) && takes(c.Format, formats.TakersOf(s.Name)) && !drawn &&
		config.MethodTakes(s.Name, c) &&
		(has || own && ofOwnInputs(net, s) || takes(net, netsThatTake(s))) && config.Awaits(s, c) == ""
}

// OfDrawn reports whether a setting is about drawn data alone. dsp data has it, too.
func OfDrawn(setting string) bool {
	return slices.Equal(formats.TakersOf(setting), []string{formats.Builtin})
}

// TakesSetting reports whether a setting that has no effect on some tasks has one on t.
func (t Task) TakesSetting(name string) bool { return slices.Contains(t.Takes, name) }

// takersOf returns the names of the tasks that take a setting.
func takersOf(setting string) (names []string) {
	registry.Each(func(t *Task) {
		if slices.Contains(t.Takes, setting) {
			names = append(names, t.Name)
		}
	})
	return names
}

// formatsThatTake returns the names of the formats that take a setting: those with data for the task of c, unless none
// of them does.
func formatsThatTake(s settings.Setting, c *config.Config) []string {
	takers := formats.TakersOf(s.Name)
	t, known := Named(c.Task)
	of := slices.DeleteFunc(slices.Clone(takers), func(name string) bool {
		return known && !t.reads(formats.Find(name)) && !(name == formats.Builtin && t.Draw != nil)
	})
	if len(of) == 0 {
		return takers
	}
	return of
}

// readsLayers is the input of settings that are for networks, too, that say themselves what they read: stacks and
// registered ones.
const readsLayers = "layers"

// aboutAttributes reports whether such networks take a setting only if they read attributes.
func aboutAttributes(s settings.Setting) bool {
	return slices.Contains(s.Reads, readsLayers) && !slices.Contains(s.Reads, string(nets.ReadsWords))
}

// netsThatTake returns the names of the networks on which a setting has an effect: one of theirs, or one of the inputs
// that they read.
func netsThatTake(s settings.Setting) []string {
	return nets.PresetsThat(func(p *nets.Preset) bool {
		reads := slices.ContainsFunc(s.Reads, func(in string) bool { return p.CanRead(nets.Inputs(in)) })
		return reads || len(p.Reads) == 0 && slices.Contains(s.Reads, readsLayers) || p.Takes(s.Name)
	})
}

// ofOwnInputs reports whether a setting says how the inputs of a registered network are made.
func ofOwnInputs(net string, s settings.Setting) bool {
	return slices.Contains(s.Reads, readsLayers) && (!aboutAttributes(s) || nets.Config{Net: net}.ReadsAttributes())
}
