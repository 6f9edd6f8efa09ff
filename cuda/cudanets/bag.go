package cudanets

import (
	"github.com/dsp-go/dsp/cuda/device"
	"github.com/dsp-go/dsp/cuda/resident"
	"github.com/dsp-go/dsp/nets/graph"
	"github.com/dsp-go/dsp/structured"
)

// bagTable is a table of weights with one row per attribute.
type bagTable struct {
	attributes, cols int
	pairs            bool // attributes of pairs of source and target items
}

// bagOf is a table together with the data whose attributes it has.
type bagOf struct {
	bagTable
	data *resident.Data
}

// reserveBags prepares to pull back bags of batches of b's capacities.
func (e *Executor) reserveBags(p *program, b *resident.Batch) {
	for table := range p.bags {
		key := bagOf{table, b.Data}
		if e.bags[key] == nil {
			rows := &sparseRows{hi: table.attributes * table.cols, width: table.cols, attributes: b.Data.Attributes,
				host: b.Data.Set.Attributes}
			if table.pairs {
				rows.pairs, rows.attributes, rows.host = true, b.Data.PairAttributes, b.Data.Set.Table(structured.Pairs).Attributes
			}
			e.bags[key] = rows
		}
		e.bags[key].reserve(e.device, b)
	}
}

func bag(o graph.Bag, in graph.Instruction) command {
	table := in.Args[0].Buffer
	return func(e *Executor) {
		x, source := e.batch.Data.Attributes, e.batch.Source
		if o.Pairs {
			x, source = e.batch.Data.PairAttributes, e.batch.PairSource
		}
		e.entries("bag", in.Out.N, e.at(in.Out), e.at(table), x.Offsets, x.Index, x.Value, source, int32(o.Cols),
			device.Flag(in.Accumulate))
	}
}

func (c *compiler) bagScatter(o graph.BagScatter, in graph.Instruction) command {
	g, table := in.Args[0].Buffer, bagTable{in.Out.N / o.Cols, o.Cols, o.Pairs}
	c.program.bags[table] = true
	return func(e *Executor) {
		out := e.at(in.Out)
		if !in.Accumulate {
			device.Zero(e.device, out)
		}
		e.bags[bagOf{table, e.batch.Data}].pullback(e.device, e.at(g), e.batch, out)
	}
}
