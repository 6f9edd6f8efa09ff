// Package devicebench times a device's kernels and training steps, and compares each time with the lower bound that
// memory bandwidth and peak arithmetic set.
package devicebench

import (
	"context"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/dsp-go/dsp/cuda/device"
)

// Report holds all measurements of one device.
type Report struct {
	Device device.Info `json:"device"`
	Small  bool        `json:"small"` // small sizes, for an emulated device: the times are meaningless
	Copy   float64     `json:"copy_gb_per_second"`
	Peak   float64     `json:"peak_gflops"` // float32: units × clock × 2
	BLAS   string      `json:"blas"`
	Rows   []Row       `json:"rows"`
}

// Row is one measurement. The bound is the time for its bytes at the bandwidth of a copy, or for its arithmetic at the
// peak, whichever is longer. The share is bound/time.
type Row struct {
	What         string  `json:"what"`
	Sizes        string  `json:"sizes"`
	Milliseconds float64 `json:"milliseconds"` // median
	Repeats      int     `json:"repeats"`
	Bandwidth    float64 `json:"gb_per_second"` // of the bytes that must be read and written; 0 if not counted
	Rate         float64 `json:"gflops"`        // of the floating-point operations; 0 if not counted
	Bound        float64 `json:"bound_milliseconds"`
	By           string  `json:"bound_by"` // memory or arithmetic
	Share        float64 `json:"share"`
	CPU          float64 `json:"cpu_milliseconds,omitempty"` // time of the same work on this machine's CPU
}

// String returns a line whose columns are two or more spaces apart.
func (r Row) String() string {
	s := fmt.Sprintf("%-40s  %-40s  %10.3f ms", r.What, r.Sizes, r.Milliseconds)
	if r.Share > 0 {
		s += fmt.Sprintf("  %3.0f %%", 100*r.Share)
	}
	return s
}

// work is the least that a computation must do: bytes to read and write, and operations. A fused multiply-add is two
// operations in one instruction; other instructions do one. Tensor cores have a peak of their own.
type work struct {
	bytes, flops float64
	fused        bool
	tensor       bool
}

// bench is a benchmark in progress on one device.
type bench struct {
	*device.Device
	ctx     context.Context
	seconds float64
	report  *Report
	done    func(Row)
	withCPU bool
}

// Options configure Run.
type Options struct {
	Seconds float64   // how long to repeat each measurement
	Small   bool      // sizes for an emulated device
	Done    func(Row) // called with every row; may be nil
	Only    *regexp.Regexp
	WithCPU bool // time a pass of training on the CPU, too
}

// Parts are the names of what Run measures after a copy; Only in Options chooses among them.
var Parts = []string{"oracles", "long chain", "trees", "products", "step", "pass"}

// Run takes all measurements.
func Run(ctx context.Context, d *device.Device, o Options) (*Report, error) {
	b := &bench{Device: d, ctx: ctx, seconds: o.Seconds, done: o.Done, withCPU: o.WithCPU, report: &Report{Device: d.Info(), Small: o.Small}}
	if err := b.ceilings(); err != nil {
		return nil, err
	}
	for i, part := range []func() error{b.oracles, b.longChain, b.trees, b.products, b.step, b.proxLinear} {
		if !o.Only.MatchString(Parts[i]) {
			continue
		}
		if err := part(); err != nil {
			return nil, err
		}
		if err := d.Sync(); err != nil {
			return nil, err
		}
	}
	return b.report, nil
}

// pick returns size for a real device and small for an emulated one.
func (b *bench) pick(size, small int) int {
	if b.report.Small {
		return small
	}
	return size
}

// ceilings measures the bandwidth of a copy that exceeds all caches, and computes the peak of the arithmetic.
func (b *bench) ceilings() error {
	i := b.Info()
	b.report.Peak = float64(i.Multiprocessors) * floatUnits(i.Capability) * float64(i.Clock) * 1e3 * 2 / 1e9
	n := b.pick(1<<28, 1<<16)
	from, to := device.New[float32](b.Device, n, "a copy"), device.New[float32](b.Device, n, "a copy")
	defer device.Free(b.Device, from)
	defer device.Free(b.Device, to)
	device.Zero(b.Device, from)
	bytes := 8 * float64(n)
	milliseconds, repeats, err := b.time(func(int) { device.Copy(b.Device, to, from) })
	if err != nil {
		return err
	}
	b.report.Copy = bytes / milliseconds / 1e6
	b.add(Row{What: "copy", Sizes: fmt.Sprintf("%d MiB", n>>18), Milliseconds: milliseconds, Repeats: repeats}, work{bytes: bytes})
	return nil
}

// floatUnits returns the number of float32 units per multiprocessor.
func floatUnits(capability string) float64 {
	if capability == "8.0" {
		return 64
	}
	return 128
}

// tensorRate returns how many TF32 multiply-adds the tensor cores of one multiprocessor do per clock; 0 if unknown.
func tensorRate(capability string) float64 {
	return map[string]float64{"8.0": 512, "9.0": 1024}[capability]
}

const maxRepeats = 1000 // measurements per row

// time returns the median time of run in milliseconds. It records events around several consecutive runs, so that
// launch overhead on the host does not count. The argument of run is the number of the repeat, from 0.
func (b *bench) time(run func(repeat int)) (milliseconds float64, repeats int, err error) {
	const warmUp, least, together, span = 3, 5, 50, 1. // ms
	n := 0
	runs := func(count int) float64 {
		from := b.Record()
		for range count {
			run(n)
			n++
		}
		return b.Record().Since(from).Seconds() * 1e3 / float64(count)
	}
	var once float64
	for range warmUp {
		once = runs(1)
	}
	count := int(min(max(span/max(once, 1e-6), 1), together))
	var times []float64
	for start := time.Now(); len(times) < least || len(times) < maxRepeats && time.Since(start).Seconds() < b.seconds; {
		if err := b.ctx.Err(); err != nil {
			return 0, 0, err
		}
		times = append(times, runs(count))
		if err := b.Err(); err != nil {
			return 0, 0, err
		}
	}
	slices.Sort(times)
	return times[len(times)/2], count * len(times), nil
}

// graphs times captured launches, replaying one graph after another. Graphs with different inputs keep each other's
// data out of the caches.
func (b *bench) graphs(enqueue ...func()) (milliseconds float64, repeats int, err error) {
	var graphs []*device.Graph
	for _, e := range enqueue {
		g := b.Capture(e)
		defer g.Free()
		graphs = append(graphs, g)
	}
	return b.time(func(i int) { b.Replay(graphs[i%len(graphs)]) })
}

// add completes a row from the work that it did.
func (b *bench) add(row Row, w work) {
	peak := b.report.Peak
	if !w.fused {
		peak /= 2
	}
	if i := b.Info(); w.tensor {
		peak = float64(i.Multiprocessors) * tensorRate(i.Capability) * float64(i.Clock) * 1e3 * 2 / 1e9
	}
	row.Bandwidth, row.Rate = w.bytes/row.Milliseconds/1e6, w.flops/row.Milliseconds/1e6
	if w.bytes > 0 {
		row.Bound, row.By = w.bytes/b.report.Copy/1e6, "memory"
	}
	if peak > 0 && w.flops/peak/1e6 > row.Bound {
		row.Bound, row.By = w.flops/peak/1e6, "arithmetic"
	}
	row.Share = row.Bound / row.Milliseconds
	b.report.Rows = append(b.report.Rows, row)
	if b.done != nil {
		b.done(row)
	}
}

// Table returns the rows of a report as a table, header first.
func (r *Report) Table() [][]string {
	table := [][]string{{"what", "sizes", "ms", "GB/s", "GFLOP/s", "bound, ms", "share", "CPU, ms"}}
	number := func(format string, x float64) string {
		if x == 0 {
			return ""
		}
		return fmt.Sprintf(format, x)
	}
	for _, row := range r.Rows {
		table = append(table, []string{row.What, row.Sizes, fmt.Sprintf("%.3f", row.Milliseconds), number("%.0f", row.Bandwidth), number("%.0f", row.Rate),
			strings.TrimSpace(number("%.2g", row.Bound) + " " + row.By), number("%.0f %%", 100*row.Share), number("%.1f", row.CPU)})
	}
	return table
}
