package cli

import (
	"errors"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/dsp-go/dsp/cmd/dsp/cli/benchmarks"
	"github.com/dsp-go/dsp/cmd/dsp/cli/devicebench"
	"github.com/dsp-go/dsp/models/config"
	"github.com/dsp-go/dsp/structured"
)

func benchCommand() *cobra.Command {
	var seconds float64
	var device, only string
	var withoutCPU bool
	cmd := &cobra.Command{
		Use:   "bench",
		Short: "Measure the oracles, a network's step and a training pass on this machine",
		Long: `bench reports sequences per second, and floating-point operations per second where it can count them. On one thread it
measures the chain oracles on 50 positions (max takes 2TY² operations, exp 6TY²), the dependency tree oracles on 25 words with
1 and with 50 relations, the other oracles on small and on large examples, and forward and pullback of an mlp on 4096
positions. On all cores it measures training passes over built-in data.

With --device cuda it measures the GPU's kernels, a training step and a pass of prox-linear, and shows the lower bound of each
time: the bytes it must move at this GPU's copy bandwidth, or its arithmetic at the float32 peak, whichever takes longer.
Its parts, for --only, are oracles, long chain, trees, products, step and pass.`,
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if !(seconds > 0) {
				return structured.BadInput("--seconds %v: expected a number above 0", seconds)
			}
			pattern, err := regexp.Compile(only)
			if err != nil {
				return structured.BadInput("--only %q: %v", only, err)
			}
			d, err := config.OpenDevice(device)
			if err != nil {
				return err
			}
			if d != nil {
				if !slices.ContainsFunc(devicebench.Parts, pattern.MatchString) {
					err = structured.BadInput("--only %q: expected some of %s", only, strings.Join(devicebench.Parts, ", "))
				} else {
					err = benchDevice(cmd, d, devicebench.Options{Seconds: seconds, Only: pattern, WithCPU: !withoutCPU})
				}
				return errors.Join(err, closeDevice(d))
			}
			if withoutCPU {
				return structured.BadInput("--without-cpu is for a GPU; add --device cuda")
			}
			speeds, err := benchmarks.Run(cmd.Context(), seconds, pattern)
			if err == nil && len(speeds) == 0 {
				return structured.BadInput("--only %q: no measurement has such a name", only)
			}
			if len(speeds) == 0 {
				return err
			}
			return errors.Join(err, printSpeeds(isSet(cmd, "json"), speeds)) // an interrupt shows what was measured before it
		},
	}
	cmd.Flags().Float64Var(&seconds, "seconds", 1, "repeat each measurement for `S` seconds")
	cmd.Flags().StringVar(&only, "only", "", "measure only what matches this regular expression, `PATTERN`: parts on a GPU, lines of the table on the CPU")
	cmd.Flags().BoolVar(&withoutCPU, "without-cpu", false, "with --device cuda, do not time a pass of training on the CPU, too")
	deviceFlag(cmd, &device)
	return cmd
}

// printSpeeds prints measurements as a table, or as JSON.
func printSpeeds(json bool, speeds []benchmarks.Speed) error {
	if json {
		return printJSON(os.Stdout, map[string]any{"machine": thisMachine(), "speeds": speeds})
	}
	table := [][]string{{"what", "sequences/s", "GFLOP/s"}}
	for _, s := range speeds {
		row := []string{s.Part + ": " + s.What, fmt.Sprintf("%.0f", s.Sequences), ""}
		if s.GFLOPs > 0 {
			row[2] = fmt.Sprintf("%.1f", s.GFLOPs)
		}
		table = append(table, row)
	}
	return printTable(os.Stdout, table)
}
