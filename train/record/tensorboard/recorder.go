package tensorboard

import (
	"io"
	"math"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/dsp-go/dsp/structured"
	"github.com/dsp-go/dsp/structured/sys/host"
	trainrecord "github.com/dsp-go/dsp/train/record"
)

// EventFile is the name of a run's event file. TensorBoard requires tfevents in the name.
const EventFile = "events.out.tfevents.dsp"

// Recorder is a record.Recorder that writes an event file with one scalar per number of a record. The step is the pass.
// Times count training only, so TensorBoard's relative time equals the record's seconds.
type Recorder struct {
	file  *os.File
	w     *Writer
	start float64 // seconds since 1970
}

// NewRecorder creates the event file in a folder, replacing an old one, and writes the records from before a resumed
// run. A folder that cannot be written is bad input.
func NewRecorder(dir string, earlier []trainrecord.Record) (*Recorder, error) {
	path := filepath.Join(dir, EventFile)
	r := &Recorder{start: float64(time.Now().UnixMilli()) / 1000}
	if n := len(earlier); n > 0 {
		r.start -= earlier[n-1].Seconds
	}
	err := host.WriteFile(path, func(w io.Writer) error {
		var err error
		if r.w, err = newWriter(w, r.start); err != nil {
			return err
		}
		for _, record := range earlier {
			if err := r.Record(record); err != nil {
				return err
			}
		}
		return nil
	})
	if err == nil {
		r.file, err = os.OpenFile(path, os.O_WRONLY|os.O_APPEND, 0)
	}
	if err != nil {
		return nil, structured.BadInput("cannot write TensorBoard events: %w", err)
	}
	r.w.w = r.file
	return r, nil
}

func (r *Recorder) Record(record trainrecord.Record) error {
	return r.w.scalars(r.start+record.Seconds, record.Pass, scalars(record)...)
}

func (r *Recorder) Close() error { return r.file.Close() }

// scalars lists the numbers in a record.
func scalars(r trainrecord.Record) (list []Scalar) {
	add := func(tag string, x float64) {
		if !math.IsNaN(x) && !math.IsInf(x, 0) {
			list = append(list, Scalar{tag, float32(x)})
		}
	}
	add("objective/primal", float64(r.Objective))
	add("objective/dual", float64(r.Dual))
	add("objective/smoothed", float64(r.Smoothed))
	add("certificate/gap", float64(r.Gap))
	add("certificate/relative_gap", r.RelativeGap())
	add("certificate/prox_gradient", float64(r.ProxGradient))
	add("method/mu", float64(r.Mu))
	add("method/kappa", float64(r.Kappa))
	add("method/step", float64(r.Step))
	add("method/exact_topk", float64(r.ExactTopK))
	add("work/seconds", r.Seconds)
	add("work/oracle_calls", float64(r.OracleCalls))
	add("work/full_passes", float64(r.FullPasses))
	metrics := func(set string, m *structured.Metrics) {
		if m == nil {
			return
		}
		for _, x := range m.Measures {
			if !slices.Contains(untold, x.Name) {
				add(set+"/"+x.Name, x.Value)
			}
		}
	}
	metrics("dev", r.Dev)
	metrics("test", r.Test)
	return list
}

// untold are measures that are counts, constant over passes, or redundant.
var untold = []string{"token_accuracy", "tokens", "sequences", "gold", "predicted", "correct"}
