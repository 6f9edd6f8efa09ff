package onnx

import (
	"slices"

	"github.com/dsp-go/dsp/nets/graph"
)

// conv translates a convolution. ONNX has channels first.
func (n *network) conv(at int, s *graph.Step, o graph.Conv) {
	from, to, k := o.From, o.To, o.Kernel
	x := n.transpose(n.in(s.Args[0], o.Maps, from.Height, from.Width, from.Channels), 0, 3, 1, 2)
	w := n.transpose(n.in(s.Args[1], k, k, from.Channels, to.Channels), 3, 2, 0, 1)
	y := n.add("Conv", []string{x, w}, integers("kernel_shape", k, k), integers("strides", o.Stride, o.Stride),
		integers("pads", o.Padding, o.Padding, o.Padding, o.Padding))
	n.set(at, n.transpose(y, 0, 2, 3, 1), o.Maps, to.Height, to.Width, to.Channels)
}

// pool translates a maximum over 2×2 pixels.
func (n *network) pool(at int, s *graph.Step, o graph.MaxPool) {
	x := n.transpose(n.in(s.Args[0], o.Images, o.Height, o.Width, o.Channels), 0, 3, 1, 2)
	y := n.add("MaxPool", []string{x}, integers("kernel_shape", 2, 2), integers("strides", 2, 2))
	n.set(at, n.transpose(y, 0, 2, 3, 1), o.Images, o.Height/2, o.Width/2, o.Channels)
}

// patches returns the height and the width of images whose 3×3 neighbourhoods a pattern lists, as Graph.Patches makes
// it for a convolution; ok is false for other patterns.
func patches(pattern []int32, pixels int) (height, width int, ok bool) {
	if len(pattern) != 9*pixels {
		return 0, 0, false
	}
	for height = 1; height <= pixels; height++ {
		width = pixels / height
		if height*width == pixels && slices.Equal(pattern, gridWindow(graph.Grid{Height: height, Width: width}, 3)) {
			return height, width, true
		}
	}
	return 0, 0, false
}

// convolved translates the product of patches with a matrix to a convolution, and reports whether x are patches.
func (n *network) convolved(at int, s *graph.Step, o graph.MatMul) bool {
	x, y := s.Args[0], s.Args[1]
	g, ok := n.flow.Steps[x].Op.(graph.Gather)
	if !ok || g.Index.Kind != graph.IndexPattern || o.Batch != 1 || o.TransA || o.TransB || o.K != 9*g.Cols ||
		!n.flow.Steps[y].Rows.Free() {
		return false
	}
	height, width, ok := patches(g.Index.Fixed, g.Index.Rows)
	if !ok {
		return false
	}
	images := o.M / (height * width)
	pixels := n.transpose(n.in(n.flow.Steps[x].Args[0], images, height, width, g.Cols), 0, 3, 1, 2)
	w := n.transpose(n.in(y, 3, 3, g.Cols, o.N), 3, 2, 0, 1)
	z := n.add("Conv", []string{pixels, w}, integers("kernel_shape", 3, 3), integers("pads", 1, 1, 1, 1))
	n.set(at, n.transpose(z, 0, 2, 3, 1), images, height, width, o.N)
	return true
}
