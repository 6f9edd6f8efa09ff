package constituents_test

import (
	"testing"

	"github.com/dsp-go/dsp/oracles/oracletest"
	"github.com/dsp-go/dsp/structured/constituents"
)

func TestContract(t *testing.T) { oracletest.RunStructures(t, constituents.Tree{}) }
