package cudanets

// loadInputs gathers the inputs of the batch that a program reads.
func (e *Executor) loadInputs(p *program, b *Batch) {
	data, needs := b.Data, p.Needs
	if needs.Features {
		e.entries("load_features", p.features.Len(), p.features, data.Features, b.Source, int32(data.Set.Dim))
	}
	for _, f := range needs.Fields {
		e.entries("load_ids", p.Rows, p.ids[f], data.Ids, b.Source, int32(len(data.Set.Vocab)), int32(f))
	}
	if needs.Boundary {
		e.entries("load_boundary", p.Rows, p.boundary, b.Chain)
	}
	switch {
	case needs.Split:
		e.loadSplits(p, b)
	case needs.Pairs:
		e.entries("pair_rows", p.Pairs, p.pairs.dependents, p.pairs.heads, p.pairs.distances, b.Offsets, b.Pairs, int32(b.Chains))
	}
	if needs.Characters {
		e.loadCharacters(p, b)
	}
	if p.layers > 0 {
		e.entries("dropout_states", p.Rows*p.layers, p.states, b.Chain, b.Examples, b.Offsets, b.Seed, int32(p.Rows))
	}
}
