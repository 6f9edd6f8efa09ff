package training

import (
	"context"

	"github.com/dsp-go/dsp/train/record"
)

// Curve trains without writing files and returns the record of every pass, with the metrics on the development and test data. After an
// error, such as a run that diverges, it returns the records up to there with it.
func (r *Run) Curve(ctx context.Context) ([]record.Record, error) {
	defer r.close()
	if err := r.accelerate(); err != nil {
		return nil, err
	}
	history := &record.History{}
	trainer := r.trainer()
	trainer.Recorders = []record.Recorder{history}
	_, err := trainer.Run(ctx, newState(r.model.W))
	return history.Records, err
}
