package cli

import (
	"fmt"
	"io"
	"regexp"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

const (
	helpColumn = 24 // column in which the help text of a flag starts
	helpWidth  = 100
	groupKey   = "group"  // the annotation of a flag that names its heading
	unitKey    = "unit"   // the annotation of a flag that names the placeholder for its value
	common     = "Common" // the heading that comes first
)

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
	cmd.LocalFlags().VisitAll(func(f *pflag.Flag) {
		if f.Hidden {
			return
		}
		heading := "Flags"
		if g := f.Annotations[groupKey]; len(g) > 0 {
			heading = g[0]
		}
		add(heading, f)
	})
	cmd.InheritedFlags().VisitAll(func(f *pflag.Flag) { add("Everywhere", f) })
	if at := slices.Index(headings, common); at > 0 {
		headings = slices.Insert(slices.Delete(headings, at, at+1), 0, common)
	}
	for _, heading := range headings {
		fmt.Fprintf(w, "\n%s:\n", heading)
		for _, f := range flags[heading] {
			printFlag(w, f)
		}
	}
	if cmd.HasExample() {
		fmt.Fprintf(w, "\nExamples:\n%s\n", cmd.Example)
	}
	return nil
}

// printFlag prints a flag, its placeholder, its help text and its default.
func printFlag(w io.Writer, f *pflag.Flag) {
	unit, text := pflag.UnquoteUsage(f)
	if u := f.Annotations[unitKey]; len(u) > 0 {
		unit = u[0]
	}
	head := "  --" + f.Name
	if unit != "" {
		head += " " + unit
	}
	text = withDefault(text, f)
	lines := wrap(text, helpWidth-helpColumn)
	if len(head) > helpColumn-2 {
		fmt.Fprintln(w, head)
		head = ""
	}
	for _, line := range lines {
		fmt.Fprintf(w, "%-*s%s\n", helpColumn, head, line)
		head = ""
	}
}

// atZero matches the words of a help text that say what 0 stands for: "; 0: all cores", "; 0 runs all passes", "(0: from 0.1)".
var atZero = regexp.MustCompile(`([;(] ?)0(:| )`)

// withDefault adds the flag's default to its help text. A text that says what 0 stands for calls it the default there.
func withDefault(text string, f *pflag.Flag) string {
	switch d := f.DefValue; {
	case f.Value.Type() == "bool" || d == "" || d == "[]":
		return text
	case d == "0" && atZero.MatchString(text):
		return atZero.ReplaceAllString(text, "${1}0 (the default)$2")
	default:
		return text + " (default " + d + ")"
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
