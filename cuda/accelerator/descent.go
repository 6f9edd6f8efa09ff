package accelerator

import (
	"context"

	"github.com/dsp-go/dsp/cuda/device"
	"github.com/dsp-go/dsp/nets"
	"github.com/dsp-go/dsp/train/engine"
)

// descent is the state of an open engine.ScaledDescent, whose iterate and mean are those of vectors. Arrays keep their
// addresses, which captured graphs use, for good.
type descent struct {
	*vectors
	β       float64
	squares device.Array[float32]             // means of g²; allocated when a rule needs them, like moments
	moments device.Array[float32]             // means of g
	unbias  map[float64]device.Array[float32] // engine.Unbias by β
	tables  device.Array[int64]               // [T][4] as kernels/training/descent.cu has them
	rows    device.Array[int32]               // [R] rows that the batch reads
	marks   device.Array[int32]               // [R] step that last read the row
	numbers device.Array[float64]             // [8] of the step
	common  device.Array[float32]             // [2] V and H of proximal steps
	scale   device.Array[float64]             // [1] of D in a clipped step
	γ       device.Array[float64]             // [1]
	wrong   device.Array[float64]             // [B] scratch of prox_mix
	batch   batchLosses                       // of a batch that was evaluated in parts

	known struct{ v, m bool } // whether squares and moments have content
}

// batchLosses are the losses of a batch of up to B examples.
type batchLosses struct {
	value, gold device.Array[float64] // [B] f_i is their difference; without gold, value holds them
	examples    device.Array[int32]   // [B] −1 beyond the last one
	weight      device.Array[float32] // [B] c_i
}

// moveKey identifies the launches of a step.
type moveKey struct {
	rule  engine.Rule
	clips bool
	β, β1 float64 // decays of the means of g² and g, where the rule corrects them
}

func newDescent(v *vectors, tables []nets.RowTable) *descent {
	d := v.d
	x := &descent{vectors: v, unbias: map[float64]device.Array[float32]{}}
	var numbers []int64
	rows := 0
	for _, t := range tables {
		numbers = append(numbers, int64(t.Offset), int64(t.Offset+t.Rows*t.Cols), int64(max(1, t.Cols)), int64(rows))
		rows += t.Rows
	}
	x.tables = device.NewFrom(d, numbers, "the row tables")
	x.rows = device.New[int32](d, rows, "rows of a batch")
	x.marks = device.New[int32](d, rows, "steps of rows")
	x.numbers = device.New[float64](d, 8, "a step")
	x.common = device.New[float32](d, 2, "a step")
	x.scale = device.New[float64](d, 1, "a step")
	x.γ = device.New[float64](d, 1, "a step")
	return x
}

func (x *descent) free() {
	d := x.d
	device.Free(d, x.squares)
	device.Free(d, x.moments)
	device.Free(d, x.common)
	device.Free(d, x.tables)
	for _, a := range []device.Array[int32]{x.rows, x.marks} {
		device.Free(d, a)
	}
	for _, a := range []device.Array[float64]{x.numbers, x.scale, x.γ, x.wrong, x.batch.value} {
		device.Free(d, a)
	}
	device.Free(d, x.batch.examples)
	device.Free(d, x.batch.weight)
	for _, a := range x.unbias {
		device.Free(d, a)
	}
}

// open copies the state to the device.
func (x *descent) open(s engine.DescentState, β float64) {
	x.β, x.drifts = β, false
	device.Upload(x.d, x.w, s.W)
	if len(s.Mean) > 0 {
		device.Upload(x.d, device.Grow(x.d, &x.mean, x.dim, "the mean iterate"), s.Mean)
	}
	x.known.v, x.known.m = len(s.V) > 0, len(s.M) > 0
	if x.known.v {
		device.Upload(x.d, device.Grow(x.d, &x.squares, x.dim, "mean squares"), s.V)
	}
	if x.known.m {
		device.Upload(x.d, device.Grow(x.d, &x.moments, x.dim, "mean gradients"), s.M)
	}
	device.Zero(x.d, x.common)
	device.Upload(x.d, x.common, s.Common)
	device.Zero(x.d, x.marks)
}

// prepare allocates what a step on a batch of so many examples needs, and uploads its numbers and rows. losses is how
// many losses the step reads, 0 for the hinge.
func (x *descent) prepare(m engine.DeviceMove, examples, losses int) moveKey {
	key := moveKey{rule: m.Rule, clips: m.Clip > 0}
	if m.Rule == engine.ProxRule || m.Rule == engine.AdamRule {
		x.require(&x.squares, &x.known.v, "mean squares")
		key.β = x.β
		x.table(x.β)
	}
	if m.Rule == engine.ProxRule && losses > 0 {
		device.Grow(x.d, &x.wrong, losses, "the losses of a batch")
	}
	if m.Rule != engine.ProxRule {
		x.require(&x.moments, &x.known.m, "mean gradients")
	}
	if m.Rule == engine.AdamRule {
		key.β1 = m.Beta
		x.table(m.Beta)
	}
	device.Upload(x.d, x.numbers, []float64{1 / float64(examples), m.Eta, m.Lambda, m.Beta, m.Clip, float64(m.Steps),
		float64(len(m.Rows)), float64(m.Reads)})
	device.Upload(x.d, x.rows, m.Rows)
	return key
}

// require makes sure that a vector is there; it begins as zeros.
func (x *descent) require(v *device.Array[float32], known *bool, what string) {
	if *known {
		return
	}
	device.Zero(x.d, device.Grow(x.d, v, x.dim, what))
	*known = true
}

// table returns engine.Unbias(β) on the device.
func (x *descent) table(β float64) device.Array[float32] {
	by, ok := x.unbias[β]
	if !ok {
		by = device.NewFrom(x.d, engine.Unbias(β), "a mean's corrections")
		x.unbias[β] = by
	}
	return by
}

// sumBytes is the shared memory that a block needs to add up doubles.
const sumBytes = vectorThreads / 32 * 8

// move takes the prepared step along D, after the question about a batch, whose sums and losses these are; nil for the
// hinge. It may be part of a captured graph.
func (x *descent) move(key moveKey, sums device.Array[float64], losses func() batchLosses) {
	d, block := x.d, device.Dim{X: vectorThreads}
	if n := x.rows.Len(); n > 0 && key.rule == engine.ProxRule {
		d.Launch("mark_rows", device.Dim{X: min(64, device.CeilDiv(n, vectorThreads))}, block, 0, x.rows, x.numbers, x.marks)
	}
	scale := x.numbers.Slice(0, 1)
	if key.clips || key.rule == engine.ProxRule {
		x.multiply(device.Array[float32]{}, device.Array[float32]{})
	}
	if key.clips {
		scale = x.scale
		d.Launch("clip", device.Dim{X: 1}, block, sumBytes, x.parts, int32(x.partBlocks()), x.numbers, scale)
	}
	tables, n := int32(x.tables.Len()/4), int64(x.dim)
	switch squares := x.unbias[key.β]; key.rule {
	case engine.ProxRule:
		d.Launch("observe_common", device.Dim{X: 1}, block, sumBytes, x.parts, int32(x.partBlocks()), x.numbers, scale,
			squares, int32(squares.Len()), key.β, x.common)
		d.Launch("observe_squares", device.Dim{X: x.partBlocks()}, block, sumBytes, x.w, x.grad, x.squares, x.numbers, scale,
			squares, int32(squares.Len()), x.common, float32(key.β), x.parts, n)
		x.findDual(sums, losses)
		d.Launch("prox_step", x.sweep(), block, 0, x.w, x.grad, x.squares, x.numbers, scale, x.γ,
			x.tables, tables, x.marks, squares, int32(squares.Len()), x.common, n)
	case engine.AdamRule:
		means := x.unbias[key.β1]
		d.Launch("adam_step", x.sweep(), block, 0, x.w, x.grad, x.squares, x.moments, x.numbers, scale,
			squares, int32(squares.Len()), means, int32(means.Len()), float32(key.β), n)
	default:
		d.Launch("momentum_step", x.sweep(), block, 0, x.w, x.grad, x.moments, x.numbers, scale,
			device.Flag(key.rule == engine.NesterovRule), n)
	}
}

// findDual sets γ, after observe_squares.
func (x *descent) findDual(sums device.Array[float64], losses func() batchLosses) {
	grid, block, blocks := device.Dim{X: 1}, device.Dim{X: vectorThreads}, int32(x.partBlocks())
	if losses == nil {
		x.d.Launch("prox_dual", grid, block, sumBytes, x.parts, blocks, sums, x.numbers, x.γ)
		return
	}
	l := losses()
	n := l.examples.Len()
	threads := max(vectorThreads, min(1024, device.CeilDiv(n, 32)*32))
	x.d.Launch("prox_mix", grid, device.Dim{X: threads}, threads/32*8, x.parts, blocks, l.value, l.gold, l.examples,
		l.weight, int32(n), x.numbers,
		x.wrong.Slice(0, n), x.γ)
}

// OpenDescent implements engine.Descender.
func (a *Accelerator) OpenDescent(s engine.DescentState, tables []nets.RowTable, β float64) {
	if a.descent == nil {
		a.descent = newDescent(a.vectors, tables)
	}
	a.product.known = false
	a.descent.open(s, β)
}

// Descend implements engine.Descender. The second step with the same rule and smoothing is captured; later ones replay
// it.
func (a *Accelerator) Descend(ctx context.Context, q engine.Question, m engine.DeviceMove) error {
	l, err := a.slotFor(ctx, q.Examples, q.Dropout)
	if err != nil {
		return err
	}
	read, losses := 0, (func() batchLosses)(nil)
	if l.smooth() {
		read, losses = l.batch.Chains, l.batchLosses
	}
	key := a.descent.prepare(m, len(q.Examples), read)
	l.captureOrReplay(a.shared, stepKey{s: q.Smoothing, open: true, move: key}, func() {
		a.askAndPullBack(l, a.vectors.w, q.Smoothing, nil)
		a.descent.move(key, a.oracle.sums(), losses)
	})
	return a.d.Err()
}

// batchLosses returns the losses of the last question about the slot's batch.
func (l *slot) batchLosses() batchLosses {
	value, gold := l.losses()
	return batchLosses{value, gold, l.batch.Examples, l.batch.Weight}
}

// IncludeIterate implements engine.Descender.
func (a *Accelerator) IncludeIterate(share float64) {
	a.vectors.walk(engine.Stride{Rho: 1, Share: share}, device.Array[float64]{})
}

// FinishDescent implements engine.Descender.
func (a *Accelerator) FinishDescent(s engine.DescentState) error {
	x := a.descent
	device.Download(a.d, s.W, x.w)
	device.Download(a.d, s.Mean, x.mean)
	device.Download(a.d, s.V, x.squares)
	device.Download(a.d, s.M, x.moments)
	device.Download(a.d, s.Common, x.common)
	return a.done()
}
