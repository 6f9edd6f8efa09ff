package inputs

import (
	"strconv"
	"strings"
	"testing"

	"github.com/dsp-go/dsp/models/config"
	"github.com/dsp-go/dsp/structured"
	"github.com/dsp-go/dsp/structured/chains"
)

// Labels whose pairs have no numbers are refused.
func TestTooManyLabels(t *testing.T) {
	names := structured.NewAlphabet()
	for k := range chains.MostStepLabels + 1 {
		names.Add(strconv.Itoa(k))
	}
	var in Inputs
	err := in.FitSteps(&config.Config{DataSettings: config.DataSettings{Order: 2}},
		&structured.Dataset{Name: "x", Alphabet: names})
	if !structured.IsBadInput(err) || !strings.Contains(err.Error(), "46341 labels, expected at most 46340") {
		t.Errorf("error %v", err)
	}
}
