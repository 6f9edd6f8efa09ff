package pcfg_test

import (
	"testing"

	"github.com/dsp-go/dsp/oracles/oracletest"
	"github.com/dsp-go/dsp/structured/pcfg"
)

func TestContract(t *testing.T) { oracletest.RunStructures(t, pcfg.Tree{}) }
