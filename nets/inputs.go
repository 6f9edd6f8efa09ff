package nets

import (
	"github.com/dsp-go/dsp/structured"
	"github.com/dsp-go/dsp/structured/vec"
)

// loadInputs gathers what the program reads of the batch, padded to its rows: with zero features, ids of the zero row,
// and neighbours none.
func (w *NetWorker) loadInputs(p *Program, batch *structured.Batch) error {
	data, in, n := batch.Data, w.net.input, batch.Positions()
	if p.Needs.Features {
		if data.Features == nil || data.Dim != in.Dim {
			return structured.BadInput("%s has %d features a position; the network reads %d", data.Name, data.Dim, in.Dim)
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
	if w.m.seed != 0 {
		w.m.keys = vec.Grow(w.m.keys, p.Rows)
		clear(w.m.keys[n:])
		for c, example := range batch.Examples {
			for t := batch.Offsets[c]; t < batch.Offsets[c+1]; t++ {
				w.m.keys[t] = mix(uint64(example)<<32 | uint64(t-batch.Offsets[c]))
			}
		}
	}
	return nil
}

// batchFeatures returns the dense inputs of the batch: the data's own memory where the examples follow each other and
// fill the program.
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

// windowRows lists the rows of the neighbours t−⌊width/2⌋ … t+⌊width/2⌋ of each row t, −1 outside its chain.
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
