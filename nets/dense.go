package nets

import (
	"gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
)

// Dense returns x·weight + bias for x [M×in], weight [in×out] and bias [out].
func (g *Graph) Dense(x, weight, bias *gorgonia.Node) (*gorgonia.Node, error) {
	h, err := gorgonia.Mul(x, weight)
	if err != nil {
		return nil, err
	}
	return g.AddBias(h, bias)
}

// AddBias adds the vector bias [C] to every row of x [M×C].
func (g *Graph) AddBias(x, bias *gorgonia.Node) (*gorgonia.Node, error) {
	row, err := gorgonia.Reshape(bias, tensor.Shape{1, bias.Shape().TotalSize()})
	if err != nil {
		return nil, err
	}
	return gorgonia.BroadcastAdd(x, row, nil, []byte{0})
}
