package training

import (
	"context"
	"crypto/sha256"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/dsp-go/dsp/models/config"
	"github.com/dsp-go/dsp/structured"
	"github.com/dsp-go/dsp/structured/sys/host"
)

// passFiles gives every rank the training files of all ranks, each of which has one of its own (--train-local). It
// returns c as if --train named them, in the order of the ranks, and a function that removes the copies once all ranks
// have read them.
//
// The names of the copies follow from their content, so that ranks agree on them, and resume.
func passFiles(ctx context.Context, c config.Config, o TrainOptions) (config.Config, func(ctx context.Context) error, error) {
	nothing := func(context.Context) error { return nil }
	switch {
	case c.TrainLocal == "":
		return c, nothing, nil
	case !o.Several():
		if c.Resume != "" && c.Gives("train") {
			return c, nothing, nil // on the files of all ranks
		}
		return c, nothing, structured.BadInput("--train-local %s is for several ranks, each with a file of its own, and this is one process: start dsp with mpirun, or give --train", c.TrainLocal)
	case c.Train != "" && c.Resume == "":
		return c, nothing, structured.BadInput("--train %s and --train-local %s both say what to learn from; give one", c.Train, c.TrainLocal)
	}
	content, err := os.ReadFile(c.TrainLocal)
	if err != nil {
		return c, nothing, structured.BadInput("--train-local: %w", err)
	}
	names, err := o.Ranks.AllGather(ctx, []byte(filepath.Base(c.TrainLocal)))
	if err != nil {
		return c, nothing, err
	}
	all, err := o.Ranks.AllGather(ctx, content)
	if err != nil {
		return c, nothing, err
	}
	h := sha256.New()
	for _, x := range all {
		fmt.Fprintf(h, "%x\n", sha256.Sum256(x))
	}
	dir := filepath.Join(os.TempDir(), fmt.Sprintf("dsp-train-%x", h.Sum(nil)[:8]))
	remove := func(ctx context.Context) error {
		if err := o.Ranks.Barrier(ctx); err != nil { // others on this machine still read
			return err
		}
		return os.RemoveAll(dir)
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return c, nothing, err
	}
	var files []string
	for rank, x := range all {
		files = append(files, filepath.Join(dir, fmt.Sprintf("%d-%s", rank, names[rank])))
		err := host.WriteFile(files[rank], func(w io.Writer) error {
			_, err := w.Write(x)
			return err
		})
		if err != nil {
			return c, nothing, err
		}
	}
	c.Train = strings.Join(files, ",")
	return c, remove, nil
}
