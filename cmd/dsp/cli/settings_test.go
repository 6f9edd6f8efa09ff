package cli

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/spf13/cobra"

	"github.com/dsp-go/dsp/models/config"
	"github.com/dsp-go/dsp/models/settings"
	"github.com/dsp-go/dsp/models/sweep"
)

// Flags and the keys of --config are given, whatever their values are; flags that are left out are not.
func TestFlagsAndKeysAreGiven(t *testing.T) {
	file := filepath.Join(t.TempDir(), "my.yaml")
	if err := os.WriteFile(file, []byte("scheme: keep\nreg: 2\n"), 0o666); err != nil {
		t.Fatal(err)
	}
	flags := []string{"--k", "5", "--edges=transition"}

	trained := config.Default()
	train := &cobra.Command{}
	addSettings(train, config.Settings(&trained))
	if err := train.ParseFlags(flags); err != nil {
		t.Fatal(err)
	}
	c, err := trainSettings(train, file, &trained)
	if want := (settings.Given{"edges", "k", "reg", "scheme"}); err != nil || !slices.Equal(c.Given, want) || c.Reg != 2 || c.Gives("task") {
		t.Errorf("train: %v, %v; want %v", c.Given, err, want)
	}

	swept := sweep.Default()
	sweeps := &cobra.Command{}
	addSettings(sweeps, sweep.Settings(&swept))
	if err := sweeps.ParseFlags(append(flags, "--grid", "reg=1,2", "--jobs", "0")); err != nil {
		t.Fatal(err)
	}
	s, err := sweepSettings(sweeps, "", &swept)
	if want := (settings.Given{"edges", "grid", "jobs", "k"}); err != nil || !slices.Equal(s.Given, want) {
		t.Errorf("sweep: %v, %v; want %v", s.Given, err, want)
	}
}
