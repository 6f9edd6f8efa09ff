// Command mainjob reads what dsp train --json printed last, and exits with 1 unless the structured models beat the one
// with independent letters on test data.
package main

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
)

type result struct {
	Method, Edges, Model string
	Passes               int
	Objective            *float64
	Test                 *struct {
		Token    float64 `json:"token_error"`
		Sequence float64 `json:"sequence_error"`
	}
	Baselines []result
}

func main() {
	if err := check(os.Stdin); err != nil {
		fmt.Fprintln(os.Stderr, "the main job:", err)
		os.Exit(1)
	}
}

func check(in io.Reader) error {
	var r result
	if err := json.NewDecoder(in).Decode(&r); err != nil {
		return err
	}
	if r.Method != "prox-linear" || len(r.Baselines) != 2 {
		return fmt.Errorf("method %q with %d baselines, expected prox-linear with 2", r.Method, len(r.Baselines))
	}
	if _, err := os.Stat(r.Model); err != nil {
		return err
	}
	for _, x := range append([]result{r}, r.Baselines...) {
		if x.Objective == nil || x.Test == nil || x.Passes == 0 {
			return fmt.Errorf("%s: not all of objective, test and passes", x.Method)
		}
		fmt.Printf("%-11s  edges %-10s  objective %8.4f  letter error %5.2f %%  word error %5.2f %%\n",
			x.Method, x.Edges, *x.Objective, 100*x.Test.Token, 100*x.Test.Sequence)
	}
	for _, x := range r.Baselines {
		if x.Edges == "none" && (r.Test.Token >= x.Test.Token || r.Test.Sequence >= x.Test.Sequence) {
			return fmt.Errorf("%s with structure is no better than without", r.Method)
		}
	}
	return nil
}
