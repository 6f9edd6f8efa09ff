package cli

import (
	"fmt"
	"io"
	"strings"

	"github.com/dsp-go/dsp/models/config"
	"github.com/dsp-go/dsp/models/data/formats"
	"github.com/dsp-go/dsp/models/optimisers"
	"github.com/dsp-go/dsp/models/pipelines"
	"github.com/dsp-go/dsp/models/settings"
	"github.com/dsp-go/dsp/models/tasks"
)

// methodInfo is what dsp info --methods reports about an optimiser.
type methodInfo struct {
	Name      string       `json:"name"`
	Summary   string       `json:"summary"`
	When      string       `json:"when,omitempty"`
	Net       string       `json:"net"` // any, or linear in the weights
	Losses    string       `json:"losses"`
	Chains    bool         `json:"chains"` // takes labels of sequences only
	Sums      bool         `json:"sums"`   // needs an oracle that sums over all outputs
	Certified bool         `json:"certified"`
	Smoothing string       `json:"smoothing"` // of the hinge's max
	L1        string       `json:"l1"`        // where it takes λ₁‖w‖₁: empty for nowhere
	Bounds    bool         `json:"bounds"`    // of the weights
	Radius    bool         `json:"radius"`    // it needs a ball of weights
	Prior     bool         `json:"prior"`
	Partial   bool         `json:"partial"` // takes labels known in part
	GPU       bool         `json:"gpu"`
	Ranks     bool         `json:"ranks"`  // several ranks share its work
	Blocks    bool         `json:"blocks"` // each has examples of its own, and the bits depend on the number of ranks
	Memory    float64      `json:"memory"` // numbers kept per potential of the examples
	Passes    int          `json:"passes"` // by default
	Settings  []ownSetting `json:"settings,omitempty"`
}

// ownSetting is a setting of a registered method, for --method-settings.
type ownSetting struct {
	Name    string `json:"name"`
	Help    string `json:"help"`
	Default string `json:"default"`
}

// methodTable is what dsp info --methods prints.
type methodTable []methodInfo

func theMethods() methodTable {
	var all methodTable
	for _, d := range optimisers.All() {
		x := methodInfo{
			Name: d.Name, Summary: d.Summary, When: d.When, Net: "any", Losses: d.Losses.String(), Chains: d.Chains, Sums: d.Sums, Certified: d.Certified, Smoothing: d.Smoothing.String(),
			Bounds: d.TakesBounds(), Radius: d.TakesRadius(), Prior: d.Prior, Partial: d.Partial, GPU: d.OnDevice(), Ranks: d.Ranks, Blocks: d.Blocks, Memory: d.Memory, Passes: d.DefaultPasses(),
		}
		if d.Convex() {
			x.Net = "linear"
		}
		switch {
		case d.TakesL1() && d.L1OnCPU:
			x.L1 = "on the CPU"
		case d.TakesL1():
			x.L1 = "yes"
		}
		if d.Within != nil {
			x.Smoothing = "--inner's"
		}
		for _, s := range d.OwnSettings() {
			x.Settings = append(x.Settings, ownSetting{s.Name, s.Help, fmt.Sprint(s.Value.Interface())})
		}
		all = append(all, x)
	}
	return all
}

func (t methodTable) print(w io.Writer) error {
	yes := func(b bool) string {
		if b {
			return "yes"
		}
		return ""
	}
	rows := [][]string{{"method", "losses", "structures", "net", "certified", "smooths", "--l1", "--bounds", "--prior", "--partial", "GPU", "ranks", "memory", "passes"}}
	for _, x := range t {
		structures := "any"
		switch {
		case x.Sums:
			structures = "with sums"
		case x.Chains:
			structures = "chains"
		}
		bounds := yes(x.Bounds)
		if x.Radius {
			bounds = "radius"
		}
		ranks := yes(x.Ranks)
		if x.Blocks {
			ranks = "blocks"
		}
		rows = append(rows, []string{
			x.Name, x.Losses, structures, x.Net, yes(x.Certified), x.Smoothing, x.L1, bounds, yes(x.Prior), yes(x.Partial), yes(x.GPU), ranks, fmt.Sprint(x.Memory), fmt.Sprint(x.Passes),
		})
	}
	if err := printTable(w, rows); err != nil {
		return err
	}
	if _, err := fmt.Fprintln(w, "smooths: the max of the hinge; passes: by default; memory: numbers kept per potential of the examples (bcpfw and n-slack keep outputs instead); with sums: whose oracle answers exp (dsp info); radius: for --radius only; blocks: the model depends on the number of ranks"); err != nil {
		return err
	}
	for _, x := range t {
		text := x.Summary
		if x.When != "" {
			text += "; " + x.When
		}
		if _, err := fmt.Fprintln(w); err != nil {
			return err
		}
		if err := printChoice(w, x.Name, text, optimisers.OwnSettingsName, x.Settings); err != nil {
			return err
		}
	}
	return nil
}

// methodColumn is where what a method, format or task is begins, behind its name.
const methodColumn = 16

// choiceInfo is what dsp info --formats and --tasks report.
type choiceInfo struct {
	Name     string       `json:"name"`
	Summary  string       `json:"summary"`
	Settings []ownSetting `json:"settings,omitempty"`

	by string // the setting that gives Settings
}

type choiceTable []choiceInfo

func theFormats() choiceTable {
	var all choiceTable
	for _, f := range formats.All() {
		text := f.Holds + "; for --task " + strings.Join(tasks.Reading(f), ", ")
		if len(f.Extensions) > 0 {
			text += "; " + strings.Join(f.Extensions, ", ")
		}
		all = append(all, choice(f.Name, text, f.Settings, formats.OwnSettingsName))
	}
	return all
}

func theTasks() choiceTable {
	var all choiceTable
	for _, t := range tasks.All() {
		all = append(all, choice(t.Name, t.Summary, t.Settings, config.OwnSettingsName))
	}
	all = append(all, choice(pipelines.Task, pipelines.Summary, pipelines.Default, config.OwnSettingsName))
	return all
}

func choice(name, summary string, plain any, by string) choiceInfo {
	c := choiceInfo{Name: name, Summary: summary, by: by}
	_, own := settings.Fresh(plain)
	for _, s := range own {
		c.Settings = append(c.Settings, ownSetting{s.Name, s.Help, fmt.Sprint(s.Value.Interface())})
	}
	return c
}

func (t choiceTable) print(w io.Writer) error {
	for _, x := range t {
		if err := printChoice(w, x.Name, x.Summary, x.by, x.Settings); err != nil {
			return err
		}
	}
	return nil
}

// printChoice prints a name, and beside it what it stands for and its own settings.
func printChoice(w io.Writer, name, text, by string, own []ownSetting) error {
	lines := wrap(text, helpWidth-methodColumn)
	for _, s := range own {
		lines = append(lines, wrap(fmt.Sprintf("--%s %s=%s: %s", by, s.Name, s.Default, s.Help), helpWidth-methodColumn)...)
	}
	for _, line := range lines {
		if _, err := fmt.Fprintf(w, "%-*s%s\n", methodColumn, name, line); err != nil {
			return err
		}
		name = ""
	}
	return nil
}
