package choices_test

import (
	"testing"

	"github.com/dsp-go/dsp/oracles/oracletest"
	"github.com/dsp-go/dsp/structured/choices"
)

func TestContract(t *testing.T) { oracletest.RunStructures(t, choices.Choice{}) }
