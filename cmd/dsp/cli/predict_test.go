package cli

import "testing"

// What --threads says is asked of the model: nothing that is printed depends on it.
func TestPredictOnThreads(t *testing.T) {
	for flag, want := range map[string]int{"--threads=3": 3, "--threads=1": 1, "--quiet": 0} {
		v := newPredictVerb()
		root := newRoot(nil)
		cmd := v.command()
		root.AddCommand(cmd)
		if err := cmd.ParseFlags([]string{flag}); err != nil {
			t.Fatal(err)
		}
		if err := v.checkFlags(cmd); err != nil {
			t.Fatal(err)
		}
		if got := v.options().Threads; got != want {
			t.Errorf("predict %s: %d threads are asked for, expected %d", flag, got, want)
		}
	}
}
