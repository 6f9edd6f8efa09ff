package structured

// Subset returns a data set of the given examples of d, in the given order, with repetitions. It shares the alphabets,
// the dictionary and the label sets, and copies the rest.
func (d *Dataset) Subset(examples []int) *Dataset {
	s := &Dataset{
		Name: d.Name, Alphabet: d.Alphabet, Dim: d.Dim, Encoder: d.Encoder, Vocab: d.Vocab, ColumnNames: d.ColumnNames,
		Dictionary: d.Dictionary, LabelSets: d.LabelSets,
		Offsets: make([]int, 1, len(examples)+1),
	}
	for _, i := range examples {
		s.Offsets = append(s.Offsets, s.Positions()+d.Length(i))
	}
	if d.Outputs == nil {
		s.Labels = selectPositions(d, examples, d.Labels, 1)
	} else {
		s.Outputs = sumLengths(nil, d.Outputs, examples)
		for _, i := range examples {
			s.Labels = append(s.Labels, d.Gold(i)...)
		}
	}
	for _, t := range d.Tables {
		s.Tables = append(s.Tables, &Table{
			Name: t.Name, Offsets: sumLengths(nil, t.Offsets, examples), Attributes: t.Attributes.subset(t.Offsets, examples),
			Features: selectRows(t.Offsets, examples, t.Features, t.Dim), Dim: t.Dim,
		})
	}
	if d.Costs != nil {
		s.CostRows = d.CostRows
		at := d.Rows(d.CostRows)
		for _, i := range examples {
			s.Costs = append(s.Costs, d.Costs[at[i]:at[i+1]]...)
		}
	}
	s.Features = selectPositions(d, examples, d.Features, d.Dim)
	s.Source, s.Stored = d.sourceOf(examples), d.Stored
	if d.TaskData != nil {
		s.TaskData = d.TaskData.Subset(d, examples)
	}
	s.Ids = selectPositions(d, examples, d.Ids, len(d.Vocab))
	s.Ranges = selectPositions(d, examples, d.Ranges, 1)
	s.Characters = d.Characters.subset(d.Offsets, examples)
	s.Pieces = d.Pieces.subset(d.Offsets, examples)
	s.Attributes = d.Attributes.subset(d.Offsets, examples)
	s.EdgeAttributes = d.EdgeAttributes.subset(d.Offsets, examples)
	for _, column := range d.Columns {
		s.Columns = append(s.Columns, selectPositions(d, examples, column, 1))
	}
	s.Graphs = selectExamples(examples, d.Graphs)
	s.IDs = selectExamples(examples, d.IDs)
	s.Lines = selectExamples(examples, d.Lines)
	s.Files = selectExamples(examples, d.Files)
	s.Weights = selectExamples(examples, d.Weights)
	s.Readings = selectExamples(examples, d.Readings)
	s.Looks = selectExamples(examples, d.Looks)
	return s
}

// selectPositions copies the examples' entries from a per-position array with width entries per position.
func selectPositions[E any](d *Dataset, examples []int, from []E, width int) []E {
	return selectRows(d.Offsets, examples, from, width)
}

// selectRows copies the examples' rows of a table with width entries per row; example i owns rows offsets[i] to
// offsets[i+1]-1.
func selectRows[E any](offsets, examples []int, from []E, width int) []E {
	if from == nil {
		return nil
	}
	to := []E{}
	for _, i := range examples {
		to = append(to, from[offsets[i]*width:offsets[i+1]*width]...)
	}
	return to
}

// selectExamples copies the examples' entries from a per-example array.
func selectExamples[E any](examples []int, from []E) []E {
	if from == nil {
		return nil
	}
	to := make([]E, len(examples))
	for k, i := range examples {
		to[k] = from[i]
	}
	return to
}

// subset copies the examples' rows; example i owns rows offsets[i] to offsets[i+1]-1. It returns nil for nil.
func (s *Sparse) subset(offsets, examples []int) *Sparse {
	if s == nil {
		return nil
	}
	to := &Sparse{Offsets: make([]int, 1), Index: []int32{}}
	for _, i := range examples {
		rows := s.Offsets[offsets[i] : offsets[i+1]+1]
		for t := range len(rows) - 1 {
			to.Offsets = append(to.Offsets, len(to.Index)+rows[t+1]-rows[0])
		}
		lo, hi := rows[0], rows[len(rows)-1]
		to.Index = append(to.Index, s.Index[lo:hi]...)
		if s.Value != nil {
			to.Value = append(to.Value, s.Value[lo:hi]...)
		}
	}
	return to
}
