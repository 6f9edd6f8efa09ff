package accelerator

import (
	"github.com/dsp-go/dsp/cuda/device"
	"github.com/dsp-go/dsp/cuda/resident"
	"github.com/dsp-go/dsp/oracles"
	"github.com/dsp-go/dsp/structured"
	"github.com/dsp-go/dsp/structured/machine/vec"
	"github.com/dsp-go/dsp/train/engine"
)

// hostEvaluation evaluates an objective on one batch with the host's oracle.
type hostEvaluation struct {
	o      *hostOracle
	batch  *resident.Batch
	host   structured.Batch // the same batch on the host
	θ, v   exchange         // potentials from the scorer, and the cotangent to pull back
	scores structured.Potentials
	shards []hostShard
	used   int  // shards of the current batch
	finite bool // the potentials are finite and there are answers

	asked, wantMax bool // of the last answers

	f struct { // losses
		host   []float64
		device device.Array[float64] // [Chains]; allocated by losses
	}
}

// shardExamples is the number of examples in a shard; cores work on one shard at a time.
const shardExamples = 4

// hostShard is a range of consecutive examples of a batch.
type hostShard struct {
	first          int                   // first example, in the batch
	θ              structured.Potentials // view of the potentials, with ℓ added
	answer, before oracles.Answer
	v              structured.Marginals // c_i(u_i − r_i)
	gold, value    []float64
	y              []int32
	sums           engine.Sums
}

func (o *hostOracle) newEvaluation(b *resident.Batch) evaluation {
	return &hostEvaluation{o: o, batch: b, θ: newExchange(o.data.Device, o.form, b), v: newExchange(o.data.Device, o.form, b)}
}

// Free implements evaluation.
func (l *hostEvaluation) Free() {
	device.Free(l.o.data.Device, l.θ.all)
	device.Free(l.o.data.Device, l.v.all)
	device.Free(l.o.data.Device, l.f.device)
}

func (l *hostEvaluation) captured() bool { return false }

// ReserveChange implements evaluation.
func (l *hostEvaluation) ReserveChange() {}

// score computes the batch's potentials at w, downloads them, and applies constraints and loss. If they are not finite, or the device
// has failed, there are no shards.
func (l *hostEvaluation) score(w device.Array[float32]) {
	o := l.o
	o.scorer.Score(w, l.batch, l.θ.parts)
	l.host.Reset(o.Data, l.batch.Chosen())
	l.θ.download(o.data.Device, &l.host, o.form, &l.scores)
	l.used = 0
	if l.finite = o.data.Device.Err() == nil; !l.finite {
		return
	}
	if l.finite = l.scores.Finite(); !l.finite {
		o.found(&l.host, &l.scores)
		return
	}
	if o.Constraints != nil {
		o.Constraints.Apply(&l.scores)
	}
	l.used = device.CeilDiv(l.host.Len(), shardExamples)
	for len(l.shards) < l.used {
		l.shards = append(l.shards, hostShard{})
	}
	l.each(func(s *hostShard, _ oracles.Maximiser) {
		for b := range s.θ.Len() {
			gold := l.host.GoldOf(s.first + b)
			if o.Loss != engine.CRF {
				o.task.Augment(&s.θ, b, gold)
			}
			s.gold[b] = s.θ.Score(b, gold.Output)
		}
	}, true)
}

// each calls work for every shard, on all cores; with cut it creates the shards first.
func (l *hostEvaluation) each(work func(s *hostShard, oracle oracles.Maximiser), cut bool) {
	l.o.parallel(l.used, func(k int, oracle oracles.Maximiser) {
		s := &l.shards[k]
		if cut {
			s.first = k * shardExamples
			rangeOf(&l.scores, s.first, min(s.first+shardExamples, l.host.Len()), &s.θ)
			s.gold = vec.Grow(s.gold, s.θ.Len())
		}
		work(s, oracle)
	})
}

// Ask implements evaluation.
func (l *hostEvaluation) Ask(w device.Array[float32], s oracles.Smoothing, wantMax bool) {
	l.asked, l.wantMax = true, wantMax && !l.o.Loss.Smooth()
	s = smoothingOf(l.o.Loss, s)
	if err := s.Check(l.o.workers[0], l.o.kind.Name()); err != nil {
		l.o.bad, l.used, l.finite = err, 0, false
		return
	}
	l.score(w)
	l.each(func(sh *hostShard, oracle oracles.Maximiser) { s.Answer(oracle, &sh.θ, &sh.answer, l.wantMax) }, false)
}

// Value implements evaluation.
func (l *hostEvaluation) Value(w device.Array[float32]) {
	l.score(w)
	l.each(func(s *hostShard, oracle oracles.Maximiser) {
		s.sums, s.value = engine.Sums{}, vec.Grow(s.value, s.θ.Len())
		if l.o.Loss.Smooth() {
			oracle.(oracles.Summer).Exp(&s.θ, 1, s.value, nil)
		} else {
			s.y = vec.Grow(s.y, s.θ.OutputSize())
			oracles.MaxBound(oracle, &s.θ, s.y, s.value)
		}
		for b, value := range s.value {
			s.sums.Primal += l.weight(s, b) * engine.LossAt(value, s.gold[b])
		}
		s.sums.Smoothed = s.sums.Primal
	}, false)
	l.tally()
}

// weight returns c_i of example b of a shard.
func (l *hostEvaluation) weight(s *hostShard, b int) float64 { return l.o.Data.Weight(l.example(s, b)) }

// example returns the index in the data of example b of a shard.
func (l *hostEvaluation) example(s *hostShard, b int) int { return l.host.Examples[s.first+b] }

// Recall implements evaluation.
func (l *hostEvaluation) Recall(w device.Array[float32], memory engine.RemoteMemory) {
	l.score(w)
	l.asked = false
	m := hostMemoryOf(memory)
	l.each(func(s *hostShard, _ oracles.Maximiser) {
		s.answer.U.Like(&s.θ)
		for b := range s.θ.Len() {
			s.answer.U.Set(b, &m.Marginals, l.example(s, b))
		}
	}, false)
}

// Difference implements evaluation.
func (l *hostEvaluation) Difference(memory engine.RemoteMemory) {
	m := hostMemoryOf(memory)
	l.each(func(s *hostShard, _ oracles.Maximiser) {
		s.sums = engine.Sums{}
		if l.asked {
			l.sumAnswers(s)
		}
		s.v.Copy(&s.answer.U)
		for b := range s.θ.Len() {
			gold, c := l.host.GoldOf(s.first+b), l.weight(s, b)
			if m == nil {
				s.v.Add(b, gold.Output, -1)
			} else {
				s.v.AddScaled(b, -1, &m.Marginals, l.example(s, b))
			}
			s.sums.Linear += c * s.v.Dot(b, &s.θ)
			if l.o.Loss != engine.CRF {
				s.sums.Loss += c * l.o.task.Dot(&s.v, b, gold)
			}
			if m == nil || !s.v.Zero(b) {
				s.sums.Moved++
			}
		}
		l.weigh(s)
	}, false)
	l.tally()
	l.send()
}

// sumAnswers adds to a shard's sums those that do not depend on the references r_i.
func (l *hostEvaluation) sumAnswers(s *hostShard) {
	a := &s.answer
	for b, gold := range s.gold {
		c := l.weight(s, b)
		smoothed := c * engine.LossAt(a.Value[b], gold)
		s.sums.Smoothed += smoothed
		switch {
		case l.o.Loss.Smooth():
			s.sums.Primal += smoothed
			s.sums.Entropy += c * a.EntropyOf(b, &s.θ)
		case l.wantMax:
			s.sums.Primal += c * engine.LossAt(a.Max[b], gold)
		}
		if a.Exact[b] {
			s.sums.Exact++
		}
	}
}

func (l *hostEvaluation) smooth() bool { return l.o.Loss.Smooth() }

// losses implements evaluation.
func (l *hostEvaluation) losses() (value, gold device.Array[float64]) {
	l.f.host = l.f.host[:0]
	for k := range l.used {
		s := &l.shards[k]
		for b, gold := range s.gold {
			l.f.host = append(l.f.host, engine.LossAt(s.answer.Value[b], gold))
		}
	}
	d := l.o.data.Device
	value = device.Grow(d, &l.f.device, l.batch.Chains, "losses")
	device.Upload(d, value, l.f.host)
	return value, gold
}

// weigh multiplies each example's v by its weight.
func (l *hostEvaluation) weigh(s *hostShard) {
	for b := range s.θ.Len() {
		if c := l.weight(s, b); c != 1 {
			s.v.Scale(b, float32(c))
		}
	}
}

// Change implements evaluation.
func (l *hostEvaluation) Change(from, to device.Array[float32], s oracles.Smoothing) {
	l.Ask(from, s, false)
	l.each(func(s *hostShard, _ oracles.Maximiser) { s.answer, s.before = s.before, s.answer }, false)
	if l.finite {
		l.Ask(to, s, false)
	}
	l.each(func(s *hostShard, _ oracles.Maximiser) {
		s.v.Copy(&s.answer.U)
		for b := range s.θ.Len() {
			s.v.AddScaled(b, -1, &s.before.U, b)
		}
		l.weigh(s)
	}, false)
	l.send()
}

// tally adds the shards' sums to the objective's, in the order of the shards.
func (l *hostEvaluation) tally() {
	for k := range l.used {
		l.o.add(l.shards[k].sums)
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
		s := &l.shards[k]
		for p := range s.v.Parts {
			if from := &s.v.Parts[p]; from.Rows != structured.Tied {
				lo := l.scores.Parts[p].Offsets[s.first] * from.Width
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
			v := &l.shards[j].v
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

// Pullback implements evaluation.
func (l *hostEvaluation) Pullback(grad device.Array[float32]) { l.o.scorer.Pullback(l.v.parts, grad) }

// Remember implements evaluation.
func (l *hostEvaluation) Remember(memory engine.RemoteMemory, γ float32) {
	m := hostMemoryOf(memory)
	l.each(func(s *hostShard, _ oracles.Maximiser) {
		u := &s.answer.U
		for b := range s.θ.Len() {
			i := l.example(s, b)
			if γ == 1 {
				m.Set(i, u, b)
				continue
			}
			for p := range m.Parts {
				vec.Axpby(γ, u.Parts[p].Of(b), 1-γ, m.Parts[p].Of(i))
			}
		}
	}, false)
}

// RememberBy implements evaluation.
func (l *hostEvaluation) RememberBy(memory engine.RemoteMemory, γ device.Array[float32]) {
	var by [1]float32
	device.Download(l.o.data.Device, by[:], γ)
	l.Remember(memory, by[0])
}
