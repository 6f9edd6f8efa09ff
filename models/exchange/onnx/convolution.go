package onnx

import "github.com/dsp-go/dsp/nets/graph"

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
