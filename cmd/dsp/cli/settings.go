package cli

import (
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/dsp-go/dsp/models/settings"
)

// addSettings adds a flag to cmd for every setting that is not global; the flags write into the settings.
func addSettings(cmd *cobra.Command, all []settings.Setting) {
	flags := cmd.Flags()
	flags.SortFlags = false
	for _, s := range all {
		if isGlobal(s) {
			continue
		}
		switch at := s.Value.Addr().Interface().(type) {
		case pflag.Value:
			flags.Var(at, s.Name, s.Help)
		case *string:
			flags.StringVar(at, s.Name, *at, s.Help)
		case *bool:
			flags.BoolVar(at, s.Name, *at, s.Help)
		case *int:
			flags.IntVar(at, s.Name, *at, s.Help)
		case *uint64:
			flags.Uint64Var(at, s.Name, *at, s.Help)
		case *float64:
			flags.Float64Var(at, s.Name, *at, s.Help)
		}
		flags.Lookup(s.Name).Annotations = map[string][]string{groupKey: {s.Group}}
		if unit := unitOf(s); unit != "" {
			flags.Lookup(s.Name).Annotations[unitKey] = []string{unit}
		}
		if s.Values != nil {
			complete(cmd, s.Name, s.Values...)
		}
	}
}

// putFirst moves flags of cmd under the heading that comes first in the help.
func putFirst(cmd *cobra.Command, names ...string) {
	for _, name := range names {
		cmd.Flags().Lookup(name).Annotations[groupKey] = []string{common}
	}
}

// takeFlags copies the settings that the command line changed from flagged, which the flags write into, to to.
func takeFlags(cmd *cobra.Command, flagged, to []settings.Setting) {
	for i, s := range to {
		if !isGlobal(s) && cmd.Flags().Changed(s.Name) {
			s.Value.Set(flagged[i].Value)
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
