package segments_test

import (
	"testing"

	"github.com/dsp-go/dsp/oracles/oracletest"
	"github.com/dsp-go/dsp/structured/segments"
)

func TestContract(t *testing.T) { oracletest.RunStructures(t, segments.Segments{}) }
