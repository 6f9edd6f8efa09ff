package cudanets

import (
	"testing"

	"github.com/dsp-go/dsp/nets"
)

// A run ends where a thread would read or write another thread's entry.
func TestRun(t *testing.T) {
	arena := func(offset, n int) *nets.Buffer { return &nets.Buffer{Space: nets.SpaceArena, Offset: offset, N: n} }
	weights := &nets.Buffer{Space: nets.SpaceWeights, Offset: 0, N: 8}
	x, y, z := arena(0, 8), arena(16, 8), arena(32, 8)
	product := nets.Instruction{Op: nets.MatMul{}, Out: z}
	from := func(to, from *nets.Buffer) nets.Instruction { return assignment(to, from, false) }
	spread := func(to, from *nets.Buffer) nets.Instruction {
		in := assignment(to, from, false)
		in.Args[0].Expand = nets.Expand{Outer: 1, Repeat: 4, Inner: 2}
		return in
	}
	for _, c := range []struct {
		what string
		want int
		list []nets.Instruction
	}{
		{"a product", 0, []nets.Instruction{product}},
		{"a chain", 3, []nets.Instruction{from(x, weights), from(y, x), from(z, y), product}},
		{"in place", 2, []nets.Instruction{from(x, weights), from(arena(0, 8), x)}},
		{"another size", 1, []nets.Instruction{from(x, weights), from(arena(64, 4), arena(80, 4))}},
		{"reads shifted what was written", 1, []nets.Instruction{from(x, weights), from(y, arena(4, 8))}},
		{"writes shifted what was read", 1, []nets.Instruction{from(y, x), from(arena(4, 8), weights)}},
		{"writes shifted what was written", 1, []nets.Instruction{from(x, weights), from(arena(4, 8), y)}},
		{"spreads what was written", 1, []nets.Instruction{from(x, weights), spread(y, arena(0, 2))}},
		{"writes what was spread", 1, []nets.Instruction{spread(y, arena(0, 2)), from(x, weights)}},
		{"the same place of another space", 2, []nets.Instruction{from(x, weights), spread(y, &nets.Buffer{Space: nets.SpaceWeights, N: 2})}},
	} {
		if got := run(c.list); got != c.want {
			t.Errorf("%s: a run of %d, want %d", c.what, got, c.want)
		}
	}
}

func TestSchedule(t *testing.T) {
	net, err := nets.New(nets.Config{Net: "mlp", Hidden: []int{6}, Dropout: 0.5}, nets.Input{Dim: 3}, 4)
	if err != nil {
		t.Fatal(err)
	}
	p, err := net.Program(nets.Size{Rows: 8})
	if err != nil {
		t.Fatal(err)
	}
	forward := schedule(p)[0]
	for i, in := range forward {
		if _, ok := in.Op.(nets.Mask); ok && (i+1 == len(forward) || forward[i+1].Op.String() != "⊙") {
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
