// Package record reports on a run. It holds Record, the results of a pass, and the recorders that show or store it: the
// console and a file of metrics, with the curves and TensorBoard's event files in subpackages.
package record

import (
	"encoding/json"
	"math"

	"github.com/dsp-go/dsp/structured"
)

// Record is the result of a pass: one line of metrics.jsonl. Values that a method does not compute are NaN, null in
// JSON.
type Record struct {
	Pass         int                 `json:"pass"`
	Seconds      float64             `json:"seconds"`                 // spent training, without evaluation and recording
	OracleCalls  int                 `json:"oracle_calls"`            // without full passes
	FullPasses   int                 `json:"full_passes"`             // passes for full gradients and certificates
	Objective    Number              `json:"objective"`               // F(w), not smoothed, with the regulariser
	Dual         Number              `json:"dual"`                    // certified lower bound on min F, at least 0
	Gap          Number              `json:"gap"`                     // Objective − Dual
	EstimatedGap Number              `json:"estimated_gap,omitempty"` // the gap according to a dual estimate that is not certified yet; 0 if Dual is up to date
	Relaxed      bool                `json:"relaxed,omitempty"`       // the oracle's answers are bounds: Objective is an upper bound, and Dual one of the relaxed problem
	Truncated    int                 `json:"truncated,omitempty"`     // times that the oracle changed potentials for which it is not exact: Objective may then be an upper bound
	Smoothed     Number              `json:"smoothed"`                // F_μ(w)
	Mu           Number              `json:"mu"`                      // smoothing μ
	Kappa        Number              `json:"kappa"`                   // weight κ of the proximal term
	ExactTopK    Number              `json:"exact_topk"`              // fraction of exact top-K answers
	Nonzero      int                 `json:"nonzero"`                 // weights that differ from zero
	Step         Number              `json:"step"`                    // γ, or η of prox-linear
	ProxGradient Number              `json:"prox_gradient"`           // ‖w_{k−1} − w_k‖/η of prox-linear
	Dev          *structured.Metrics `json:"dev"`                     // nil without development data
	Test         *structured.Metrics `json:"test"`                    // nil without test data
}

// MarshalJSON implements json.Marshaler: the fields, and relative_gap.
func (r Record) MarshalJSON() ([]byte, error) {
	type fields Record
	return json.Marshal(struct {
		fields
		RelativeGap Number `json:"relative_gap"`
	}{fields(r), Number(r.RelativeGap())})
}

// RelativeGap returns (F − dual)/|F|, or NaN without a certificate.
func (r Record) RelativeGap() float64 {
	if r.Gap == 0 {
		return 0 // even if F is 0
	}
	return float64(r.Gap) / math.Abs(float64(r.Objective))
}

// RelativeEstimate returns the estimated gap relative to F, or NaN without an estimate.
func (r Record) RelativeEstimate() float64 {
	if r.EstimatedGap == 0 {
		return math.NaN()
	}
	return float64(r.EstimatedGap) / math.Abs(float64(r.Objective))
}

// DevError returns the error used to select weights, with its name; lower is better. It is 1 − F1 if the labels are
// entity tags, otherwise the token error. It is NaN without development data.
func (r Record) DevError() (name string, value float64) { return r.Dev.Error() }

// Number is a float64 that is null in JSON if it is NaN or infinite.
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

// Recorder observes a run, one record per pass. Close writes pending output and ends the recording.
type Recorder interface {
	Record(Record) error
	Close() error
}

// History is a Recorder that keeps the records.
type History struct{ Records []Record }

func (h *History) Record(r Record) error {
	h.Records = append(h.Records, r)
	return nil
}

// Close implements Recorder; it does nothing.
func (h *History) Close() error { return nil }

// Certified returns what a text for people says of a certificate: a bound, a gap, or a distance to the optimum. If the
// objective was relaxed, because the oracle's answers are bounds, the certificate is about that objective, which
// differs from the one that exact answers define, and the text says so. Tables, reports, pictures and messages call
// this; the progress of a run calls the objective itself relaxed. Without a text there is nothing to say.
func Certified(text string, relaxed bool) string {
	if relaxed && text != "" {
		text += ", relaxed objective"
	}
	return text
}
