package models

import (
	"github.com/dsp-go/dsp/nets"
	"github.com/dsp-go/dsp/train/engine"
)

// network is a Net as prox-linear wants it.
type network struct{ *nets.Net }

// Linearise returns the network's first-order model, at the origin until it is moved.
func (n network) Linearise() engine.Linearised {
	return nets.Linearise(n.Net, make([]float32, n.Dim()))
}

// Network returns the network that it wraps.
func (n network) Network() *nets.Net { return n.Net }

// scorer is a network as the methods want it.
func scorer(n nets.Network) nets.Scorer {
	if net, ok := n.(*nets.Net); ok {
		return network{net}
	}
	return n
}
