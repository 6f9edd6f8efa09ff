package cli

import (
	"bytes"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
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

// A flag that is given twice is warned of where the last value counts, and not where every use adds one.
func TestRepeatedFlags(t *testing.T) {
	was := slog.Default()
	defer slog.SetDefault(was)
	for _, c := range []struct {
		cmd    *cobra.Command
		args   string
		warned bool
	}{
		{sweepCommand(), "--grid reg=1,2 --grid loss=crf,hinge", false},
		{trainCommand(), "--train a.conll --train b.conll", false},
		{serveCommand(), "--model a --model=b", false},
		{predictCommand(), "--tagger a --tagger b", false},
		{trainCommand(), "--reg 1 --reg=2", true},
		{trainCommand(), "--dev a", false},
	} {
		var log bytes.Buffer
		slog.SetDefault(slog.New(newLog(&log, slog.LevelInfo)))
		args := strings.Fields(c.args)
		if err := c.cmd.ParseFlags(args); err != nil {
			t.Fatal(err)
		}
		warnRepeated(c.cmd, args)
		if got := strings.Contains(log.String(), "more than once"); got != c.warned {
			t.Errorf("%s %s: warned %v, want %v: %s", c.cmd.Name(), c.args, got, c.warned, &log)
		}
	}
}

// The old name of a flag is said to be old once, however often it is used.
func TestOldNamesAreSaidOnce(t *testing.T) {
	was := slog.Default()
	defer slog.SetDefault(was)
	var log bytes.Buffer
	slog.SetDefault(slog.New(newLog(&log, slog.LevelInfo)))
	cmd := trainCommand()
	args := strings.Fields("--cell 1 --cell 2 --cell=3 --patch 8 --region-pixels 9")
	if err := cmd.ParseFlags(args); err != nil {
		t.Fatal(err)
	}
	warnRepeated(cmd, args)
	for _, notice := range []string{"--cell is called --cell-pixels now", "--patch is called --region-pixels now", "--cell-pixels is given more than once"} {
		if n := strings.Count(log.String(), notice); n != 1 {
			t.Errorf("%d times %q: %s", n, notice, &log)
		}
	}
}
