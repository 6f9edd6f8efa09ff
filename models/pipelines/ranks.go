package pipelines

import (
	"context"
	"encoding/json"
	"errors"
	"slices"

	"github.com/dsp-go/dsp/models/config"
	"github.com/dsp-go/dsp/models/training"
	"github.com/dsp-go/dsp/train/engine"
)

// Several ranks train one stage after the other, each of them together. Rank 0 alone reads the treebank, makes the
// stages' data and predicts. It tells the other ranks which training comes next, and these share its work.

// together trains as c says, with all ranks. Rank 0 calls it.
func together(ctx context.Context, c config.Config, o training.TrainOptions) (*training.Result, error) {
	if o.Several() {
		what, err := json.Marshal(c)
		if err == nil {
			_, err = o.Ranks.AllGather(ctx, what)
		}
		if err != nil {
			return nil, err
		}
	}
	r, err := training.Train(ctx, c, o)
	if o.Several() && errors.Is(err, engine.ErrFewStrands) {
		o.Log.Info("too small to share: one process trains it")
		o.Ranks = nil
		r, err = training.Train(ctx, c, o)
	}
	return r, err
}

// follow shares the trainings that rank 0 begins, until it is done.
func follow(ctx context.Context, given config.Config, o training.TrainOptions) error {
	for {
		all, err := o.Ranks.AllGather(ctx, nil)
		if err != nil || len(all[0]) == 0 {
			return err
		}
		var c config.Config
		if err := json.Unmarshal(all[0], &c); err != nil {
			return err
		}
		c.Threads = given.Threads
		if _, err := training.Train(ctx, c, o); err != nil && !errors.Is(err, engine.ErrFewStrands) {
			return err
		}
	}
}

// dismiss tells the other ranks that no training follows.
func dismiss(ctx context.Context, o training.TrainOptions) error {
	if !o.Several() {
		return nil
	}
	_, err := o.Ranks.AllGather(ctx, nil)
	return err
}

// shared makes the method of a stage one whose passes are worth about as much with several ranks. Left to itself, a
// stage takes a method that has the bits of one process, of which a pass is worth much less.
func shared(c *config.Config, o training.TrainOptions) {
	if o.Several() && c.Net == "linear" && slices.Contains([]string{"", "auto"}, c.Method) {
		c.Method = "sdca"
	}
}
