package training

import (
	"github.com/dsp-go/dsp/nets"
	"github.com/dsp-go/dsp/train/engine"
)

// network adapts a Net to prox-linear, which linearises it.
type network struct{ *nets.Net }

// Linearise returns the network's first-order model, taken at the origin until it is moved.
func (n network) Linearise() engine.Linearised {
	return nets.Linearise(n.Net, make([]float32, n.Dim()))
}

// Network returns the wrapped network.
func (n network) Network() *nets.Net { return n.Net }

// scorer adapts a network to the methods.
func scorer(n nets.Network) nets.Scorer {
	if net, ok := n.(*nets.Net); ok {
		return network{net}
	}
	return n
}
