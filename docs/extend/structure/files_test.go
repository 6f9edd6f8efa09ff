package main

import (
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/dsp-go/dsp/cmd/dsp/cli/clitest"
	"github.com/dsp-go/dsp/models/config"
	"github.com/dsp-go/dsp/models/data/arrays"
)

// The task names a format of dsp, whose files it reads; other formats hold no data for it.
func TestReadsFiles(t *testing.T) {
	dir := t.TempDir()
	c := config.Default()
	c.Task, c.Examples = task.Name, []int{60, 20, 20}
	train, _, _, err := draw(&c)
	if err != nil {
		t.Fatal(err)
	}
	lengths := make([]int32, train.Len())
	for i := range lengths {
		lengths[i] = int32(train.Length(i))
	}
	path, run := filepath.Join(dir, "items.npz"), filepath.Join(dir, "run")
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	err = arrays.WriteNPZ(f, func(n arrays.NPZWriter) error {
		return cmp.Or(arrays.Add(n, "features", train.Features, len(train.Labels), train.Dim), arrays.Add(n, "lengths", lengths, len(lengths)),
			arrays.Add(n, "labels", train.Labels, len(train.Labels)), n.AddText("label_names", train.Alphabet.Names()))
	})
	if err := cmp.Or(err, f.Close()); err != nil {
		t.Fatal(err)
	}
	for args, want := range map[string]string{
		fmt.Sprintf("train --task select --train %s --net linear --passes 3 --quiet --out %s", path, run): "model",
		"train --task select --train x.pairs": "--format pairs has no labels for --task select, which reads npz; use --task align",
		"info --formats":                      "warp, select",
	} {
		if _, out := clitest.Run(t, strings.Fields(args)...); !strings.Contains(out, want) {
			t.Errorf("%s: %s; want %s", args, out, want)
		}
	}
	if code, out := clitest.Run(t, "eval", "--model", run, "--data", path); code != 0 || !strings.Contains(out, "accuracy") {
		t.Errorf("exit code %d: %s", code, out)
	}
}
