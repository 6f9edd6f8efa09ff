package cli

import (
	"fmt"
	"io"

	"github.com/dsp-go/dsp/models/optimisers"
)

// methodInfo is what dsp info --methods reports about an optimiser.
type methodInfo struct {
	Name      string       `json:"name"`
	Summary   string       `json:"summary"`
	When      string       `json:"when,omitempty"`
	Net       string       `json:"net"` // any, or linear in the weights
	Losses    string       `json:"losses"`
	Certified bool         `json:"certified"`
	Smoothing string       `json:"smoothing"` // of the hinge's max
	L1        string       `json:"l1"`        // where it takes λ₁‖w‖₁: empty for nowhere
	Prior     bool         `json:"prior"`
	Partial   bool         `json:"partial"` // takes labels known in part
	GPU       bool         `json:"gpu"`
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
			Name: d.Name, Summary: d.Summary, When: d.When, Net: "any", Losses: d.Losses.String(), Certified: d.Certified, Smoothing: d.Smoothing.String(),
			Prior: d.Prior, Partial: d.Partial, GPU: d.OnDevice(), Memory: d.Memory, Passes: d.DefaultPasses(),
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
	rows := [][]string{{"method", "losses", "net", "certified", "smooths", "--l1", "--prior", "--partial", "GPU", "memory", "passes"}}
	for _, x := range t {
		rows = append(rows, []string{
			x.Name, x.Losses, x.Net, yes(x.Certified), x.Smoothing, x.L1, yes(x.Prior), yes(x.Partial), yes(x.GPU), fmt.Sprint(x.Memory), fmt.Sprint(x.Passes),
		})
	}
	if err := printTable(w, rows); err != nil {
		return err
	}
	if _, err := fmt.Fprintln(w, "memory: numbers kept per potential of the examples"); err != nil {
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
		lines := wrap(text, helpWidth-methodColumn)
		for _, s := range x.Settings {
			lines = append(lines, wrap(fmt.Sprintf("--%s %s=%s: %s", optimisers.OwnSettingsName, s.Name, s.Default, s.Help), helpWidth-methodColumn)...)
		}
		head := x.Name
		for _, line := range lines {
			if _, err := fmt.Fprintf(w, "%-*s%s\n", methodColumn, head, line); err != nil {
				return err
			}
			head = ""
		}
	}
	return nil
}

// methodColumn is where what a method is begins, behind its name.
const methodColumn = 16
