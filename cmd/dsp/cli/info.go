package cli

import (
	"fmt"
	"io"
	"os"
	"runtime"
	"strings"

	"github.com/spf13/cobra"

	"github.com/dsp-go/dsp/cuda/accelerator"
	"github.com/dsp-go/dsp/cuda/device"
	"github.com/dsp-go/dsp/models/data/features"
	"github.com/dsp-go/dsp/models/data/features/arcs"
	"github.com/dsp-go/dsp/models/data/features/pairs"
	"github.com/dsp-go/dsp/models/pipelines"
	"github.com/dsp-go/dsp/nets/kernels"
	"github.com/dsp-go/dsp/oracles"
	"github.com/dsp-go/dsp/oracles/chain"
	"github.com/dsp-go/dsp/oracles/registry"
	"github.com/dsp-go/dsp/structured"
	"github.com/dsp-go/dsp/structured/chains"
	"github.com/dsp-go/dsp/structured/transcripts"
	"github.com/dsp-go/dsp/train/ranks"
)

// machine is what dsp info reports about the program and the machine it runs on.
type machine struct {
	Version string   `json:"version"`
	Go      string   `json:"go"`
	System  string   `json:"system"`
	CPUs    int      `json:"cpus"`
	Vector  string   `json:"vector"` // instruction set of the oracles' inner loops
	BLAS    string   `json:"blas"`   // implementation of matrix products
	Devices []string `json:"devices"`

	Structures []structureInfo `json:"structures"`

	Slow []slowPath `json:"slow,omitempty"`

	GPUs  []device.Info `json:"gpus"`
	NoGPU string        `json:"no_gpu,omitempty"` // why no GPU is available

	NCCL   string `json:"nccl,omitempty"`    // library for exchanges between GPUs
	NoNCCL string `json:"no_nccl,omitempty"` // why there is none

	MPI   string `json:"mpi,omitempty"`    // library for several ranks
	NoMPI string `json:"no_mpi,omitempty"` // why there is none
}

// structureInfo is what dsp can do with one structure.
type structureInfo struct {
	Name   string   `json:"name"`
	Oracle []string `json:"oracle"` // what it answers: max, top-K, exp
	GPU    string   `json:"gpu"`    // what a GPU runs of a training run
}

func structures() []structureInfo {
	var all []structureInfo
	for _, kind := range registry.All {
		s := structureInfo{Name: kind.Name(), Oracle: []string{"max"}, GPU: "network"}
		o := kind.Oracle()
		if _, ok := o.(oracles.Ranker); ok {
			s.Oracle = append(s.Oracle, "top-K")
		}
		if _, ok := o.(oracles.Summer); ok {
			s.Oracle = append(s.Oracle, "exp")
		}
		_, chain := kind.Structure.(chains.Chain)
		if chain || accelerator.PredictsTrees(structured.Form{Structure: kind.Structure}, nil) {
			s.GPU = "network and oracle"
		}
		if _, ok := kind.Structure.(transcripts.Frames); ok {
			s.GPU = "nothing" // gold labels are not known
		}
		all = append(all, s)
	}
	return all
}

func infoCommand() *cobra.Command {
	top, set := 0, ""
	var encoder encoderFolder
	lists := []struct {
		name, help string
		on         bool
		list       func() listing
	}{
		{"methods", "print what the optimisers can do, and when to use which", false, func() listing { return theMethods() }},
		{"formats", "print what the formats of data files hold", false, func() listing { return theFormats() }},
		{"tasks", "print what there is to learn", false, func() listing { return theTasks() }},
	}
	cmd := &cobra.Command{
		Use:   "info [MODEL]",
		Short: "Show versions and the machine's abilities, or what is inside a model",
		Example: `  dsp info runs/ner --top 10
  dsp info --features ner > my.template
  dsp info --methods`,
		Args: cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			switch {
			case top < 0:
				return structured.BadInput("--top %d: expected 0 or more", top)
			case top > 0 && len(args) == 0:
				return structured.BadInput("--top %d needs a model: dsp info MODEL --top %d", top, top)
			case encoder.path != "" && len(args) == 0:
				return structured.BadInput("--encoder %s needs a model: dsp info MODEL --encoder %s", encoder.path, encoder.path)
			case set != "" && len(args) > 0:
				return structured.BadInput("--features %s prints a built-in set; dsp info MODEL prints the template of a model", set)
			}
			var about listing = thisMachine()
			listed := set != "" || len(args) > 0
			for _, l := range lists {
				switch {
				case l.on && listed:
					return structured.BadInput("--%s lists what this program has; give it alone", l.name)
				case l.on:
					about, listed = l.list(), true
				}
			}
			if set != "" {
				return printFeatures(cmd, set)
			}
			if len(args) > 0 && pipelines.Is(args[0]) {
				if top > 0 {
					return structured.BadInput("--top %d: %s is a pipeline; its stages are models in folders of their own", top, args[0])
				}
				p, err := aboutPipeline(args[0], &encoder)
				if err != nil {
					return err
				}
				about = p
			} else if len(args) > 0 {
				m, err := encoder.load(args[0])
				if err != nil {
					return err
				}
				if _, _, template := m.ArcAttributes(); top > 0 && template != "" {
					return structured.BadInput("--top %d lists attributes by name; a parser keeps only hashes of its arc attributes", top)
				}
				if top > 0 && m.Dictionary == nil {
					return structured.BadInput("--top %d is for linear nets on attributes; this model's net is %s", top, m.Config.Net)
				}
				if about, err = insideOf(m, top); err != nil {
					return err
				}
			}
			if isSet(cmd, "json") {
				return printJSON(os.Stdout, about)
			}
			return about.print(os.Stdout)
		},
	}
	cmd.Flags().SortFlags = false
	cmd.Flags().IntVar(&top, "top", 0, "also print the `N` largest weights of every label; linear nets on attributes only")
	encoder.addFlag(cmd)
	cmd.Flags().StringVar(&set, "features", "", "print the template of a built-in attribute set: `"+strings.Join(builtinSets(), "|")+"`")
	for k := range lists {
		cmd.Flags().BoolVar(&lists[k].on, lists[k].name, false, lists[k].help)
	}
	complete(cmd, "features", builtinSets()...)
	return cmd
}

// listing is what info prints.
type listing interface{ print(w io.Writer) error }

// arcSet is the built-in set of arc attributes, pairSet that of attributes of word pairs.
const (
	arcSet  = "parse"
	pairSet = "align"
)

func builtinSets() []string { return append(features.Sets(), arcSet, pairSet) }

// printFeatures prints the template of a built-in attribute set.
func printFeatures(cmd *cobra.Command, set string) error {
	var text string
	var err error
	switch set {
	case arcSet:
		text = arcs.Builtin()
	case pairSet:
		text = pairs.Builtin()
	default:
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
		BLAS:    kernels.CurrentBLAS().Name(),
		Devices: []string{"cpu"},
		GPUs:    []device.Info{},

		Structures: structures(),
		Slow:       slowPaths(),
	}
	library, err := ranks.FindLibrary()
	if m.MPI = library; err != nil {
		m.NoMPI = err.Error()
	}
	gpus, err := device.Devices()
	if err != nil {
		m.NoGPU = err.Error()
	}
	for _, g := range gpus {
		m.GPUs = append(m.GPUs, g)
		m.Devices = append(m.Devices, fmt.Sprintf("cuda:%d", g.Ordinal))
	}
	if len(gpus) > 0 {
		m.NCCL, m.NoNCCL = nccl(gpus[0].Emulated())
	}
	return m
}

// nccl returns the library for exchanges between GPUs, or why there is none.
func nccl(emulated bool) (library, none string) {
	n, why, err := device.OpenNCCL(emulated)
	switch {
	case err != nil:
		return "", err.Error()
	case n == nil:
		return "", why
	}
	return n.String(), ""
}

func (m machine) print(w io.Writer) error {
	var b strings.Builder
	fmt.Fprintf(&b, "dsp       %s\nGo        %s, %s\nCPUs      %d\noracles   %s\nBLAS      %s\ndevices   %s\n",
		m.Version, m.Go, m.System, m.CPUs, m.Vector, m.BLAS, strings.Join(m.Devices, ", "))
	for k, s := range m.Structures {
		head := "outputs"
		if k > 0 {
			head = ""
		}
		fmt.Fprintf(&b, "%-9s %s: %s; on a GPU: %s\n", head, s.Name, strings.Join(s.Oracle, ", "), s.GPU)
	}
	for _, s := range m.Slow {
		fmt.Fprintf(&b, "slow      %s: %s\n", s.Part, s.Remedy)
	}
	for _, g := range m.GPUs {
		fmt.Fprintf(&b, "GPU       %s\n", g)
	}
	if m.NoGPU != "" {
		fmt.Fprintf(&b, "GPU       none: %s\n", m.NoGPU)
	}
	if m.NCCL != "" {
		fmt.Fprintf(&b, "NCCL      %s\n", strings.TrimPrefix(m.NCCL, "NCCL "))
	}
	if m.NoNCCL != "" {
		fmt.Fprintf(&b, "NCCL      none: %s\n", m.NoNCCL)
	}
	if m.NoMPI != "" {
		fmt.Fprintf(&b, "MPI       none: %s\n", m.NoMPI)
	} else {
		fmt.Fprintf(&b, "MPI       %s\n", m.MPI)
	}
	_, err := io.WriteString(w, b.String())
	return err
}
