package trees_test

import (
	"testing"

	"github.com/dsp-go/dsp/oracles/oracletest"
	"github.com/dsp-go/dsp/structured/trees"
)

func TestContract(t *testing.T) { oracletest.RunStructures(t, trees.SpanningTree{}) }
