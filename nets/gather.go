package nets

import "fmt"

// index says which rows a gather reads. Row −1 is a row of zeros.
type index struct {
	kind  indexKind
	field int     // ids: which discrete input
	width int     // entries a row of the batch
	fixed []int32 // pattern: entries within one example's period of rows
	rows  int     // pattern: rows of the source for each repetition
}

type indexKind uint8

const (
	ids     indexKind = iota // the batch's discrete input: one entry a position
	window                   // the positions t−⌊width/2⌋ … t+⌊width/2⌋ of the same chain
	pattern                  // fixed, shifted by rows from one repetition to the next
)

func (x index) String() string {
	return [...]string{ids: "ids", window: "window", pattern: "pattern"}[x.kind]
}

// gather copies rows of cols entries: row j of the result is row index[j] of the argument.
type gather struct {
	index index
	cols  int
}

func (g gather) String() string { return fmt.Sprintf("gather %s ×%d", g.index, g.cols) }

func (g gather) tangent(b *builder, v *value, d []*value) *value { return b.add(g, v.shape, d[0]) }

func (g gather) run(m *machine, in *instruction) {
	out, x, c := m.at(in.out), m.at(in.args[0].buffer), g.cols
	n := len(out) / c
	if g.index.kind == pattern {
		p, shift := g.index.fixed, int32(0)
		for j := 0; j < n; j += len(p) {
			gatherRows(out[j*c:(j+len(p))*c], x[int(shift)*c:], p, c)
			shift += int32(g.index.rows)
		}
		return
	}
	gatherRows(out, x, m.index(g.index), c)
}

func gatherRows(out, x []float32, rows []int32, c int) {
	if c == 1 {
		for j, r := range rows {
			if r < 0 {
				out[j] = 0
			} else {
				out[j] = x[r]
			}
		}
		return
	}
	for j, r := range rows {
		to := out[j*c : (j+1)*c]
		if r < 0 {
			clear(to)
		} else {
			copy(to, x[int(r)*c:])
		}
	}
}

// scatter adds rows of its argument to the rows that gather read: the adjoint of gather.
type scatter struct{ gather }

func (s scatter) String() string { return fmt.Sprintf("scatter %s ×%d", s.index, s.cols) }

func (scatter) accumulates() {}

func (s scatter) tangent(b *builder, v *value, d []*value) *value { return b.add(s, v.shape, d[0]) }

func (s scatter) run(m *machine, in *instruction) {
	out, g, c := m.at(in.out), m.at(in.args[0].buffer), s.cols
	if !in.accumulate {
		clear(out)
	}
	n := len(g) / c
	if s.index.kind == pattern {
		p, shift := s.index.fixed, int32(0)
		for j := 0; j < n; j += len(p) {
			scatterRows(out[int(shift)*c:], g[j*c:(j+len(p))*c], p, c)
			shift += int32(s.index.rows)
		}
		return
	}
	scatterRows(out, g, m.index(s.index), c)
}

func scatterRows(out, g []float32, rows []int32, c int) {
	if c == 1 {
		for j, r := range rows {
			if r >= 0 {
				out[r] += g[j]
			}
		}
		return
	}
	for j, r := range rows {
		if r >= 0 {
			to := out[int(r)*c : (int(r)+1)*c]
			fast.add(to, to, g[j*c:(j+1)*c])
		}
	}
}
