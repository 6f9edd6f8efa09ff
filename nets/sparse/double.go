package sparse

import (
	"math"

	"github.com/dsp-go/dsp/nets"
	"github.com/dsp-go/dsp/nets/kernels"
	"github.com/dsp-go/dsp/structured"
	"github.com/dsp-go/dsp/structured/sys/vec"
)

// NewPreciseWorker implements nets.PreciseScorer.
func (s *Linear) NewPreciseWorker() nets.PreciseWorker { return &doubleWorker{s: s} }

// doubleWorker sums in float64.
type doubleWorker struct {
	s     *Linear
	batch *structured.Batch // of the last score
	soft  []float32
	dense scoring[float64]
	wide  []float64 // potentials of a part before they are rounded
	kept  []float64 // what is left to fill with those of the part, in float64; nil: they are not asked for
}

func (k *doubleWorker) ScorePrecisely(w []float32, τ float32, batch *structured.Batch, θ *structured.Potentials) error {
	k.batch = batch
	θ.Resize(batch, k.s.form)
	if k.s.HasDense() {
		if err := k.dense.inputs.load(batch, k.s.dim); err != nil {
			return err
		}
	}
	for i := range k.s.parts {
		k.score(&k.s.parts[i], w, max(τ, k.s.τ), batch, &θ.Parts[i])
	}
	return nil
}

// ScoreDoubly is ScorePrecisely that also leaves the potentials in float64 in x, which has their layout. worker is one
// of NewPreciseWorker.
func (s *Linear) ScoreDoubly(worker nets.PreciseWorker, w []float32, batch *structured.Batch, θ *structured.Potentials, x *structured.Doubles) error {
	k := worker.(*doubleWorker)
	k.batch = batch
	θ.Resize(batch, s.form)
	x.Like(θ.Parts)
	if s.HasDense() {
		if err := k.dense.inputs.load(batch, s.dim); err != nil {
			return err
		}
	}
	for i := range s.parts {
		k.kept = (*x)[i]
		k.score(&s.parts[i], w, s.τ, batch, &θ.Parts[i])
		if x := (*x)[i]; len(k.kept) == len(x) { // no sums, but weights
			for j, v := range θ.Parts[i].Values {
				x[j] = float64(v)
			}
		}
		k.kept = nil
	}
	return nil
}

// Norms returns bounds on an example's inputs. For any weights w and marginals u of its parts, ‖Jᵀu‖ ≤ length, where J
// is its Jacobian; and the sums of all rows of the potentials, in float64, err by no more than 2⁻⁵³ errors max_j|w_j|
// together, if each row's largest error counts. Tied parts of an output of the given length count as often.
func (s *Linear) Norms(data *structured.Dataset, i, output int) (length, errors float64) {
	for k := range s.parts {
		p := &s.parts[k]
		if p.Rows == structured.Tied {
			length += float64(output)
			continue
		}
		rows, x := data.Rows(p.Rows), data.AttributesOf(p.Shape)
		if p.attributes == 0 {
			x = nil
		}
		for r := rows[i]; r < rows[i+1]; r++ {
			sum, terms := 0.0, 8.0
			if p.bias >= 0 {
				sum, terms = 1, terms+1
			}
			if x != nil {
				index, value := x.Row(r)
				terms += float64(len(index))
				for n := range index {
					sum += math.Abs(float64(kernels.ValueAt(value, n)))
				}
			}
			length, errors = length+sum, errors+terms*sum
		}
	}
	return length, errors
}

func (k *doubleWorker) PullbackPrecisely(v *structured.Marginals, grad []float64) error {
	k.s.ScatterDouble(v, k.batch, 0, Stripes, grad)
	return nil
}

// wideRows is how many rows of potentials are in float64 at a time, where no dense inputs add to them.
const wideRows = 256

// score is part.score with sums in float64.
func (k *doubleWorker) score(p *part, w []float32, τ float32, batch *structured.Batch, θ *structured.Part) {
	width, to := p.Width, θ.Values
	if p.bias < 0 {
		clear(to)
	} else {
		for at := 0; at < len(to); at += width {
			copy(to[at:at+width], w[p.bias:])
		}
		if τ > 0 && !p.free {
			vec.Soften(τ, to, to)
		}
	}
	x := batch.Data.AttributesOf(p.Shape)
	if θ.Offsets == nil || p.attributes == 0 {
		x = nil
	}
	if x == nil && len(p.dense) == 0 {
		return
	}
	var rows []int
	if x != nil {
		rows = batch.Data.Rows(p.Rows)
	}
	weights := w[p.rows:][:p.attributes*width]
	if len(p.dense) == 0 { // a few rows after the others, so that little memory is wide
		for _, i := range batch.Examples {
			for row := rows[i]; row < rows[i+1]; row += wideRows {
				n := min(wideRows, rows[i+1]-row) * width
				k.widen(to[:n])
				k.gather(p, weights, τ, x, row, k.wide)
				k.round(to[:n])
				to = to[n:]
			}
		}
		return
	}
	k.widen(to)
	if x != nil {
		for b, i := range batch.Examples {
			k.gather(p, weights, τ, x, rows[i], k.wide[θ.Offsets[b]*width:θ.Offsets[b+1]*width])
		}
	}
	k.dense.add(p, w, batch, θ.Offsets, k.wide, kernels.Dense.ScoreDouble)
	k.round(to)
}

// widen makes wide a copy of potentials.
func (k *doubleWorker) widen(from []float32) {
	k.wide = vec.Grow(k.wide, len(from))
	for j, x := range from {
		k.wide[j] = float64(x)
	}
}

// round writes wide to potentials.
func (k *doubleWorker) round(to []float32) {
	for j, s := range k.wide {
		to[j] = float32(s)
	}
	if k.kept != nil {
		k.kept = k.kept[copy(k.kept, k.wide):]
	}
}

// gather adds the rows of w of the attributes of an example, from row r of x on, to its sums.
func (k *doubleWorker) gather(p *part, w []float32, τ float32, x *structured.Sparse, r int, sums []float64) {
	for ; len(sums) > 0; r++ {
		index, value := x.Row(r)
		if τ > 0 {
			k.gatherSoft(sums[:p.Width], w, τ, index, value)
		} else {
			kernels.Sparse.GatherDouble(sums[:p.Width], w, index, value)
		}
		sums = sums[p.Width:]
	}
}

// gatherSoft adds rows of the soft thresholds of w. The thresholds are rounded to float32, as those of weights that are
// shown.
func (k *doubleWorker) gatherSoft(sum []float64, w []float32, τ float32, index []int32, value []float32) {
	y := len(sum)
	k.soft = vec.Grow(k.soft, y)
	for n, row := range index {
		vec.Soften(τ, w[int(row)*y:][:y], k.soft)
		x := float64(kernels.ValueAt(value, n))
		for j, s := range k.soft {
			sum[j] += x * float64(s)
		}
	}
}

// ScatterDouble is Scatter with c = 1 into sums in float64: it adds Jᵀv to the weights of stripes lo to hi-1 of to
// [Dim].
func (s *Linear) ScatterDouble(v *structured.Marginals, batch *structured.Batch, lo, hi int, to []float64) {
	s.scatterDouble(v, nil, batch, lo, hi, to)
}

// ScatterDoubly is ScatterDouble of numbers in float64 with the layout of v, for inputs that are all sparse.
func (s *Linear) ScatterDoubly(v *structured.Marginals, numbers structured.Doubles, batch *structured.Batch, lo, hi int, to []float64) {
	s.scatterDouble(v, numbers, batch, lo, hi, to)
}

func (s *Linear) scatterDouble(v *structured.Marginals, numbers structured.Doubles, batch *structured.Batch, lo, hi int, to []float64) {
	if lo >= hi {
		return
	}
	f := scatterers.Get().(*scatterer)
	defer scatterers.Put(f)
	f.lo, f.hi = lo, hi
	for b, i := range batch.Examples {
		for k := range s.parts {
			var wide []float64
			if numbers != nil {
				wide = numbers[k]
			}
			s.parts[k].scatterDouble(f, &v.Parts[k], wide, b, batch.Data, i, to)
		}
	}
	if s.HasDense() {
		s.scatterDenseDouble(f, v, batch, to)
	}
}

// scatterDouble is scatter into sums in float64, of the numbers of v or, unless it is nil, of wide in their place.
func (p *part) scatterDouble(f *scatterer, v *structured.Part, wide []float64, b int, data *structured.Dataset, i int, to []float64) {
	x, width := data.AttributesOf(p.Shape), p.Width
	if p.Rows == structured.Tied || p.attributes == 0 {
		x = nil
	}
	if x == nil && p.bias < 0 {
		return
	}
	row := 0
	if x != nil {
		row = data.Rows(p.Rows)[i]
	}
	f.row = vec.Grow(f.row, width)
	weights := to[p.rows:][:p.attributes*width]
	for r := v.Offsets[b]; r < v.Offsets[b+1]; r, row = r+1, row+1 {
		if wide != nil {
			copy(f.row, wide[r*width:][:width])
		} else {
			from := v.Values[r*width:][:width]
			if kernels.Sparse.IsZero(from) {
				continue
			}
			for j, x := range from {
				f.row[j] = float64(x)
			}
		}
		if p.bias >= 0 {
			f.addShareDouble(to[p.bias:][:width], 1)
		}
		if x == nil {
			continue
		}
		index, value := x.Row(row)
		if p.wide {
			for k, a := range index {
				f.addShareDouble(weights[int(a)*width:][:width], float64(kernels.ValueAt(value, k)))
			}
			continue
		}
		for len(index) > 0 {
			n := min(len(index), len(f.index))
			owned, x := index[:n], value
			if f.lo > 0 || f.hi < Stripes {
				owned, x = f.choose(owned, x)
			}
			kernels.Sparse.ScatterDouble(weights, f.row, owned, x)
			index = index[n:]
			if value != nil {
				value = value[n:]
			}
		}
	}
}

// addShareDouble adds x times the row to the share that these stripes own of a block of weights.
func (f *scatterer) addShareDouble(to []float64, x float64) {
	to = share(to, f.lo, f.hi)
	for j, v := range share(f.row, f.lo, f.hi) {
		to[j] += x * v
	}
}
