package cli

import (
	"cmp"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/dsp-go/dsp/models/config"
	"github.com/dsp-go/dsp/models/pipelines"
	"github.com/dsp-go/dsp/models/tasks"
	"github.com/dsp-go/dsp/structured"
)

const (
	helpColumn = 24 // column in which the help text of a flag starts
	helpWidth  = 100
	groupKey   = "group"   // the annotation of a flag that names its heading
	unitKey    = "unit"    // the annotation of a flag that names the placeholder for its value
	settingKey = "setting" // the annotation of a flag that gives a setting of a training
	common     = "Common"  // the heading that comes first
	everywhere = "Everywhere"
)

// choices are flags whose values a help refuses if they are not known, since it depends on them.
var choices = []string{"task", "format", "net", "method"}

// showsAll reports whether a help has all that there is: with --help all, with flags on which it depends, and for verbs
// with few flags.
func showsAll(cmd *cobra.Command) bool {
	short := false
	cmd.LocalFlags().VisitAll(func(f *pflag.Flag) { short = short || headingOf(f) == common })
	return !short || slices.Contains(cmd.Flags().Args(), "all") || chooses(cmd)
}

// chooses reports whether a verb's help shows what applies to the flags before it, and there is one.
func chooses(cmd *cobra.Command) bool {
	given := false
	cmd.Flags().VisitAll(func(f *pflag.Flag) { given = given || f.Changed && f.Name != "help" })
	return given && cmd.Annotations[choosesKey] != ""
}

// choosesKey is the annotation of a verb whose help shows what applies to the flags before it.
const choosesKey = "chooses"

// help prints what a command does and how to call it.
func help(cmd *cobra.Command, _ []string) {
	about := cmp.Or(cmd.Long, cmd.Short)
	if !showsAll(cmd) {
		about, _, _ = strings.Cut(about, "\n\n")
	}
	fmt.Fprintf(cmd.OutOrStdout(), "%s\n\n%s", about, cmd.UsageString())
}

// refusedKey is the annotation of a verb that has no help on what a flag of choices names; it says why.
const refusedKey = "refused"

// refusedHelp is the error for a help that was refused, which cobra knows nothing of.
func refusedHelp(cmd *cobra.Command) error {
	if why := cmd.Annotations[refusedKey]; why != "" {
		return structured.BadInput("%s", why)
	}
	return nil
}

// helpOn makes the help of a verb that takes the settings of a training show those that can have an effect with the
// flags before it, which write into c. Without any, --help all shows all.
func helpOn(cmd *cobra.Command, c *config.Config) {
	cmd.Annotations = map[string]string{choosesKey: "yes"}
	cmd.SetHelpFunc(func(cmd *cobra.Command, args []string) {
		for _, s := range config.Settings(c) {
			if slices.Contains(choices, s.Name) && cmd.Flags().Changed(s.Name) {
				if err := config.CheckSetting(s, c); err != nil {
					cmd.Annotations[refusedKey] = err.Error()
					return
				}
			}
		}
		for _, s := range config.Settings(c) {
			f := cmd.Flags().Lookup(s.Name)
			switch {
			case f == nil || !chooses(cmd):
			case c.Task == pipelines.Task:
				f.Hidden, f.Usage = !pipelines.Takes(s.Name), cmp.Or(pipelines.Help(s.Name), f.Usage)
			case headingOf(f) != common && !f.Changed:
				f.Hidden = !tasks.Listed(s, c) || tasks.OfDrawn(s.Name)
			}
		}
		help(cmd, args)
	})
}

// putFirst moves flags of cmd under the heading that comes first in the help. --help shows only these.
func putFirst(cmd *cobra.Command, names ...string) {
	for _, name := range names {
		f := cmd.Flags().Lookup(name)
		if f.Annotations == nil {
			f.Annotations = map[string][]string{}
		}
		f.Annotations[groupKey] = []string{common}
	}
}

func headingOf(f *pflag.Flag) string {
	if g := f.Annotations[groupKey]; len(g) > 0 {
		return g[0]
	}
	if f.Name == "help" {
		return everywhere
	}
	return "Flags"
}

// usage prints how to call a command: its synopsis, verbs, flags under their headings, and examples.
func usage(cmd *cobra.Command) error {
	w := cmd.OutOrStderr()
	fmt.Fprintf(w, "Usage:\n  %s\n", cmd.UseLine())
	if cmd.HasAvailableSubCommands() {
		fmt.Fprintf(w, "\nVerbs:\n")
		for _, verb := range cmd.Commands() {
			if verb.IsAvailableCommand() {
				fmt.Fprintf(w, "  %-12s %s\n", verb.Name(), verb.Short)
			}
		}
	}
	var headings []string
	flags := map[string][]*pflag.Flag{}
	add := func(heading string, f *pflag.Flag) {
		if len(flags[heading]) == 0 {
			headings = append(headings, heading)
		}
		flags[heading] = append(flags[heading], f)
	}
	all, left := showsAll(cmd), 0
	cmd.LocalFlags().VisitAll(func(f *pflag.Flag) {
		switch heading := headingOf(f); {
		case f.Hidden:
		case all || heading == common || heading == everywhere:
			add(heading, f)
		default:
			left++
		}
	})
	cmd.InheritedFlags().VisitAll(func(f *pflag.Flag) { add(everywhere, f) })
	if at := slices.Index(headings, common); at > 0 {
		headings = slices.Insert(slices.Delete(headings, at, at+1), 0, common)
	}
	if at := slices.Index(headings, everywhere); at >= 0 {
		headings = append(slices.Delete(headings, at, at+1), everywhere)
	}
	for _, heading := range headings {
		fmt.Fprintf(w, "\n%s:\n", heading)
		for _, f := range flags[heading] {
			printFlag(w, f)
		}
	}
	if !all {
		fmt.Fprintf(w, "\n%s --help all shows %d more flags.", cmd.CommandPath(), left)
		if cmd.Annotations[choosesKey] != "" {
			fmt.Fprintf(w, "\n%s --task tag --help shows those that apply to a task; more of them belong to a method, a network, or what else is chosen before --help.",
				cmd.CommandPath())
		}
		fmt.Fprintln(w)
	} else if chooses(cmd) {
		fmt.Fprintf(w, `
These flags apply here. Others belong to what is not chosen yet, and apply with it: %[1]s --method sgd --help,
--net rnn, --structure segments, --encoder DIR, --loss hinge. %[1]s --help all shows all.
`, cmd.CommandPath())
	}
	if drawn := drawnFlags(cmd); all && len(drawn) > 0 {
		fmt.Fprintf(w, "\nWithout --train, data are drawn: dsp data VERB --help explains %s.\n", strings.Join(drawn, ", "))
	}
	if cmd.HasExample() {
		fmt.Fprintf(w, "\nExamples:\n%s\n", cmd.Example)
	}
	return nil
}

// drawnFlags returns the flags of a verb that are about drawn data.
func drawnFlags(cmd *cobra.Command) (names []string) {
	cmd.LocalFlags().VisitAll(func(f *pflag.Flag) {
		if f.Annotations[settingKey] != nil && tasks.OfDrawn(f.Name) {
			names = append(names, "--"+f.Name)
		}
	})
	return names
}

// Flag is what a help says of a flag.
type Flag struct {
	Name    string
	Unit    string // placeholder of the value; empty where there is none
	Help    string
	Default string // empty where it is nothing, or false
	Setting bool   // it gives a setting of a training
}

// Synopsis returns how the flag is written.
func (f Flag) Synopsis() string { return strings.TrimSpace("--" + f.Name + " " + f.Unit) }

// Describe returns what the help says of a flag.
func Describe(f *pflag.Flag) Flag {
	unit, text := pflag.UnquoteUsage(f)
	if u := f.Annotations[unitKey]; len(u) > 0 {
		unit = u[0]
	}
	x := Flag{Name: f.Name, Unit: unit, Help: text, Setting: f.Annotations[settingKey] != nil}
	if d := f.DefValue; f.Value.Type() != "bool" && d != "[]" {
		x.Default = d
	}
	return x
}

// printFlag prints a flag, its placeholder, its help text and its default.
func printFlag(w io.Writer, f *pflag.Flag) {
	flag := Describe(f)
	head := "  " + flag.Synopsis()
	for len(head) > helpWidth { // a long list of values goes on in the next line
		at := strings.LastIndexByte(head[:helpWidth], '|')
		if at < 0 {
			break
		}
		fmt.Fprintln(w, head[:at+1])
		head = strings.Repeat(" ", len("  --")) + head[at+1:]
	}
	lines := wrap(flag.withDefault(), helpWidth-helpColumn)
	if len(head) > helpColumn-2 {
		fmt.Fprintln(w, head)
		head = ""
	}
	for _, line := range lines {
		fmt.Fprintf(w, "%-*s%s\n", helpColumn, head, line)
		head = ""
	}
}

// atZero matches the words of a help text that say what 0 stands for: "; 0: all cores", "; 0 runs all passes", "(0:
// from 0.1)".
var atZero = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`([;(] ?)0(:| )`) })

// withDefault adds the flag's default to its help text. A text that says what 0 stands for calls it the default there.
func (f Flag) withDefault() string {
	switch {
	case f.Default == "":
		return f.Help
	case f.Default == "0" && atZero().MatchString(f.Help):
		return atZero().ReplaceAllString(f.Help, "${1}0 (the default)$2")
	default:
		return f.Help + " (default " + f.Default + ")"
	}
}

// wrap breaks text between words into lines of at most width characters; a longer word gets a line to itself.
func wrap(text string, width int) []string {
	var lines []string
	line, n := "", 0
	for word := range strings.FieldsSeq(text) {
		size := len([]rune(word))
		if n > 0 && n+1+size > width {
			lines = append(lines, line)
			line, n = "", 0
		}
		if n > 0 {
			line, n = line+" ", n+1
		}
		line, n = line+word, n+size
	}
	return append(lines, line)
}
