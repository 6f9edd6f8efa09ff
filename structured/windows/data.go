package windows

import "github.com/dsp-go/dsp/structured"

// CheckData implements structured.DataChecker: every example has Height×Width cells, and its gold output, if there is
// one, is a box of them.
func (w Window) CheckData(d *structured.Dataset) error {
	for i := range d.Len() {
		if n := d.Length(i); n != w.Height*w.Width {
			return structured.BadInput("%s: %d cells, expected %d rows of %d", d.Where(i), n, w.Height, w.Width)
		}
		if d.Labels == nil {
			continue
		}
		y := d.Gold(i)
		if len(y) != 4 {
			return structured.BadInput("%s: a gold output of %d numbers, expected top, left, bottom and right", d.Where(i),
				len(y))
		}
		if y[0] < 0 || y[0] > y[2] || int(y[2]) >= w.Height || y[1] < 0 || y[1] > y[3] || int(y[3]) >= w.Width {
			return structured.BadInput("%s: the box of rows %d to %d and columns %d to %d, expected rows in order from 0 to "+
				"%d and columns from 0 to %d",
				d.Where(i), y[0], y[2], y[1], y[3], w.Height-1, w.Width-1)
		}
	}
	return nil
}
