package cudanets

import (
	"slices"

	"github.com/dsp-go/dsp/nets/graph"
)

// schedule returns a program's forward, pullback and push lists as a device runs them: forward writes the potentials
// directly to their own spaces, push adds the tangents to them.
func schedule(of *graph.Program) [3][]graph.Instruction {
	lists := [3][]graph.Instruction{slices.Clone(of.Forward), slices.Clone(of.Pullback), slices.Clone(of.Push)}
	reads := readings(lists[:])
	for k, b := range of.Outputs {
		if b == nil {
			continue
		}
		tangent, to := of.Tangents[k], &graph.Buffer{Space: spacePotentials + graph.Space(k), N: b.N}
		if places := reads[b]; b.Space == graph.SpaceArena && (len(places) == 0 || slices.Max(places) < len(of.Forward)) {
			replace(lists[0], b, to) // nothing else reads it
		} else {
			lists[0] = append(lists[0], assignment(to, b, false))
		}
		if tangent != nil {
			lists[2] = append(lists[2], assignment(to, tangent, true))
		}
	}
	for i := range lists {
		lists[i] = addLater(maskLater(lists[i]))
	}
	return lists
}

func assignment(to, from *graph.Buffer, accumulate bool) graph.Instruction {
	return graph.Instruction{Op: graph.Assign{}, Out: to, Args: []graph.Operand{{Buffer: from}}, Accumulate: accumulate}
}

// replace makes instructions write and read buffer by in place of old.
func replace(list []graph.Instruction, old, by *graph.Buffer) {
	for i, in := range list {
		if in.Out == old {
			list[i].Out = by
		}
		list[i].Args = slices.Clone(in.Args)
		for k := range in.Args {
			if in.Args[k].Buffer == old {
				list[i].Args[k].Buffer = by
			}
		}
	}
}

// addLater turns an assignment followed by an added product into a product followed by an addition. The product then
// need not read its output: x, then += A·B becomes A·B, then += x.
func addLater(list []graph.Instruction) []graph.Instruction {
	for i := range len(list) - 1 {
		x, y := list[i], list[i+1]
		_, assign := x.Op.(graph.Assign)
		_, product := y.Op.(graph.MatMul)
		if assign && product && !x.Accumulate && y.Accumulate && x.Out == y.Out {
			x.Accumulate, y.Accumulate = true, false
			list[i], list[i+1] = y, x
		}
	}
	return list
}

// maskLater moves each dropout mask right before the first instruction that reads it, so that both are one launch.
func maskLater(list []graph.Instruction) []graph.Instruction {
	for i := len(list) - 1; i >= 0; i-- {
		mask := list[i]
		if _, ok := mask.Op.(graph.Mask); !ok {
			continue
		}
		to := i
		for to+1 < len(list) && !slices.ContainsFunc(list[to+1].Args, func(a graph.Operand) bool {
			return a.Buffer == mask.Out
		}) {
			to++
		}
		copy(list[i:], list[i+1:to+1])
		list[to] = mask
	}
	return list
}

// readings lists which instructions read each buffer; adding to a buffer reads it.
func readings(lists [][]graph.Instruction) map[*graph.Buffer][]int {
	reads, place := map[*graph.Buffer][]int{}, 0
	for _, list := range lists {
		for _, in := range list {
			for _, a := range in.Args {
				reads[a.Buffer] = append(reads[a.Buffer], place)
			}
			if in.Accumulate {
				reads[in.Out] = append(reads[in.Out], place)
			}
			place++
		}
	}
	return reads
}
