package arrays

import (
	"slices"

	"github.com/dsp-go/dsp/structured"
)

// layout says which rows of the arrays of a file are positions of chains. The rows are those of features, or of
// features that a padded array [n×M×D] holds, chain by chain.
type layout struct {
	chains, most int   // n and M of a padded array; 0 for others
	rows         int   // of the arrays
	keep         []int // the rows that are positions; nil means all
}

// flatten turns the padded array [n×M×D] into one of n·M rows. Other arrays stay as they are.
func (l *layout) flatten(a *npyArray) error {
	if l == nil || len(a.shape) != 3 {
		return nil
	}
	if a.fortran {
		return a.bad(" is in Fortran order, expected C order of an array with three axes: save np.ascontiguousarray(...)")
	}
	l.chains, l.most = a.shape[0], a.shape[1]
	a.shape = []int{l.chains * l.most, a.shape[2]}
	return nil
}

// takes makes rows of features that stay on disk those of the layout: the rows of a padded array are positions.
func (l *layout) takes(r *Rows) {
	if len(r.shape) == 2 {
		l.chains, l.most = r.n, r.shape[0]
		r.n, r.shape, r.width = l.chains*l.most, r.shape[1:], r.shape[1]
	}
}

// expect checks that an array has one element of one of these kinds per row.
func (l *layout) expect(a *npyArray, kinds, what string) error {
	axes, shape := "[positions]", []int{l.rows}
	if l.most > 0 {
		axes, shape = "[chains × longest]", []int{l.chains, l.most}
	}
	if err := a.expect(axes, len(shape), kinds, what); err != nil {
		return err
	}
	if len(shape) == 1 && a.shape[0] != l.rows {
		return a.bad(" has %d entries, expected the %d positions that features has", a.shape[0], l.rows)
	}
	if !slices.Equal(a.shape, shape) {
		return a.bad(" has shape %v, expected %v as features has", a.shape, shape)
	}
	if a.fortran && len(shape) > 1 {
		return a.bad(" is in Fortran order, expected C order: save np.ascontiguousarray(...)")
	}
	return nil
}

// kept returns the elements of the rows that are positions.
func kept[E any](l *layout, rows []E) []E {
	if l.keep == nil {
		return rows
	}
	some := make([]E, len(l.keep))
	for k, r := range l.keep {
		some[k] = rows[r]
	}
	return some
}

// positions reads lengths and mask, sets the offsets of the chains and leaves out the features of rows that are no
// positions.
func (in denseReader) positions() error {
	d, l := in.d, in.layout
	l.rows = len(d.Features) / d.Dim
	if in.rows != nil {
		l.rows = in.rows.n
	}
	var starts, ends []int // the rows of each chain
	hasLengths, err := in.lengths(&starts, &ends)
	if err != nil {
		return err
	}
	mask, err := in.mask()
	if err != nil {
		return err
	}
	switch {
	case !hasLengths && l.most == 0:
		return structured.BadInput("%s: no array lengths, expected [chains], the length of each chain", d.Name)
	case !hasLengths && mask == nil:
		return structured.BadInput("%s: no array lengths and no array mask; features has shape [chains × longest × "+
			"features], so one of them must say which positions there are",
			d.Name)
	}
	d.Offsets = []int{0}
	var keep []int
	for i := range starts {
		for r := starts[i]; r < ends[i]; r++ {
			if mask == nil || mask[r] {
				keep = append(keep, r)
			}
		}
		d.Offsets = append(d.Offsets, len(keep))
	}
	switch len(keep) {
	case l.rows:
		return nil
	case 0:
		return structured.BadInput("%s: lengths and mask leave no position, expected at least one", d.Name)
	}
	l.keep = keep
	if d.Source != nil {
		d.Source = d.SelectSource(keep)
		return nil
	}
	for k, r := range keep { // k ≤ r
		copy(d.Features[k*d.Dim:(k+1)*d.Dim], d.Features[r*d.Dim:(r+1)*d.Dim])
	}
	d.Features = slices.Clip(d.Features[:len(keep)*d.Dim])
	return nil
}

// lengths returns the first row of each chain, and the one after its last, and whether there is an array lengths.
// Without one the chains of a padded array are whole rows of it.
func (in denseReader) lengths(starts, ends *[]int) (bool, error) {
	l := in.layout
	found, err := readNPY(in.archive, in.d.Name, "lengths", func(a *npyArray) error {
		if err := a.expect("[chains], the length of each chain", 1, "iu", "integers"); err != nil {
			return err
		}
		lengths, err := a.ints()
		if err != nil {
			return err
		}
		if l.most > 0 && len(lengths) != l.chains {
			return a.bad(" has %d entries, expected %d, one per chain of features", len(lengths), l.chains)
		}
		at := 0
		for i, n := range lengths {
			if n < 0 {
				return a.bad("[%d] is %d, expected 0 or more", i, n)
			}
			if l.most > 0 {
				if at = i * l.most; n > l.most {
					return a.bad("[%d] is %d, expected at most %d as features has", i, n, l.most)
				}
			} else if n > l.rows-at {
				return a.bad(" sum to more than the %d positions that features has, from chain %d on", l.rows, i)
			}
			*starts, *ends = append(*starts, at), append(*ends, at+n)
			at += n
		}
		if l.most == 0 && at != l.rows {
			return a.bad(" sum to %d, expected the %d positions that features has", at, l.rows)
		}
		return nil
	})
	if err == nil && !found {
		for i := range l.chains {
			*starts, *ends = append(*starts, i*l.most), append(*ends, (i+1)*l.most)
		}
	}
	return found, err
}

// mask returns which rows are positions, or nil if there is no array mask.
func (in denseReader) mask() (mask []bool, err error) {
	_, err = readNPY(in.archive, in.d.Name, "mask", func(a *npyArray) error {
		if err := in.layout.expect(a, "biu", "booleans or integers"); err != nil {
			return err
		}
		mask, err = a.bools()
		return err
	})
	return mask, err
}
