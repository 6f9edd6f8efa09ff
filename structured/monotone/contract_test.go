package monotone_test

import (
	"testing"

	"github.com/dsp-go/dsp/oracles/oracletest"
	"github.com/dsp-go/dsp/structured/monotone"
)

func TestContract(t *testing.T) { oracletest.RunStructures(t, monotone.Alignment{}) }
