package accelerator

import (
	"cmp"

	"github.com/dsp-go/dsp/cuda/cudanets"
	"github.com/dsp-go/dsp/cuda/device"
	"github.com/dsp-go/dsp/cuda/resident"
	"github.com/dsp-go/dsp/oracles"
	"github.com/dsp-go/dsp/structured"
	"github.com/dsp-go/dsp/structured/sys/vec"
	"github.com/dsp-go/dsp/train/engine"
)

// hostEvaluation evaluates an objective on one batch with the host's oracle.
type hostEvaluation struct {
	o      *hostOracle
	batch  *resident.Batch
	host   structured.Batch // the same batch on the host
	θ, v   exchange         // potentials from the scorer, and the cotangent to pull back
	scores structured.Potentials
	shards []*engine.Shard
	used   int  // shards of the current batch
	finite bool // the potentials are finite and there are answers

	f struct { // losses
		host   []float64
		device device.Array[float64] // [Chains]; allocated by losses
	}
}

func (o *hostOracle) newEvaluation(b *resident.Batch) evaluation {
	return &hostEvaluation{o: o, batch: b, θ: newExchange(o.data.Device, o.form, b),
		v: newExchange(o.data.Device, o.form, b)}
}

func (l *hostEvaluation) Free() {
	device.Free(l.o.data.Device, l.θ.all)
	device.Free(l.o.data.Device, l.v.all)
	device.Free(l.o.data.Device, l.f.device)
}

func (l *hostEvaluation) captured() bool { return false }

func (l *hostEvaluation) ReserveChange() {}

// score computes the batch's potentials at w, downloads them, and applies constraints and loss. If they are not finite,
// or the device has failed, there are no shards.
func (l *hostEvaluation) score(w device.Array[float32]) {
	o := l.o
	o.scorer.Score(w, l.batch, l.θ.parts)
	l.host.Reset(o.Data, l.batch.Chosen())
	l.θ.download(o.data.Device, &l.host, o.form, &l.scores)
	l.used = 0
	if l.finite = o.data.Device.Err() == nil; !l.finite {
		return
	}
	if err := o.Constrain(&l.host, &l.scores); err != nil {
		o.bad, l.finite = cmp.Or(o.bad, err), false
		return
	}
	l.used = device.CeilDiv(l.host.Len(), engine.StepExamples)
	for len(l.shards) < l.used {
		l.shards = append(l.shards, engine.NewShard(nil))
	}
	o.parallel(l.used, func(k int, _ oracles.Maximiser) {
		sh, lo := l.shards[k], k*engine.StepExamples
		hi := min(lo+engine.StepExamples, l.host.Len())
		sh.Reset(o.Data, l.host.Examples[lo:hi])
		rangeOf(&l.scores, lo, hi, &sh.Theta)
		o.AddLoss(&sh.Batch, &sh.Theta)
	})
}

// each calls work for every shard, on all cores.
func (l *hostEvaluation) each(work func(sh *engine.Shard)) {
	l.o.parallel(l.used, func(k int, oracle oracles.Maximiser) {
		l.shards[k].Oracle = oracle
		work(l.shards[k])
	})
}

func (l *hostEvaluation) Ask(w device.Array[float32], s oracles.Smoothing, wantMax bool) {
	if err := smoothingOf(l.o.Loss, s).Check(l.o.workers[0], l.o.Kind().Name()); err != nil {
		l.o.bad, l.used, l.finite = err, 0, false
		return
	}
	l.score(w)
	l.each(func(sh *engine.Shard) { l.o.Ask(sh, s, wantMax) })
}

func (l *hostEvaluation) Value(w device.Array[float32]) {
	l.score(w)
	l.each(func(sh *engine.Shard) {
		sh.Sums.Primal = l.o.Losses(sh)
		sh.Sums.Smoothed = sh.Sums.Primal
	})
	l.tally()
}

func (l *hostEvaluation) Recall(w device.Array[float32], memory engine.DeviceMemory) {
	l.score(w)
	m := hostMemoryOf(memory)
	l.each(func(sh *engine.Shard) {
		sh.Answer.U.Like(&sh.Theta)
		for b, i := range sh.Batch.Examples {
			sh.Answer.U.Set(b, m, i)
		}
	})
}

func (l *hostEvaluation) Difference(memory engine.DeviceMemory) {
	m := hostMemoryOf(memory)
	l.each(func(sh *engine.Shard) { l.o.Difference(sh, m) })
	l.tally()
	l.send()
}

func (l *hostEvaluation) smooth() bool { return l.o.Loss.Smooth() }

func (l *hostEvaluation) losses() (value, gold device.Array[float64]) {
	l.f.host = l.f.host[:0]
	for _, sh := range l.shards[:l.used] {
		l.f.host = append(l.f.host, sh.LossesOfAnswers()...)
	}
	d := l.o.data.Device
	value = device.Grow(d, &l.f.device, l.batch.Chains, "losses")
	device.Upload(d, value, l.f.host)
	return value, gold
}

func (l *hostEvaluation) Change(from, to device.Array[float32], s oracles.Smoothing) {
	l.Ask(from, s, false)
	l.each(func(sh *engine.Shard) { sh.KeepAnswer() })
	if l.finite {
		l.Ask(to, s, false)
	}
	l.each(func(sh *engine.Shard) { l.o.DifferenceOfAnswers(sh) })
	l.send()
}

// tally adds the shards' sums to the objective's, in the order of the shards.
func (l *hostEvaluation) tally() {
	for _, sh := range l.shards[:l.used] {
		l.o.add(sh.Sums)
	}
	device.Upload(l.o.data.Device, l.o.onto, l.o.running[:])
}

// send uploads the shards' v to the device.
func (l *hostEvaluation) send() {
	o := l.o
	if !l.finite {
		device.Zero(o.data.Device, l.v.all)
		return
	}
	l.v.shape(&l.host, o.form)
	o.parallel(l.used, func(k int, _ oracles.Maximiser) {
		v := &l.shards[k].V
		for p := range v.Parts {
			if from := &v.Parts[p]; from.Rows != structured.Tied {
				lo := l.scores.Parts[p].Offsets[k*engine.StepExamples] * from.Width
				copy(l.v.host[l.v.at[p]+lo:], from.Values)
			}
		}
	})
	for p, part := range o.form.Parts {
		if part.Rows == structured.Tied {
			l.sumTied(p, l.v.host[l.v.at[p]:][:part.Width])
		}
	}
	l.v.upload(o.data.Device)
}

// sumTied sets to to the sum of the rows of a tied part of v, in the order of the examples.
func (l *hostEvaluation) sumTied(p int, to []float32) {
	const run = 1024
	l.o.parallel(device.CeilDiv(len(to), run), func(k int, _ oracles.Maximiser) {
		lo, hi := k*run, min((k+1)*run, len(to))
		var total [run]float64
		for j := range l.used {
			v := &l.shards[j].V
			for b := range v.Len() {
				for i, x := range v.Parts[p].Of(b)[lo:hi] {
					total[i] += float64(x)
				}
			}
		}
		for i := range hi - lo {
			to[lo+i] = float32(total[i])
		}
	})
}

func (l *hostEvaluation) Pullback(grad device.Array[float32]) { l.o.scorer.Pullback(l.v.parts, grad) }

func (l *hostEvaluation) Remember(memory engine.DeviceMemory, γ float32) {
	m := hostMemoryOf(memory)
	l.each(func(sh *engine.Shard) {
		u := &sh.Answer.U
		for b, i := range sh.Batch.Examples {
			if γ == 1 {
				m.Set(i, u, b)
				continue
			}
			for p := range m.Parts {
				vec.Axpby(γ, u.Parts[p].Of(b), 1-γ, m.Parts[p].Of(i))
			}
		}
	})
}

func (l *hostEvaluation) RememberBy(memory engine.DeviceMemory, γ device.Array[float32]) {
	var by [1]float32
	device.Download(l.o.data.Device, by[:], γ)
	l.Remember(memory, by[0])
}

// exchange holds the potentials of batches of one capacity, or a cotangent to pull back, on the device and on the host.
// All parts are in one array, so that one copy moves them. Tied parts come first; padding at the end is not copied.
type exchange struct {
	all   device.Array[float32]
	host  []float32
	parts cudanets.Parts // slices of the device array
	at    []int          // start of each part
	used  int            // length of host that the batch uses
}

// partAlignment is the alignment of parts, counted in float32; it is that of arrays.
const partAlignment = device.Alignment / 4

func newExchange(d *device.Device, form structured.Form, b *resident.Batch) exchange {
	x := exchange{parts: make(cudanets.Parts, len(form.Parts)), at: make([]int, len(form.Parts))}
	size := 0
	place := func(tied bool) {
		for k, part := range form.Parts {
			if (part.Rows == structured.Tied) == tied {
				x.at[k] = size
				size += device.CeilDiv(b.RowsOf(part.Rows)*part.Width, partAlignment) * partAlignment
			}
		}
	}
	place(true)
	place(false)
	x.all, x.host = device.New[float32](d, size, "potentials"), make([]float32, size)
	for k, part := range form.Parts {
		x.parts[k] = x.all.Slice(x.at[k], x.at[k]+b.RowsOf(part.Rows)*part.Width)
	}
	return x
}

// numbersOf returns the size of a part for a batch, and the offsets of its examples' rows; nil if they share one row.
func numbersOf(batch *structured.Batch, part structured.Shape) (n int, offsets []int) {
	if part.Rows == structured.Tied {
		return part.Width, nil
	}
	offsets = batch.Rows(part.Rows)
	return offsets[len(offsets)-1] * part.Width, offsets
}

// shape sets used for a batch, and zeroes the padding on the host.
func (x *exchange) shape(batch *structured.Batch, form structured.Form) {
	x.used = 0
	for k, part := range form.Parts {
		n, _ := numbersOf(batch, part)
		clear(x.host[x.at[k]+n : x.at[k]+x.parts[k].Len()])
		x.used = max(x.used, x.at[k]+n)
	}
}

// download copies the batch's potentials to the host and makes θ a view of them.
func (x *exchange) download(d *device.Device, batch *structured.Batch, form structured.Form, θ *structured.Potentials) {
	x.shape(batch, form)
	device.Download(d, x.host[:x.used], x.all)
	θ.Structure, θ.Outputs = form.Structure, batch.Outputs
	θ.Annotate(batch, form)
	θ.Parts = append(θ.Parts[:0], make([]structured.Part, len(form.Parts))...)
	for k, part := range form.Parts {
		n, offsets := numbersOf(batch, part)
		θ.Parts[k] = structured.Part{Shape: part, Offsets: offsets, Values: x.host[x.at[k]:][:n:n]}
	}
}

// upload copies the host's part of the batch to the device, and zeroes the rest there.
func (x *exchange) upload(d *device.Device) {
	device.Upload(d, x.all, x.host[:x.used])
	device.Zero(d, x.all.Slice(x.used, x.all.Len()))
}

// rangeOf makes some a view of examples lo to hi-1 of θ.
func rangeOf(θ *structured.Potentials, lo, hi int, some *structured.Potentials) {
	some.Structure = θ.Structure
	some.Outputs = between(some.Outputs, θ.Outputs, lo, hi)
	some.Gold, some.Graphs = some.Gold[:0], some.Graphs[:0]
	if len(θ.Gold) > 0 {
		some.Gold = append(some.Gold, θ.Gold[lo:hi]...)
	}
	if len(θ.Graphs) > 0 {
		some.Graphs = append(some.Graphs, θ.Graphs[lo:hi]...)
	}
	if len(some.Parts) != len(θ.Parts) {
		some.Parts = make([]structured.Part, len(θ.Parts))
	}
	for k := range θ.Parts {
		from, to := &θ.Parts[k], &some.Parts[k]
		to.Shape, to.Values = from.Shape, from.Values
		if from.Offsets != nil {
			first, end := from.Offsets[lo]*from.Width, from.Offsets[hi]*from.Width
			to.Offsets, to.Values = between(to.Offsets, from.Offsets, lo, hi), from.Values[first:end:end]
		}
	}
}

// between returns offsets lo to hi, counted from offset lo.
func between(to, offsets []int, lo, hi int) []int {
	to = to[:0]
	for _, at := range offsets[lo : hi+1] {
		to = append(to, at-offsets[lo])
	}
	return to
}
