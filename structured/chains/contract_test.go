package chains_test

import (
	"testing"

	"github.com/dsp-go/dsp/oracles/oracletest"
	"github.com/dsp-go/dsp/structured/chains"
)

func TestContract(t *testing.T) { oracletest.RunStructures(t, chains.Chain{}) }
