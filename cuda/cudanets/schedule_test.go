package cudanets

import (
	"testing"

	"github.com/dsp-go/dsp/nets"
	"github.com/dsp-go/dsp/nets/graph"
)

// A run ends where a thread would read or write another thread's entry.
func TestRun(t *testing.T) {
	arena := func(offset, n int) *graph.Buffer { return &graph.Buffer{Space: graph.SpaceArena, Offset: offset, N: n} }
	weights := &graph.Buffer{Space: graph.SpaceWeights, Offset: 0, N: 8}
	x, y, z := arena(0, 8), arena(16, 8), arena(32, 8)
	product := graph.Instruction{Op: graph.MatMul{}, Out: z}
	from := func(to, from *graph.Buffer) graph.Instruction { return assignment(to, from, false) }
	spread := func(to, from *graph.Buffer) graph.Instruction {
		in := assignment(to, from, false)
		in.Args[0].Expand = graph.Expand{Outer: 1, Repeat: 4, Inner: 2}
		return in
	}
	for _, c := range []struct {
		what string
		want int
		list []graph.Instruction
	}{
		{"a product", 0, []graph.Instruction{product}},
		{"a chain", 3, []graph.Instruction{from(x, weights), from(y, x), from(z, y), product}},
		{"in place", 2, []graph.Instruction{from(x, weights), from(arena(0, 8), x)}},
		{"another size", 1, []graph.Instruction{from(x, weights), from(arena(64, 4), arena(80, 4))}},
		{"reads shifted what was written", 1, []graph.Instruction{from(x, weights), from(y, arena(4, 8))}},
		{"writes shifted what was read", 1, []graph.Instruction{from(y, x), from(arena(4, 8), weights)}},
		{"writes shifted what was written", 1, []graph.Instruction{from(x, weights), from(arena(4, 8), y)}},
		{"spreads what was written", 1, []graph.Instruction{from(x, weights), spread(y, arena(0, 2))}},
		{"writes what was spread", 1, []graph.Instruction{spread(y, arena(0, 2)), from(x, weights)}},
		{"the same place of another space", 2,
			[]graph.Instruction{from(x, weights), spread(y, &graph.Buffer{Space: graph.SpaceWeights, N: 2})}},
	} {
		if got := run(c.list); got != c.want {
			t.Errorf("%s: a run of %d, want %d", c.what, got, c.want)
		}
	}
}

func TestSchedule(t *testing.T) {
	net, err := nets.New(nets.Config{Net: "mlp", Hidden: []int{6}, Dropout: 0.5}, graph.Input{Dim: 3}, 4)
	if err != nil {
		t.Fatal(err)
	}
	p, err := net.Program(graph.Size{Rows: 8})
	if err != nil {
		t.Fatal(err)
	}
	forward := schedule(p)[0]
	for i, in := range forward {
		if _, ok := in.Op.(graph.Mask); ok && (i+1 == len(forward) || forward[i+1].Op.String() != "⊙") {
			t.Errorf("instruction %d, a mask, is not followed by its product", i)
		}
		if in.Out == p.Outputs[0] {
			t.Errorf("instruction %d, %s, writes potentials that are then copied", i, in.Op)
		}
	}
	if last := forward[len(forward)-1]; last.Out.Space != spacePotentials+1 {
		t.Errorf("the last instruction, %s, is not the copy of the transitions", last.Op)
	}
}
