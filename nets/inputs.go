package nets

import (
	"github.com/dsp-go/dsp/structured"
	"github.com/dsp-go/dsp/structured/vec"
)

// loadInputs gathers what the program reads of the batch, padded to its rows. Padding has zero features, and −1 as ids and
// neighbours.
func (w *NetWorker) loadInputs(p *Program, batch *structured.Batch) error {
	data, in := batch.Data, w.net.input
	if p.Needs.Features {
		if data.Features == nil || data.Dim != in.Dim {
			return structured.BadInput("%s has %d features per position; the network reads %d", data.Name, data.Dim, in.Dim)
		}
		w.m.mem[SpaceFeatures] = w.batchFeatures(batch, p.Rows)
	}
	if len(p.Needs.Fields) > 0 {
		if len(in.Vocab) == 0 || len(data.Vocab) != len(in.Vocab) {
			return structured.BadInput("%s has %d discrete inputs; the network reads %d", data.Name, len(data.Vocab), len(in.Vocab))
		}
		if err := w.batchIDs(p, batch); err != nil {
			return err
		}
	}
	if p.Needs.Boundary {
		b := w.input(SpaceBoundary, 2*p.Rows)
		clear(b)
		for c := range batch.Len() {
			if lo, hi := batch.Offsets[c], batch.Offsets[c+1]; lo < hi {
				b[2*lo] = 1
				b[2*hi-1] = 1
			}
		}
		w.m.mem[SpaceBoundary] = b
	}
	for i, width := range w.m.widths {
		w.m.windows[i] = windowRows(w.m.windows[i], batch, width, p.Rows)
	}
	w.m.offsets = batch.Offsets
	if p.Needs.Dependents || p.Needs.Heads {
		w.m.dependents, w.m.heads = pairRows(w.m.dependents, w.m.heads, batch.Offsets, p.Pairs)
	}
	if p.Needs.Distances {
		w.m.distances = distanceRows(w.m.distances, batch.Offsets, p.Pairs)
	}
	if p.Needs.Characters {
		if err := w.m.loadCharacters(batch, in.Characters, p.Size); err != nil {
			return err
		}
	}
	if p.Needs.Attributes {
		if err := w.m.loadAttributes(batch, in.Attributes); err != nil {
			return err
		}
	}
	if w.m.seed != 0 {
		w.m.keys = rowKeys(w.m.keys, batch.Examples, p.Rows, func(b int) int { return batch.Offsets[b+1] - batch.Offsets[b] })
	}
	if w.m.seed != 0 && p.Needs.Pairs {
		w.m.pairKeys = rowKeys(w.m.pairKeys, batch.Examples, p.Pairs, func(b int) int {
			t := batch.Offsets[b+1] - batch.Offsets[b]
			return t * t
		})
	}
	return nil
}

// rowKeys hashes each row's example and its index within the example; example b of the batch has length(b) rows. Padding gets 0.
func rowKeys(to []uint64, examples []int, rows int, length func(b int) int) []uint64 {
	to, at := vec.Grow(to, rows), 0
	for b, example := range examples {
		for t := range length(b) {
			to[at] = mix(uint64(example)<<32 | uint64(t))
			at++
		}
	}
	clear(to[at:])
	return to
}

// CheckTables refuses examples without the rows that the potentials need: an example of n positions has n·n rows of every table
// other than that of positions.
func (n *Net) CheckTables(data *structured.Dataset, examples []int) error {
	for _, part := range n.shape.Form.Parts {
		if structured.PerPosition(part.Rows) || part.Rows == structured.Tied {
			continue
		}
		t := data.Table(part.Rows)
		if t == nil {
			return structured.BadInput("%s has no table of rows %q, which the network scores", data.Name, part.Rows)
		}
		for _, e := range examples {
			length := data.Length(e)
			if rows := t.Offsets[e+1] - t.Offsets[e]; rows != length*length {
				return structured.BadInput("%s: %d rows of table %q; expected %d×%d, one for each pair of positions", data.Where(e), rows, part.Rows, length, length)
			}
		}
	}
	return nil
}

// batchFeatures returns the dense inputs of the batch. If the examples are consecutive and need no padding, it returns the
// data's memory without a copy.
func (w *NetWorker) batchFeatures(batch *structured.Batch, rows int) []float32 {
	data, d := batch.Data, batch.Data.Dim
	if n := batch.Positions(); n == rows && consecutive(batch.Examples) {
		at := data.Offsets[batch.Examples[0]] * d
		return data.Features[at : at+n*d]
	}
	to, at := w.input(SpaceFeatures, rows*d), 0
	for _, e := range batch.Examples {
		at += copy(to[at:], data.Features[data.Offsets[e]*d:data.Offsets[e+1]*d])
	}
	clear(to[at:])
	return to
}

func consecutive(examples []int) bool {
	for i := 1; i < len(examples); i++ {
		if examples[i] != examples[i-1]+1 {
			return false
		}
	}
	return len(examples) > 0
}

func (w *NetWorker) batchIDs(p *Program, batch *structured.Batch) error {
	data, fields := batch.Data, len(batch.Data.Vocab)
	for _, f := range p.Needs.Fields {
		to := vec.Grow(w.m.ids[f], p.Rows)
		w.m.ids[f] = to
		t, size := 0, int32(w.net.input.Vocab[f])
		for _, e := range batch.Examples {
			for at := data.Offsets[e]; at < data.Offsets[e+1]; at++ {
				id := data.Ids[at*fields+f]
				if id < 0 || id >= size {
					return structured.BadInput("%s: discrete input %d is %d; the network knows 0 to %d", data.Where(e), f, id, size-1)
				}
				to[t] = id
				t++
			}
		}
		for ; t < p.Rows; t++ {
			to[t] = -1
		}
	}
	return nil
}

// windowRows lists the neighbours t−⌊width/2⌋ … t+⌊width/2⌋ of each row t, −1 outside its example.
func windowRows(to []int32, batch *structured.Batch, width, rows int) []int32 {
	to = vec.Grow(to, rows*width)
	at, half := 0, width/2
	for c := range batch.Len() {
		lo, hi := batch.Offsets[c], batch.Offsets[c+1]
		for t := lo; t < hi; t++ {
			for s := t - half; s <= t+half; s++ {
				to[at] = -1
				if s >= lo && s < hi {
					to[at] = int32(s)
				}
				at++
			}
		}
	}
	for ; at < len(to); at++ {
		to[at] = -1
	}
	return to
}
