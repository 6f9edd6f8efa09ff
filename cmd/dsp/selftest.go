package main

import (
	"errors"
	"fmt"
	"os"

	"github.com/spf13/cobra"

	"github.com/dsp-go/dsp/cmd/dsp/selftest"
)

func selftestCommand() *cobra.Command {
	var seed uint64
	cmd := &cobra.Command{
		Use:   "selftest",
		Short: "Check on this machine that what dsp computes is right",
		Long: `selftest compares the oracles with enumeration, vectors and linear algebra with plain loops, gradients with
finite differences, and a small training run with its certificate. It exits with 1 if a check fails.`,
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			var results []selftest.Result
			failed := 0
			for _, check := range selftest.All() {
				r := check.Do(cmd.Context(), seed)
				if err := cmd.Context().Err(); err != nil {
					return err
				}
				if results = append(results, r); !r.OK {
					failed++
				}
				if !isSet(cmd, "json") {
					verdict := "ok  "
					if !r.OK {
						verdict = "FAIL"
					}
					fmt.Printf("%s  %-50s %5.1f s  %s\n", verdict, r.Name, r.Seconds, r.Found)
				}
			}
			if isSet(cmd, "json") {
				if err := printJSON(os.Stdout, map[string]any{"ok": failed == 0, "checks": results}); err != nil {
					return err
				}
			}
			if failed > 0 {
				return errors.New(plural(failed, "check") + " failed")
			}
			return nil
		},
	}
	cmd.Flags().Uint64Var(&seed, "seed", 1, "of the random instances")
	return cmd
}

func plural(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}
