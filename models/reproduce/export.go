package reproduce

import (
	"encoding/csv"
	"io"
	"math"
	"strconv"

	"github.com/dsp-go/dsp/structured"
)

// csv writes the curves of a figure: one row for each pass of each run. Empty cells are numbers that the method does
// not compute.
func (r *figureResults) csv(w io.Writer) error {
	columns := []quantity{
		{name: "passes"}, {name: "calls"}, {name: "all-calls"}, {name: "seconds"},
		{name: "objective"}, {name: "suboptimality"},
		{name: "dual"}, {name: "smoothed"}, {name: "prox-gradient"},
	}
	columns = append(columns, r.metrics()...)
	head := []string{"part", "curve", "seed"}
	for _, q := range columns {
		head = append(head, q.String())
	}
	out := csv.NewWriter(w)
	if err := out.Write(head); err != nil {
		return err
	}
	for _, p := range r.parts {
		for _, c := range p.curves {
			for _, run := range c.runs {
				for _, at := range run.Records {
					row := []string{p.Name, c.name, strconv.FormatUint(run.Seed, 10)}
					for _, q := range columns {
						cell := ""
						if x := q.of(run, at); !math.IsNaN(x) {
							cell = strconv.FormatFloat(x, 'g', 8, 64)
						}
						row = append(row, cell)
					}
					if err := out.Write(row); err != nil {
						return err
					}
				}
			}
		}
	}
	out.Flush()
	return out.Error()
}

// metrics returns the metrics that the runs of r have, on development and test data.
func (r *figureResults) metrics() []quantity {
	for _, p := range r.parts {
		for _, c := range p.curves {
			for _, run := range c.runs {
				if len(run.Records) == 0 {
					continue
				}
				var all []quantity
				add := func(set string, m *structured.Metrics) {
					if m != nil {
						for _, x := range m.Measures {
							all = append(all, quantity{set, x.Name})
						}
					}
				}
				add("dev", run.Records[0].Dev)
				add("test", run.Records[0].Test)
				return all
			}
		}
	}
	return nil
}
