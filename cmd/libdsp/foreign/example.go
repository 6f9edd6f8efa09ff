package foreign

import (
	"fmt"

	"github.com/dsp-go/dsp/structured/constituents"
	"github.com/dsp-go/dsp/structured/monotone"
	"github.com/dsp-go/dsp/structured/segments"
	"github.com/dsp-go/dsp/structured/trees"
)

// example is what the sizes of example b of a batch are checked by.
type example struct {
	*Batch
	b       int
	numbers int // the length of its output
}

// rows returns the number of rows that the example has of part k.
func (e example) rows(k int) int { return e.parts[k].Offsets[e.b+1] - e.parts[k].Offsets[e.b] }

// expect refuses the example if it has another number of rows of part k.
func (e example) expect(k, rows int) error {
	if got := e.rows(k); got != rows {
		return fmt.Errorf("%d rows of part %q, expected %d", got, e.parts[k].Name, rows)
	}
	return nil
}

func checkSegments(e example) error {
	shape := segments.ShapeOf(e.parts)
	if shape.PerPosition {
		if err := e.expect(2, e.numbers); err != nil {
			return err
		}
	}
	if shape.End > 0 {
		if err := e.expect(shape.End, e.numbers); err != nil {
			return err
		}
	}
	if shape.Whole > 0 {
		if err := e.expect(shape.Whole, segments.Row(e.numbers, 1, shape.Longest)); err != nil {
			return err
		}
	}
	if last := len(e.parts) - 1; e.parts[last].Name == "loss" {
		if err := e.expect(last, 1); err != nil {
			return err
		}
	}
	return e.expect(0, e.numbers)
}

func checkTree(e example) error {
	n := e.numbers / 2
	if e.numbers%2 != 0 || n > 1<<20 {
		return fmt.Errorf("an output of %d numbers, expected a head and a relation for each word", e.numbers)
	}
	if len(e.parts) > 2 {
		if err := e.expect(2, trees.Siblings(n)); err != nil {
			return err
		}
	}
	if err := e.expect(0, n*n); err != nil {
		return err
	}
	return e.expect(1, n*n)
}

func checkGrammar(e example) error {
	n := constituents.Words(e.numbers)
	if n*n != e.numbers {
		return fmt.Errorf("an output of %d numbers, expected the square of a number of words", e.numbers)
	}
	rows := []int{e.numbers, n}
	if e.form.Settings.PerExample {
		rows = append(rows, 1, 1)
	}
	for k, want := range rows {
		if err := e.expect(k, want); err != nil {
			return err
		}
	}
	return nil
}

func checkMatching(e example) error {
	if n, pairs := e.numbers, e.rows(0); n == 0 && pairs > 0 || n > 0 && pairs%n != 0 {
		return fmt.Errorf("%d pairs of %d sources, expected as many for each source", pairs, n)
	}
	if len(e.parts) > 1 {
		return e.expect(1, e.numbers)
	}
	return nil
}

func checkMonotone(e example) error {
	n, pairs := e.rows(1), e.rows(0)
	if e.form.Settings.Moves {
		if err := e.expect(2, pairs); err != nil {
			return err
		}
	}
	if n == 0 && pairs > 0 || n > 0 && pairs%n != 0 {
		return fmt.Errorf("%d pairs of %d sources, expected as many for each source", pairs, n)
	}
	if n > 0 {
		if want := monotone.Numbers(n, pairs/n); e.numbers != want {
			return fmt.Errorf("an output of %d numbers, expected %d for %d sources and %d targets", e.numbers, want, n, pairs/n)
		}
		return nil
	}
	if e.numbers != 0 {
		return fmt.Errorf("an output of %d numbers without sources, expected 0", e.numbers)
	}
	return nil
}

func checkGraph(e example) error {
	if err := e.expect(0, e.numbers); err != nil {
		return err
	}
	if e.graphs == nil {
		return fmt.Errorf("a batch of graphs has no edges; make them first")
	}
	g := e.graphs[e.b]
	for i, ends := range g.Ends {
		if u, v := uint(uint32(ends[0])), uint(uint32(ends[1])); u >= uint(e.numbers) || v >= uint(e.numbers) || u == v {
			return fmt.Errorf("edge %d joins variables %d and %d, expected two of 0 to %d", i, ends[0], ends[1], e.numbers-1)
		}
	}
	types := e.form.Settings.Types
	switch {
	case e.parts[1].Offsets != nil:
		return e.expect(1, len(g.Ends))
	case len(g.Types) != len(g.Ends):
		return fmt.Errorf("%d types of %d edges", len(g.Types), len(g.Ends))
	}
	for i, t := range g.Types {
		if t < 0 || int(t) >= types {
			return fmt.Errorf("edge %d has type %d, expected 0 to %d", i, t, types-1)
		}
	}
	return nil
}
