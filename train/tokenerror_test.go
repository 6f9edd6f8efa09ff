package train_test

import "github.com/dsp-go/dsp/structured"

// tokenError returns metrics in which only the token error is known.
func tokenError(e float64) *structured.Metrics {
	return &structured.Metrics{Measures: []structured.Measure{{Name: "token_error", Value: e}}}
}
