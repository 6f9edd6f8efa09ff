package cli

import (
	"context"
	"errors"
	"fmt"
	"os"

	"github.com/spf13/cobra"

	"github.com/dsp-go/dsp/cmd/dsp/cli/selftest"
	"github.com/dsp-go/dsp/models/config"
)

func selftestCommand() *cobra.Command {
	var seed uint64
	var device string
	cmd := &cobra.Command{
		Use:   "selftest",
		Short: "Check on this machine that dsp computes correct results",
		Long: `selftest compares the oracles with enumeration, vector code and linear algebra with plain loops, gradients with finite
differences, and a small training run with its certificate. With --device cuda it compares every GPU kernel, and training by
every method, with the CPU, to a relative error of 1e-5, or 1e-3 for products in TF32. It exits with code 1 if a check fails.`,
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			checks, about := selftest.All(), map[string]any{}
			d, err := config.OpenDevice(device)
			if err != nil {
				return err
			}
			if d != nil {
				checks, about["device"] = selftest.OnDevice(d), d.Info()
			}
			return errors.Join(runChecks(cmd, checks, seed, about), closeDevice(d))
		},
	}
	cmd.Flags().Uint64Var(&seed, "seed", 1, "seed of the random instances")
	deviceFlag(cmd, &device)
	return cmd
}

// runChecks runs checks and prints the results; with --json, the object also holds about.
func runChecks(cmd *cobra.Command, checks []selftest.Check, seed uint64, about map[string]any) error {
	var results []selftest.Result
	failed, json := 0, isSet(cmd, "json")
	if !json {
		fmt.Println("      check                                                  cases    error  seconds  found")
	}
	for _, check := range checks {
		r, err := runCheck(cmd.Context(), check, seed)
		if err != nil {
			return err
		}
		if results = append(results, r); !r.OK {
			failed++
		}
		if !json {
			verdict := "ok  "
			if !r.OK {
				verdict = "FAIL"
			}
			fmt.Printf("%s  %-50s %9d  %7.1e  %7.1f  %s\n", verdict, r.Name, r.Cases, r.Error, r.Seconds, r.Found)
		}
	}
	if json {
		about["ok"], about["checks"] = failed == 0, results
		if err := printJSON(os.Stdout, about); err != nil {
			return err
		}
	}
	if failed > 0 {
		return errors.New(plural(failed, "check") + " failed")
	}
	return nil
}

// runCheck runs one check and returns an error if it was interrupted.
func runCheck(ctx context.Context, check selftest.Check, seed uint64) (selftest.Result, error) {
	r := check.Do(ctx, seed)
	return r, ctx.Err()
}

func plural(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}
