package main

import (
	"fmt"
	"io"
	"os"
	"runtime"
	"runtime/debug"
	"strings"

	"github.com/spf13/cobra"

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
			m := thisMachine()
			if isSet(cmd, "json") {
				return printJSON(os.Stdout, m)
			}
			return m.print(os.Stdout)
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
