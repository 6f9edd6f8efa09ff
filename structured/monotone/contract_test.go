package monotone_test

import (
	"testing"

	"github.com/dsp-go/dsp/oracles/oracletest"
	"github.com/dsp-go/dsp/structured/monotone"
)

func TestContract(t *testing.T) { oracletest.RunStructures(t, monotone.Alignment{}) }

// Of the pairs and of their moves outputs read some rows alone, and of the steps every row but one.
func TestSkipsRows(t *testing.T) {
	if s := (monotone.Alignment{}); !s.SkipsRows(0) || s.SkipsRows(1) || !s.SkipsRows(2) {
		t.Errorf("pairs %v, steps %v, moves %v", s.SkipsRows(0), s.SkipsRows(1), s.SkipsRows(2))
	}
}
