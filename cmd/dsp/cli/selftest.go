package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"regexp"
	"strings"

	"github.com/spf13/cobra"

	"github.com/dsp-go/dsp/cmd/dsp/cli/selftest"
	"github.com/dsp-go/dsp/cuda/device"
	"github.com/dsp-go/dsp/models/config"
	"github.com/dsp-go/dsp/structured"
)

func selftestCommand() *cobra.Command {
	var seed uint64
	var name, only string
	var list bool
	cmd := &cobra.Command{
		Use:   "selftest",
		Short: "Check on this machine that dsp computes correct results",
		Long: `selftest compares the oracles with enumeration, vector code and linear algebra with plain loops, gradients with finite
differences, and a small training run with its certificate. With --device cuda it compares every GPU kernel, and training by
every method, with the CPU, to a relative error of 1e-5, or 1e-3 for products in TF32. It exits with code 1 if a check fails,
after it has run the others. With --json the lines of the table are on stderr.`,
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			pattern, err := regexp.Compile(only)
			if err != nil {
				return structured.BadInput("--only %q: %v", only, err)
			}
			checks, about, end, err := checksOn(name)
			if err != nil {
				return err
			}
			checks = selftest.Only(checks, pattern)
			switch {
			case len(checks) == 0:
				err = structured.BadInput("--only %q: no check has such a name; --list shows all", only)
			case list:
				err = listChecks(cmd, checks)
			default:
				err = runChecks(cmd, checks, seed, about)
			}
			return errors.Join(err, end())
		},
	}
	cmd.Flags().Uint64Var(&seed, "seed", 1, "seed `N` of the random instances")
	cmd.Flags().StringVar(&only, "only", "", "run only the checks whose names match this regular expression, `PATTERN`")
	cmd.Flags().BoolVar(&list, "list", false, "print the names of the checks and run none")
	deviceFlag(cmd, &name)
	return cmd
}

// checksOn returns the checks of a device, what to report beside their results, and what to call at the end.
func checksOn(name string) (checks []selftest.Check, about map[string]any, end func() error, err error) {
	d, err := config.OpenDevice(name)
	if err != nil {
		return nil, nil, nil, err
	}
	if d == nil {
		return selftest.All(), map[string]any{}, func() error { return nil }, nil
	}
	checks, end = selftest.OnDevice(d, func() (*device.Device, error) { return config.OpenDevice(name) })
	return checks, map[string]any{"device": d.Info()}, end, nil
}

func listChecks(cmd *cobra.Command, checks []selftest.Check) error {
	names := make([]string, len(checks))
	for i, c := range checks {
		names[i] = c.Name
	}
	if isSet(cmd, "json") {
		return printJSON(os.Stdout, map[string]any{"checks": names})
	}
	_, err := fmt.Println(strings.Join(names, "\n"))
	return err
}

// runChecks runs checks and prints each result as soon as it is known; with --json, the object that it prints at the
// end also holds about.
func runChecks(cmd *cobra.Command, checks []selftest.Check, seed uint64, about map[string]any) error {
	var results []selftest.Result
	failed, json, to := 0, isSet(cmd, "json"), io.Writer(os.Stdout)
	if json {
		to = os.Stderr
	}
	if json && isSet(cmd, "quiet") {
		to = io.Discard
	}
	if _, err := fmt.Fprintln(to, "      check                                                  cases    error  seconds  found"); err != nil {
		return err
	}
	for _, check := range checks {
		r, err := runCheck(cmd.Context(), check, seed)
		if err != nil {
			return err
		}
		verdict := "ok  "
		if results = append(results, r); !r.OK {
			failed++
			verdict = "FAIL"
		}
		if _, err := fmt.Fprintf(to, "%s  %-50s %9d  %7.1e  %7.1f  %s\n", verdict, r.Name, r.Cases, r.Error, r.Seconds, r.Found); err != nil {
			return err
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
