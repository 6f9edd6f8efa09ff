package matchings_test

import (
	"testing"

	"github.com/dsp-go/dsp/oracles/oracletest"
	"github.com/dsp-go/dsp/structured/matchings"
)

func TestContract(t *testing.T) { oracletest.RunStructures(t, matchings.Matching{}) }
