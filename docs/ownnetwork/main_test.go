package main

import (
	"testing"

	"github.com/dsp-go/dsp/nets"
	"github.com/dsp-go/dsp/nets/graph"
	"github.com/dsp-go/dsp/nets/netstest"
)

func TestMine(t *testing.T) {
	in := graph.Input{Dim: 4}
	spec, err := mine(nets.Config{Hidden: []int{5}, Window: 3}, in, nets.ChainOutput(3, nets.EdgesTransition))
	if err != nil {
		t.Fatal(err)
	}
	netstest.Check(t, spec, in)
}
