package graphs_test

import (
	"testing"

	"github.com/dsp-go/dsp/oracles/oracletest"
	"github.com/dsp-go/dsp/structured/graphs"
)

func TestContract(t *testing.T) { oracletest.RunStructures(t, graphs.Pairwise{}) }
