package main

import (
	"fmt"
	"io"
	"os"
	"runtime"
	"runtime/debug"
	"strings"

	"github.com/spf13/cobra"

	"github.com/dsp-go/dsp/models"
	"github.com/dsp-go/dsp/nets"
	"github.com/dsp-go/dsp/oracles"
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
}

func infoCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "info [MODEL]",
		Short: "Tell versions and what the inner loops run on, or what is inside a model",
		Args:  cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			var about interface{ print(io.Writer) error } = thisMachine()
			if len(args) > 0 {
				m, err := models.Load(args[0])
				if err != nil {
					return err
				}
				about = insideOf(m)
			}
			if isSet(cmd, "json") {
				return printJSON(os.Stdout, about)
			}
			return about.print(os.Stdout)
		},
	}
}

func thisMachine() machine {
	return machine{
		Version: version(),
		Go:      runtime.Version(),
		System:  runtime.GOOS + "/" + runtime.GOARCH,
		CPUs:    runtime.NumCPU(),
		Vector:  oracles.Vector(),
		BLAS:    nets.CurrentBLAS().Name(),
		Devices: []string{"cpu"},
	}
}

func (m machine) print(w io.Writer) error {
	_, err := fmt.Fprintf(w, "dsp       %s\nGo        %s, %s\nCPUs      %d\noracles   %s\nBLAS      %s\ndevices   %s\n",
		m.Version, m.Go, m.System, m.CPUs, m.Vector, m.BLAS, strings.Join(m.Devices, ", "))
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
}

type param struct {
	Name  string `json:"name"`
	Shape []int  `json:"shape"`
}

func insideOf(m *models.Model) inside {
	in := inside{
		Version: m.Version, Net: m.Config.Net, Weights: m.Net.Dim(),
		Labels: m.Labels.Names(), Dim: m.Dim, Vocab: []int{}, Config: m.Config,
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
	if in.Dim > 0 {
		fmt.Fprintf(&b, "%d dense features a position\n", in.Dim)
	} else {
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
