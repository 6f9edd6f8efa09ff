package main

import (
	_ "embed"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/dsp-go/dsp/cmd/dsp/cli"
	"github.com/dsp-go/dsp/models/config"
	"github.com/dsp-go/dsp/models/data/formats"
	"github.com/dsp-go/dsp/models/optimisers"
	"github.com/dsp-go/dsp/models/settings"
	"github.com/dsp-go/dsp/models/tasks"
	"github.com/dsp-go/dsp/nets"
)

//go:embed settings.txt
var settingsText string

// details returns what settings.txt says of settings beyond their help, by their names.
func details() (map[string]string, error) {
	all := map[string]string{}
	for _, line := range strings.Split(strings.TrimSpace(settingsText), "\n") {
		name, text, ok := strings.Cut(line, ": ")
		if _, twice := all[name]; !ok || twice {
			return nil, fmt.Errorf("settings.txt: %.40q: expected a setting of its own, a colon and what it is", line)
		}
		all[name] = text
	}
	return all, nil
}

// allSettings returns the settings of a training, with their defaults.
func allSettings() []settings.Setting {
	c := config.Default()
	return config.Settings(&c)
}

// groups are what the sections of settings are about.
var groups = []struct{ name, about string }{
	{"Data", "What is learned, and from which data."},
	{"Encoder", "A pretrained encoder of text, and how it is trained along."},
	{"Network", "The network, and what it reads."},
	{"Objective", "What is minimised."},
	{"Method", "How it is minimised."},
	{"Run", "Where a run computes, and what it writes."},
}

func writeSettings(b *strings.Builder) error {
	more, err := details()
	if err != nil {
		return err
	}
	b.WriteString("`dsp train` and `dsp sweep` have these flags. Each is also a key of the YAML file of `--config`, " +
		"without its dashes. A setting that has no effect with the others is refused.\n")
	verb := verbNamed("train")
	for _, name := range headings(settings.Displayed(allSettings())) {
		fmt.Fprintf(b, "\n## %s\n\n", name)
		for _, g := range groups {
			if g.name == name {
				b.WriteString(g.about + "\n\n")
			}
		}
		for _, s := range settings.Displayed(allSettings()) {
			if s.Heading != name {
				continue
			}
			f := verb.Flag(s.Name)
			if f == nil {
				return fmt.Errorf("dsp train has no flag --%s", s.Name)
			}
			flag := cli.Describe(f)
			text := flag.Help
			if details := more[s.Name]; details != "" {
				text = details
			}
			fmt.Fprintf(b, "* `%s`%s: %s%s\n", flag.Synopsis(), byDefault(flag), sentence(text), takenBy(s))
			delete(more, s.Name)
		}
	}
	for name := range more {
		return fmt.Errorf("settings.txt: there is no setting %s", name)
	}
	return nil
}

// headings returns the groups of settings in their order.
func headings(all []settings.Setting) []string {
	var names []string
	for _, s := range all {
		if !slices.Contains(names, s.Heading) {
			names = append(names, s.Heading)
		}
	}
	return names
}

// takenBy says which tasks, formats, networks and methods take a setting, where not all do, and which other setting it
// needs.
func takenBy(s settings.Setting) string {
	var of []string
	say := func(what string, names []string) {
		if len(names) > 0 {
			of = append(of, what+" "+code(names...))
		}
	}
	say("task", takers(tasks.All(), func(t tasks.Task) (string, bool) { return t.Name, t.TakesSetting(s.Name) }))
	say("format", formats.TakersOf(s.Name))
	say("net", nets.PresetsThat(func(p *nets.Preset) bool { return p.Takes(s.Name) }))
	if methods := optimisers.NamesOf(func(d *optimisers.Descriptor) bool {
		return d.Takes(s.Name)
	}); len(methods) < len(optimisers.All()) {
		say("method", methods)
	}
	for _, condition := range strings.Fields(s.Only) {
		name, values, _ := strings.Cut(condition, "=")
		of = append(of, "`--"+name+"` "+code(strings.Split(values, ",")...))
	}
	if s.Needs != "" {
		of = append(of, "with `--"+s.Needs+"`")
	}
	text := ""
	if len(of) > 0 {
		text = " For: " + strings.Join(of, "; ") + "."
	}
	if s.Was != "" {
		text += " It was called `--" + s.Was + "`, which works, too."
	}
	return text
}

// takers returns the names of those of a registry that take a setting.
func takers[T any](all []T, takes func(T) (string, bool)) []string {
	var names []string
	for _, x := range all {
		if name, yes := takes(x); yes {
			names = append(names, name)
		}
	}
	return names
}

// byDefault says what the default of a flag is, where it has one.
func byDefault(f cli.Flag) string {
	if f.Default == "" {
		return ""
	}
	return " (default " + code(f.Default) + ")"
}

func verbNamed(name string) *cobra.Command {
	for _, verb := range cli.Root().Commands() {
		if verb.Name() == name {
			return verb
		}
	}
	panic("there is no verb " + name)
}

func writeVerbs(b *strings.Builder) error {
	all := cli.Root()
	b.WriteString("Flags of every verb:\n\n")
	all.PersistentFlags().VisitAll(func(f *pflag.Flag) { writeFlag(b, f) })
	for _, verb := range all.Commands() {
		if verb.IsAvailableCommand() {
			writeVerb(b, verb, "##")
		}
	}
	return nil
}

// writeVerb writes what a verb does, its flags but for the settings of a training, its examples, and the verbs below
// it.
func writeVerb(b *strings.Builder, verb *cobra.Command, level string) {
	fmt.Fprintf(b, "\n%s %s\n\n", level, verb.CommandPath())
	fmt.Fprintf(b, "    %s\n\n", verb.UseLine())
	if verb.Long != "" {
		b.WriteString(plain(verb.Long) + "\n")
	} else {
		b.WriteString(sentence(verb.Short) + "\n")
	}
	all, own := allSettings(), new(strings.Builder)
	var taken []string
	verb.LocalFlags().VisitAll(func(f *pflag.Flag) {
		_, ofTraining := settings.Named(all, f.Name)
		switch {
		case f.Name == "help":
		case cli.Describe(f).Setting && ofTraining:
			taken = append(taken, "--"+f.Name)
		case f.Hidden:
		default:
			writeFlag(own, f)
		}
	})
	if own.Len() > 0 {
		b.WriteString("\n" + own.String())
	}
	switch {
	case len(taken) > len(all)/2:
		b.WriteString("\nIt also has the [settings of a training](train.md).\n")
	case len(taken) > 0:
		fmt.Fprintf(b, "\nOf the [settings of a training](train.md) it has %s.\n", code(taken...))
	}
	if verb.HasExample() {
		b.WriteString("\n" + strings.ReplaceAll("\n"+verb.Example, "\n  ", "\n    ")[1:] + "\n")
	}
	for _, sub := range verb.Commands() {
		if sub.IsAvailableCommand() {
			writeVerb(b, sub, level+"#")
		}
	}
}

func writeFlag(b *strings.Builder, f *pflag.Flag) {
	flag := cli.Describe(f)
	fmt.Fprintf(b, "* `%s`%s: %s\n", flag.Synopsis(), byDefault(flag), plain(sentence(flag.Help)))
}

// plain keeps what a text says in brackets from being read as a link.
func plain(text string) string { return strings.ReplaceAll(text, "](", `]\(`) }
