package record

import (
	"encoding/json"
	"math"

	"github.com/dsp-go/dsp/structured"
)

// Record is what is known after a pass: a line of metrics.jsonl. What a method does not compute is NaN, null in JSON.
type Record struct {
	Pass         int                 `json:"pass"`
	Seconds      float64             `json:"seconds"`                 // of training; evaluation and recording do not count
	OracleCalls  int                 `json:"oracle_calls"`            // without those of full passes
	FullPasses   int                 `json:"full_passes"`             // passes for full gradients and certificates
	Objective    Number              `json:"objective"`               // F(w), not smoothed, regulariser included
	Dual         Number              `json:"dual"`                    // certified lower bound on min F
	Gap          Number              `json:"gap"`                     // Objective − Dual
	EstimatedGap Number              `json:"estimated_gap,omitempty"` // what Gap would be by a dual value that is not certified yet; 0 where Dual is up to date
	Smoothed     Number              `json:"smoothed"`                // F_μ(w)
	Mu           Number              `json:"mu"`                      // smoothing μ
	Kappa        Number              `json:"kappa"`                   // weight κ of the proximal term
	ExactTopK    Number              `json:"exact_topk"`              // fraction of exact top-K answers
	Step         Number              `json:"step"`                    // γ, or η of prox-linear
	ProxGradient Number              `json:"prox_gradient"`           // ‖w_{k−1} − w_k‖/η of prox-linear
	Dev          *structured.Metrics `json:"dev"`                     // nil without development data
	Test         *structured.Metrics `json:"test"`                    // nil without test data
}

// RelativeGap returns (F − dual)/|F|, NaN without a certificate.
func (r Record) RelativeGap() float64 {
	if r.Gap == 0 {
		return 0 // also where F is 0
	}
	return float64(r.Gap) / math.Abs(float64(r.Objective))
}

// relativeEstimate returns the estimated gap relative to F, NaN where there is no estimate.
func (r Record) relativeEstimate() float64 {
	if r.EstimatedGap == 0 {
		return math.NaN()
	}
	return float64(r.EstimatedGap) / math.Abs(float64(r.Objective))
}

// DevError names the error that chooses between weights, less is better, and returns it: 1 − F1 where the labels are
// entity tags, else the token error. It is NaN without development data.
func (r Record) DevError() (name string, value float64) { return r.Dev.Error() }

// Number is a float64 that JSON shows as null where it is NaN or infinite.
type Number float64

// MarshalJSON implements json.Marshaler.
func (x Number) MarshalJSON() ([]byte, error) {
	if f := float64(x); !math.IsNaN(f) && !math.IsInf(f, 0) {
		return json.Marshal(f)
	}
	return []byte("null"), nil
}

// UnmarshalJSON implements json.Unmarshaler; null is NaN.
func (x *Number) UnmarshalJSON(b []byte) error {
	if string(b) == "null" {
		*x = Number(math.NaN())
		return nil
	}
	return json.Unmarshal(b, (*float64)(x))
}

// Recorder observes a run, a record a pass. Close ends it and writes what is still to be written.
type Recorder interface {
	Record(Record) error
	Close() error
}

// History is a Recorder that keeps the records.
type History struct{ Records []Record }

// Record implements Recorder.
func (h *History) Record(r Record) error {
	h.Records = append(h.Records, r)
	return nil
}

// Close implements Recorder; it does nothing.
func (h *History) Close() error { return nil }
