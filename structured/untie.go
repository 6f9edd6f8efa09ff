package structured

// Common returns the form in which potentials of both forms can be written: where one of them ties a part, and the
// other one has rows of its own, the part has these rows. It is a bad-input error if the structures or the widths of
// parts differ.
func Common(a, b Form) (Form, error) {
	if a.Structure.Name() != b.Structure.Name() {
		return Form{}, BadInput("one is a %s, the other a %s", a.Structure.Name(), b.Structure.Name())
	}
	if d, ok := a.Structure.(Distinguisher); ok && !d.Same(b.Structure) {
		return Form{}, BadInput("each is a %s, but of another kind", a.Structure.Name())
	}
	if len(a.Parts) != len(b.Parts) {
		return Form{}, BadInput("their potentials have %d and %d parts", len(a.Parts), len(b.Parts))
	}
	form := Form{Structure: a.Structure}
	for k, p := range a.Parts {
		q := b.Parts[k]
		if p.Name != q.Name || p.Width != q.Width || p.Rows != q.Rows && p.Rows != Tied && q.Rows != Tied {
			return Form{}, BadInput("their potentials have parts of other shapes: %s with %d numbers per row, and %s with %d",
				p.Name, p.Width, q.Name, q.Width)
		}
		if p.Rows == Tied {
			p.Rows = q.Rows
		}
		form.Parts = append(form.Parts, p)
	}
	return form, nil
}

// Untie makes to the potentials θ of a batch in a form that Common returned: where that has rows, a tied part is
// repeated.
func (θ *Potentials) Untie(batch *Batch, form Form, to *Potentials) {
	to.Resize(batch, form)
	for k := range to.Parts {
		p, q := &θ.Parts[k], &to.Parts[k]
		if p.Offsets != nil || q.Offsets == nil {
			copy(q.Values, p.Values)
			continue
		}
		for row := q.Values; len(row) > 0; row = row[q.Width:] {
			copy(row, p.Values)
		}
	}
}

// Tie makes to the marginals u of a batch in another form, of which Common made that of u: where it ties a part, the
// rows of an example are summed.
func (u *Marginals) Tie(batch *Batch, form Form, to *Marginals) {
	to.Resize(batch, form)
	for k := range to.Parts {
		p, q := &u.Parts[k], &to.Parts[k]
		if p.Rows == q.Rows {
			copy(q.Values, p.Values)
			continue
		}
		for b := range batch.Len() {
			sums := make([]float64, q.Width)
			for i, x := range p.Of(b) {
				sums[i%q.Width] += float64(x)
			}
			for i, s := range sums {
				q.Of(b)[i] = float32(s)
			}
		}
	}
}
