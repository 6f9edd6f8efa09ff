package cli

import (
	"log/slog"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/dsp-go/dsp/models/optimisers"
	"github.com/dsp-go/dsp/models/settings"
	"github.com/dsp-go/dsp/models/tasks"
)

// addSettings adds a flag to cmd for every setting that is not global; the flags write into the settings.
func addSettings(cmd *cobra.Command, all []settings.Setting) {
	flags := cmd.Flags()
	flags.SortFlags = false
	flags.SetNormalizeFunc(func(_ *pflag.FlagSet, name string) pflag.NormalizedName {
		return pflag.NormalizedName(newName(all, name))
	})
	for _, s := range settings.Displayed(all) {
		if isGlobal(s) {
			continue
		}
		addSetting(cmd, s, optimisers.Help(s.Help))
		flags.Lookup(s.Name).Annotations = map[string][]string{groupKey: {s.Heading}, settingKey: {}}
		flags.Lookup(s.Name).Hidden = tasks.OfDrawn(s.Name)
		if unit := unitOf(s); unit != "" {
			flags.Lookup(s.Name).Annotations[unitKey] = []string{unit}
		}
	}
}

// addSetting adds the flag of a setting.
func addSetting(cmd *cobra.Command, s settings.Setting, help string) {
	flags := cmd.Flags()
	switch at := s.Value.Addr().Interface().(type) {
	case pflag.Value:
		flags.Var(at, s.Name, help)
	case *string:
		if listsFiles(s) {
			flags.Var(&fileList{to: at}, s.Name, help)
			break
		}
		flags.StringVar(at, s.Name, *at, help)
	case *bool:
		flags.BoolVar(at, s.Name, *at, help)
	case *int:
		flags.IntVar(at, s.Name, *at, help)
	case *uint64:
		flags.Uint64Var(at, s.Name, *at, help)
	case *float64:
		flags.Float64Var(at, s.Name, *at, help)
	}
	if s.Values != nil {
		complete(cmd, s.Name, s.Values...)
	}
}

// addNamed adds the flags of some settings, in this order.
func addNamed(cmd *cobra.Command, all []settings.Setting, names ...string) {
	for _, name := range names {
		s, _ := settings.Named(all, name)
		addSetting(cmd, s, s.Help)
		if unit := unitOf(s); unit != "" {
			cmd.Flags().Lookup(name).Annotations = map[string][]string{unitKey: {unit}}
		}
	}
}

// newName returns the name of the flag that a name stands for: a setting may have had another one.
func newName(all []settings.Setting, name string) string {
	if s, ok := settings.Named(all, name); ok {
		return s.Name
	}
	return name
}

// listsFiles reports whether a setting names several files, separated by commas.
func listsFiles(s settings.Setting) bool {
	return strings.HasSuffix(s.Unit, ",...") || s.Unit == "TRAIN,DEV,TEST"
}

// fileList is the value of a flag that names files, separated by commas. Every further use of the flag adds to the
// list.
type fileList struct {
	to    *string
	given bool
}

func (l *fileList) String() string {
	if l.to == nil {
		return ""
	}
	return *l.to
}

// Set adds files.
func (l *fileList) Set(text string) error {
	if l.given {
		text = *l.to + "," + text
	}
	*l.to, l.given = text, true
	return nil
}

// Type names the value in help texts.
func (l *fileList) Type() string { return "FILE,..." }

// warnRepeated warns of flags that are given several times although one value counts.
func warnRepeated(cmd *cobra.Command, args []string) {
	times, renamed := map[string]int{}, map[string]bool{}
	for _, arg := range args {
		if arg == "--" {
			break
		}
		name, long := strings.CutPrefix(arg, "--")
		name, _, _ = strings.Cut(name, "=")
		f := cmd.Flags().Lookup(name)
		if !long || f == nil {
			continue
		}
		if f.Name != name {
			if !renamed[name] {
				slog.Warn("--" + name + " is called --" + f.Name + " now; the old name works, too")
			}
			renamed[name], name = true, f.Name
		}
		switch f.Value.(type) {
		case *fileList, *settings.Ranges, pflag.SliceValue: // every use of the flag adds to these
			continue
		}
		if times[name]++; times[name] == 2 && f.Value.Type() != "bool" {
			slog.Warn("--"+name+" is given more than once: the last one counts", "value", f.Value.String())
		}
	}
}

// takeFlags copies the settings that the command line changed from flagged, which the flags write into, to to.
func takeFlags(cmd *cobra.Command, flagged, to []settings.Setting) {
	for i, s := range to {
		if !isGlobal(s) && cmd.Flags().Changed(s.Name) {
			s.Give(flagged[i].Value)
		}
	}
}

// complete registers shell completion of a flag's values.
func complete(cmd *cobra.Command, flag string, values ...string) {
	values = slices.DeleteFunc(slices.Clone(values), func(v string) bool { return v == "" })
	if err := cmd.RegisterFlagCompletionFunc(flag, cobra.FixedCompletions(values, cobra.ShellCompDirectiveNoFileComp)); err != nil {
		panic(err) // the flag does not exist
	}
}

// isGlobal reports whether every verb has the setting's flag.
func isGlobal(s settings.Setting) bool { return s.Name == "json" || s.Name == "quiet" }

// unitOf returns the placeholder for the setting's value in the help.
func unitOf(s settings.Setting) string {
	if s.Unit != "" {
		return s.Unit
	}
	if s.Values != nil {
		return strings.TrimPrefix(strings.Join(s.Values, "|"), "|")
	}
	if v, ok := s.Value.Addr().Interface().(pflag.Value); ok {
		return v.Type()
	}
	return map[string]string{"string": "TEXT", "int": "N", "uint64": "N", "float64": "X", "bool": ""}[s.Value.Kind().String()]
}
