package nets

import (
	"fmt"

	"gorgonia.org/gorgonia"
)

// embedBody looks every discrete input up in a table of its own and joins the rows, with the dense features behind them
// where the data has both.
func embedBody(c Config, input Input) body {
	b := body{width: input.Dim}
	for f, size := range c.Embed {
		b.width += size
		b.params = append(b.params, Param{fmt.Sprintf("embed%d", f+1), []int{input.Vocab[f], size}, Gaussian(0.1)})
	}
	b.build = func(g *Graph) (*gorgonia.Node, error) {
		var parts gorgonia.Nodes
		for f := range c.Embed {
			e, err := g.Embed(g.Param(fmt.Sprintf("embed%d", f+1)), f)
			if err != nil {
				return nil, err
			}
			parts = append(parts, e)
		}
		if input.Dim > 0 {
			parts = append(parts, g.Features())
		}
		x := parts[0]
		if len(parts) > 1 {
			var err error
			if x, err = gorgonia.Concat(1, parts...); err != nil {
				return nil, err
			}
		}
		return g.Dropout(x, c.Dropout)
	}
	return b
}
