package main

import (
	"archive/zip"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/dsp-go/dsp/models/config"
	"github.com/dsp-go/dsp/models/data/formats"
	"github.com/dsp-go/dsp/models/optimisers"
	"github.com/dsp-go/dsp/models/pipelines"
	"github.com/dsp-go/dsp/models/settings"
	"github.com/dsp-go/dsp/models/tasks"
	"github.com/dsp-go/dsp/nets"
)

// own writes the settings that one thing of a registry has, which flag gives.
func own(b *strings.Builder, flag string, plain any) {
	_, all := settings.Fresh(plain)
	for _, s := range all {
		fmt.Fprintf(b, "* `--%s %s=%v`: %s\n", flag, s.Name, s.Value.Interface(), sentence(s.Help))
	}
}

func writeTasks(b *strings.Builder) error {
	b.WriteString("`--task NAME` chooses one; without it, the data say which. The flags listed are those of `dsp train " +
		"--task NAME --help`: more of them belong to a method, a network or an encoder.\n")
	for _, t := range tasks.All() {
		fmt.Fprintf(b, "\n## %s\n\n%s\n\n", t.Name, sentence(t.Summary))
		fmt.Fprintf(b, "* Formats: %s\n", code(readBy(t)...))
		if t.Draw != nil {
			c := config.Default()
			c.Task = t.Name
			sizes := tasks.ChooseExamples(&c)
			fmt.Fprintf(b, "* Without `--train`: drawn data, `--examples %s`\n", sizes.String())
		}
		fmt.Fprintf(b, "* Metrics: %s\n", code(metricsOf(t)...))
		own(b, config.OwnSettingsName, t.Settings)
		c := config.Default()
		c.Task = t.Name
		var listed []string
		for _, s := range allSettings() {
			if tasks.Listed(s, &c) {
				listed = append(listed, "--"+s.Name)
			}
		}
		fmt.Fprintf(b, "* Flags: %s\n", code(listed...))
	}
	fmt.Fprintf(b, "\n## %s\n\n%s\n\n* Formats: %s\n", pipelines.Task, sentence(pipelines.Summary), code(formats.Conllu))
	own(b, config.OwnSettingsName, pipelines.Default)
	var listed []string
	for _, s := range allSettings() {
		if pipelines.Takes(s.Name) {
			listed = append(listed, "--"+s.Name)
		}
	}
	fmt.Fprintf(b, "* Flags: %s\n", code(listed...))
	return nil
}

// readBy returns the names of the formats with data for a task.
func readBy(t tasks.Task) []string {
	return takers(formats.All(), func(f formats.Format) (string, bool) {
		return f.Name, slices.Contains(tasks.Reading(f), t.Name)
	})
}

func metricsOf(t tasks.Task) []string {
	var names []string
	for _, m := range t.Metrics {
		names = append(names, m.Name)
	}
	return names
}

func writeMethods(b *strings.Builder) error {
	b.WriteString("`--method NAME` chooses one; `auto` chooses for the problem, and logs why. `dsp info --methods` prints the same.\n\n")
	yes := func(is bool) string {
		if is {
			return "yes"
		}
		return ""
	}
	head(b, "method", "losses", "net", "certified", "smooths", "`--l1`", "`--bounds`", "`--prior`",
		"`--partial`", "GPU", "ranks", "passes")
	for _, d := range optimisers.All() {
		net, share := "any", yes(d.Ranks)
		if d.Convex() {
			net = "linear"
		}
		if d.Blocks {
			share = "blocks"
		}
		row(b, "`"+d.Name+"`", d.Losses.String(), net, yes(d.Certified), d.Smoothing.String(), yes(d.TakesL1()),
			yes(d.TakesBounds()), yes(d.Prior), yes(d.Partial),
			yes(d.OnDevice()), share, fmt.Sprint(d.DefaultPasses()))
	}
	b.WriteString("\nCertified: it bounds the distance to the optimum. Ranks: several processes share its work; blocks: each has examples of its own, and the model depends on their number.\n")
	for _, d := range optimisers.All() {
		fmt.Fprintf(b, "\n## %s\n\n%s", d.Name, sentence(d.Summary))
		if d.When != "" {
			fmt.Fprintf(b, " When: %s", sentence(d.When))
		}
		b.WriteString("\n\n")
		var takes []string
		for _, s := range allSettings() {
			if s.Group == config.MethodGroup && d.Takes(s.Name) {
				takes = append(takes, "--"+s.Name)
			}
		}
		if len(takes) > 0 {
			fmt.Fprintf(b, "* Settings: %s\n", code(takes...))
		}
		for _, s := range d.OwnSettings() {
			fmt.Fprintf(b, "* `--%s %s=%v`: %s\n", optimisers.OwnSettingsName, s.Name, s.Value.Interface(), sentence(s.Help))
		}
	}
	return nil
}

func writeNetworks(b *strings.Builder) error {
	b.WriteString("`--net NAME` chooses one, and `--net FILE.yaml` a stack of layers of your own; `auto` chooses for the inputs.\n\n")
	head(b, "net", "is", "reads", "scores", "linear", "settings")
	all := allSettings()
	for _, p := range nets.Presets() {
		var reads []string
		for _, in := range p.Reads {
			reads = append(reads, string(in))
		}
		linear := ""
		if p.Linear {
			linear = "yes"
		}
		var takes []string
		for _, name := range p.Settings {
			if _, ok := settings.Named(all, name); ok { // others are of files of layers alone
				takes = append(takes, "--"+name)
			}
		}
		row(b, "`"+p.Name+"`", p.Summary, strings.Join(reads, ", "), strings.Join(p.Scores, ", "), linear, code(takes...))
	}
	return nil
}

func writeMetrics(b *strings.Builder) error {
	b.WriteString("What `dsp sweep --metric NAME` compares by, the first of a task by default, and what `dsp eval` reports. `objective` compares by the objective, for any task.\n\n")
	head(b, "task", "`--metric`", "what it is")
	for _, t := range tasks.All() {
		for _, m := range t.Metrics {
			row(b, "`"+t.Name+"`", "`"+m.Name+"`", m.Label)
		}
	}
	b.WriteString("\n## Members of `dsp eval --json`\n\nShares are fractions of 1.\n")
	for _, r := range reports {
		fmt.Fprintf(b, "\n### %s\n\n", r.of)
		if err := writeObject(b, r.object); err != nil {
			return err
		}
	}
	return nil
}

func writeFormats(b *strings.Builder) error {
	b.WriteString("`--format NAME` says which a file has; without it, its name and its first lines do. The examples are " +
		"files of [examples](examples), which a test reads.\n")
	for _, f := range formats.All() {
		fmt.Fprintf(b, "\n## %s\n\n%s\n\n* Tasks: %s\n", f.Name, sentence(f.Holds), code(tasks.Reading(f)...))
		if len(f.Extensions) > 0 {
			fmt.Fprintf(b, "* Recognised by the extensions %s", code(f.Extensions...))
			if f.Starts != nil {
				b.WriteString(", or by the first lines")
			}
			b.WriteString("\n")
		}
		if len(f.Takes) > 0 {
			var takes []string
			for _, name := range f.Takes {
				takes = append(takes, "--"+name)
			}
			fmt.Fprintf(b, "* Settings: %s\n", code(takes...))
		}
		own(b, formats.OwnSettingsName, f.Settings)
		if err := writeExample(b, f.Name); err != nil {
			return err
		}
	}
	return nil
}

// shown returns what a page shows of an example: the text of a file, nothing of a picture, and of an npz archive the
// headers of its arrays.
func shown(file string) (string, error) {
	switch filepath.Ext(file) {
	case ".png":
		return "", nil
	case ".npz":
		return headers(file)
	}
	text, err := os.ReadFile(file)
	return string(text), err
}

// headers returns the names of the arrays of an npz archive, with the headers that NumPy's format gives them: type and
// shape.
func headers(file string) (string, error) {
	z, err := zip.OpenReader(file)
	if err != nil {
		return "", err
	}
	defer z.Close()
	var b strings.Builder
	for _, f := range z.File {
		r, err := f.Open()
		if err != nil {
			return "", err
		}
		text, err := io.ReadAll(r)
		if err != nil {
			return "", err
		}
		_, header, _ := strings.Cut(string(text), "{")
		header, _, _ = strings.Cut(header, "}")
		fmt.Fprintf(&b, "%-16s{%s}\n", strings.TrimSuffix(f.Name, ".npy"), strings.TrimSuffix(header, ", "))
	}
	return b.String(), nil
}

// writeExample writes the example of a format: a file of text with its name, or a folder whose files of text are shown
// and whose other files are named.
func writeExample(b *strings.Builder, format string) error {
	found, err := filepath.Glob(filepath.Join("examples", format+".*"))
	if err != nil {
		return err
	}
	err = filepath.WalkDir(filepath.Join("examples", format), func(path string, e fs.DirEntry, err error) error {
		if err == nil && !e.IsDir() {
			found = append(found, path)
		}
		return nil
	})
	if err != nil || len(found) == 0 {
		return fmt.Errorf("examples: there is none of format %s (%v)", format, err)
	}
	for _, path := range found {
		text, err := shown(path)
		if err != nil {
			return err
		}
		fmt.Fprintf(b, "\n[%s](%[1]s)\n", filepath.ToSlash(path))
		if text != "" {
			fmt.Fprintf(b, "\n    %s\n", strings.ReplaceAll(strings.TrimRight(text, "\n"), "\n", "\n    "))
		}
	}
	return nil
}
