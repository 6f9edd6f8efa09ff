package main

import (
	"fmt"
	"io"
	"os"
	"runtime"
	"runtime/debug"
	"strings"

	"github.com/spf13/cobra"

	"github.com/dsp-go/dsp/cuda/device"
	"github.com/dsp-go/dsp/models"
	"github.com/dsp-go/dsp/models/exchange"
	"github.com/dsp-go/dsp/nets"
	"github.com/dsp-go/dsp/oracles/chain"
	"github.com/dsp-go/dsp/structured"
	"github.com/dsp-go/dsp/structured/features"
	"github.com/dsp-go/dsp/structured/features/arcs"
)

// machine is what dsp info tells about the program and where it runs.
type machine struct {
	Version string   `json:"version"`
	Go      string   `json:"go"`
	System  string   `json:"system"`
	CPUs    int      `json:"cpus"`
	Vector  string   `json:"vector"` // what the oracles' inner loops run on
	BLAS    string   `json:"blas"`   // what multiplies matrices
	Devices []string `json:"devices"`

	GPUs  []device.Info `json:"gpus"`
	NoGPU string        `json:"no_gpu,omitempty"` // why there is none
}

func infoCommand() *cobra.Command {
	top, set := 0, ""
	cmd := &cobra.Command{
		Use:   "info [MODEL]",
		Short: "Tell versions and what the inner loops run on, or what is inside a model",
		Example: `  dsp info runs/ner --top 10
  dsp info --features ner > my.template`,
		Args: cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			switch {
			case top < 0:
				return structured.BadInput("--top %d: expected 0 or more", top)
			case top > 0 && len(args) == 0:
				return structured.BadInput("--top %d of which model? give dsp info MODEL --top %d", top, top)
			case set != "" && len(args) > 0:
				return structured.BadInput("--features %s prints a built-in set; the template of a model is in dsp info MODEL", set)
			case set != "":
				return printFeatures(cmd, set)
			}
			var about interface{ print(io.Writer) error } = thisMachine()
			if len(args) > 0 {
				m, err := models.Load(args[0])
				if err != nil {
					return err
				}
				if _, _, template := m.ArcAttributes(); top > 0 && template != "" {
					return structured.BadInput("--top %d lists attributes by name; a parser keeps only hashes of the attributes of arcs", top)
				}
				if top > 0 && m.Dictionary == nil {
					return structured.BadInput("--top %d is for linear nets of attributes; this model's net is %s", top, m.Config.Net)
				}
				about = insideOf(m, top)
			}
			if isSet(cmd, "json") {
				return printJSON(os.Stdout, about)
			}
			return about.print(os.Stdout)
		},
	}
	cmd.Flags().SortFlags = false
	cmd.Flags().IntVar(&top, "top", 0, "also the `N` largest weights of every label, of linear nets of attributes")
	cmd.Flags().StringVar(&set, "features", "", "print the template of a built-in `"+strings.Join(builtinSets(), "|")+"` set of attributes")
	complete(cmd, "features", builtinSets()...)
	return cmd
}

// arcSet is the built-in set of attributes of arcs.
const arcSet = "parse"

func builtinSets() []string { return append(features.Sets(), arcSet) }

// printFeatures prints the template of a built-in set of attributes.
func printFeatures(cmd *cobra.Command, set string) error {
	text, err := arcs.Builtin(), error(nil)
	if set != arcSet {
		text, err = features.Builtin(set)
	}
	switch {
	case err != nil:
		return err
	case isSet(cmd, "json"):
		return printJSON(os.Stdout, map[string]string{"features": set, "template": text})
	}
	_, err = io.WriteString(os.Stdout, text)
	return err
}

func thisMachine() machine {
	m := machine{
		Version: version(),
		Go:      runtime.Version(),
		System:  runtime.GOOS + "/" + runtime.GOARCH,
		CPUs:    runtime.NumCPU(),
		Vector:  chain.Vector(),
		BLAS:    nets.CurrentBLAS().Name(),
		Devices: []string{"cpu"},
		GPUs:    []device.Info{},
	}
	gpus, err := device.Devices()
	if err != nil {
		m.NoGPU = err.Error()
	}
	for _, g := range gpus {
		m.GPUs = append(m.GPUs, g)
		m.Devices = append(m.Devices, fmt.Sprintf("cuda:%d", g.Ordinal))
	}
	return m
}

func (m machine) print(w io.Writer) error {
	var b strings.Builder
	fmt.Fprintf(&b, "dsp       %s\nGo        %s, %s\nCPUs      %d\noracles   %s\nBLAS      %s\ndevices   %s\n",
		m.Version, m.Go, m.System, m.CPUs, m.Vector, m.BLAS, strings.Join(m.Devices, ", "))
	for _, g := range m.GPUs {
		fmt.Fprintf(&b, "GPU       %s\n", g)
	}
	if m.NoGPU != "" {
		fmt.Fprintf(&b, "GPU       none: %s\n", m.NoGPU)
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// inside is what dsp info tells about a model.
type inside struct {
	Version string        `json:"version"` // of the dsp that trained it
	Net     string        `json:"net"`
	Weights int           `json:"weights"`
	Params  []param       `json:"params"`
	Labels  []string      `json:"labels"`
	Dim     int           `json:"dim"`   // dense features a position
	Vocab   []int         `json:"vocab"` // sizes of the vocabularies
	Config  models.Config `json:"config"`

	Attributes     int `json:"attributes"`      // of positions
	EdgeAttributes int `json:"edge_attributes"` // of steps

	ArcAttributes   int `json:"arc_attributes,omitempty"`   // of arcs, of which their scores are made
	LabelAttributes int `json:"label_attributes,omitempty"` // of which the scores of their relations are made

	Template string                `json:"template,omitempty"` // that makes them of columns
	Top      []exchange.TopWeights `json:"top,omitempty"`
}

type param struct {
	Name  string `json:"name"`
	Shape []int  `json:"shape"`
}

func insideOf(m *models.Model, top int) inside {
	in := inside{
		Version: m.Version, Net: m.Config.Net, Weights: m.Net.Dim(),
		Labels: m.Labels.Names(), Dim: m.Dim, Vocab: []int{}, Config: m.Config,
	}
	if m.Dictionary != nil {
		in.Attributes, in.EdgeAttributes = m.Dictionary.Nodes(), m.Dictionary.Edges()
	}
	if m.Template != nil {
		in.Template = m.Template.String()
	}
	if arcs, labels, template := m.ArcAttributes(); template != "" {
		in.ArcAttributes, in.LabelAttributes, in.Template = arcs, labels, template
	}
	if top > 0 {
		in.Top = exchange.Top(m, top)
	}
	for _, a := range m.Net.Layout() {
		in.Params = append(in.Params, param{a.Name, a.Shape})
	}
	for _, v := range m.Vocab {
		in.Vocab = append(in.Vocab, v.Len())
	}
	return in
}

func (in inside) print(w io.Writer) error {
	var b strings.Builder
	fmt.Fprintf(&b, "trained by  dsp %s\ninput       ", in.Version)
	switch {
	case in.Dim > 0:
		fmt.Fprintf(&b, "%d dense features a position\n", in.Dim)
	case in.ArcAttributes > 0:
		fmt.Fprintf(&b, "%d attributes of arcs, %d of their relations\n", in.ArcAttributes, in.LabelAttributes)
	case in.Attributes > 0:
		fmt.Fprintf(&b, "%d attributes of positions, %d of steps\n", in.Attributes, in.EdgeAttributes)
	default:
		fmt.Fprintf(&b, "discrete, vocabularies of %v\n", in.Vocab)
	}
	fmt.Fprintf(&b, "labels      %d: %s\nnet         %s, %d weights\n", len(in.Labels), strings.Join(in.Labels, " "), in.Net, in.Weights)
	for _, p := range in.Params {
		fmt.Fprintf(&b, "              %-20s %v\n", p.Name, p.Shape)
	}
	b.WriteString("\n")
	if err := in.Config.Write(&b); err != nil {
		return err
	}
	if in.Template != "" {
		fmt.Fprintf(&b, "\n# Template\n%s", in.Template)
	}
	for _, label := range in.Top {
		fmt.Fprintf(&b, "\n%s\n", label.Label)
		for _, a := range label.Weights {
			fmt.Fprintf(&b, "  %+9.4f  %s\n", a.Weight, a.Attribute)
		}
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// version returns the module's version, or the commit it was built from.
func version() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return "unknown"
	}
	if v := info.Main.Version; v != "" && v != "(devel)" {
		return v
	}
	for _, s := range info.Settings {
		if s.Key == "vcs.revision" {
			return s.Value[:min(12, len(s.Value))]
		}
	}
	return "devel"
}
