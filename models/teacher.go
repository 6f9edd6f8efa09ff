package models

import (
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/dsp-go/dsp/models/config"
	"github.com/dsp-go/dsp/models/data/formats"
	"github.com/dsp-go/dsp/models/data/text"
	"github.com/dsp-go/dsp/models/inputs"
	"github.com/dsp-go/dsp/models/settings"
	"github.com/dsp-go/dsp/oracles"
	"github.com/dsp-go/dsp/oracles/registry"
	"github.com/dsp-go/dsp/structured"
	"github.com/dsp-go/dsp/structured/sys/host"
	"github.com/dsp-go/dsp/structured/sys/packed"
	"github.com/dsp-go/dsp/structured/sys/vec"
	"github.com/dsp-go/dsp/train/ranks"
)

// teacher is a trained model whose marginals are the targets of a training (--teacher), and the training data as it
// reads them. Of several processes that train together each asks it about some examples.
type teacher struct {
	*Model
	data   *structured.Dataset // of all examples, or of those of the batches
	before int                 // the number of its first example in the training data

	share   structured.Share // this process asks about its examples, and its peers about the others
	batches [][]int          // with all of them, as one process would ask about them: answers have the same bits
}

// learnFrom makes a training one that learns the marginals of a model, and refuses one that cannot.
func (m *Model) learnFrom(c *config.Config) error {
	structure := m.Net.Form().Structure
	if _, err := oracles.ExactSums(registry.Of(structure).Oracle(), "--teacher", structure.Name()); err != nil {
		return err
	}
	if _, pack := packed.Is(c.Train); pack {
		return structured.BadInput("--teacher %s: a pack has numbers in place of the text that the teacher reads; train on the data that %s was made from", c.Teacher, c.Train)
	}
	if settings.Undecided(c.Task) {
		c.Task = m.Config.Task
	}
	if c.Task != m.Config.Task {
		return structured.BadInput("--teacher %s: its --task is %s, and that of this run is %s", c.Teacher, m.Config.Task, c.Task)
	}
	if c.Structure != m.Config.Structure {
		return structured.BadInput("--teacher %s: its --structure is %s, and that of this run is %s", c.Teacher, m.Config.Structure, c.Structure)
	}
	if theirs, ours := max(1, m.Config.Order), max(1, c.Order); theirs != ours {
		return structured.BadInput("--teacher %s: its --order is %d, and that of this run is %d", c.Teacher, theirs, ours)
	}
	if c.MaxLength == 0 { // of segments
		c.MaxLength = m.Config.MaxLength
	}
	if c.MaxLength != m.Config.MaxLength {
		return structured.BadInput("--teacher %s: its segments have --max-length %d, and those of this run %d; leave out --max-length", c.Teacher, m.Config.MaxLength, c.MaxLength)
	}
	if settings.Undecided(c.Loss) {
		c.Loss = "crf"
	}
	return nil
}

// take chooses the examples that this process asks the teacher about: its share, or where there is none its part of the
// batches.
func (t *teacher) take(raw *Raw, peers structured.Peers) {
	d := raw.Train
	all := inputs.Batches(d)
	if raw.own != nil {
		t.share = raw.share
		t.batches = slices.DeleteFunc(all, func(batch []int) bool {
			return batch[0] >= t.share.Last || batch[len(batch)-1] < t.share.First
		})
		return
	}
	lo, hi := ranks.Share(peers, len(all))
	begin := func(k int) int {
		if k == len(all) {
			return d.Len()
		}
		return all[k][0]
	}
	t.share, t.batches = structured.Share{Peers: peers, First: begin(lo), Last: begin(hi)}, all[lo:hi]
}

// teach reads the training data as the teacher reads them; if the processes of a group read ranges of the files, those
// that this one asks about.
func (raw *Raw) teach(c *config.Config, m *Model, beside []Beside, read *sharedText, peers structured.Peers) (
	err error) {
	if err := sameNames(raw.Train.Alphabet, m.Labels); err != nil {
		return structured.BadInput("--teacher %s: %w", c.Teacher, err)
	}
	t := &teacher{Model: m}
	t.take(raw, peers)
	request := Request{Path: c.Train, Format: c.Format, Columns: c.Columns, Comments: c.Comments, Label: c.Label, Threads: c.Threads, Beside: joined(beside), Remarks: RemarksFor(c.Bad)}
	if read != nil {
		return t.readRanges(c, request, raw, read)
	}
	if c.Format == formats.Builtin {
		copied := *raw.Train
		if t.data = &copied; m.Inputs.Encoder == nil {
			err = m.MakeInputs(t.data, c.Threads)
		}
		if err == nil {
			err = m.standardise(t.data)
		}
	} else {
		t.data, err = m.ReadData(request)
	}
	if err == nil {
		err = m.accepts(t.data)
	}
	if err == nil && !slices.Equal(t.data.Offsets, raw.Train.Offsets) {
		err = structured.BadInput("%s: the teacher reads %d examples with %d positions in it, this run %d with %d", t.data.Name, t.data.Len(), t.data.Positions(), raw.Train.Len(), raw.Train.Positions())
	}
	if err != nil {
		return fmt.Errorf("--teacher %s: %w", c.Teacher, err)
	}
	raw.teacher = t
	return nil
}

// readRanges reads the examples of the batches.
func (t *teacher) readRanges(c *config.Config, request Request, raw *Raw, read *sharedText) error {
	s, err := t.source(request)
	known := false
	if err == nil && len(t.batches) > 0 {
		last := t.batches[len(t.batches)-1]
		t.before = t.batches[0][0]
		if t.data, err = read.examples(s, raw.Train, t.before, last[len(last)-1]+1); err == nil {
			known, err = t.fits(t.data)
		}
		if err == nil {
			err = t.checkData(t.data)
		}
	}
	someKnow, err := structured.AllGather(t.share.Peers, known, err)
	if err == nil && !slices.Contains(someKnow, true) {
		err = strange(c.Train)
	}
	if err != nil {
		return fmt.Errorf("--teacher %s: %w", c.Teacher, err)
	}
	raw.teacher = t
	return nil
}

// sameNames refuses labels that two models would not number alike.
func sameNames(a, b *structured.Alphabet) error {
	if slices.Equal(a.Names(), b.Names()) {
		return nil
	}
	return structured.BadInput("it does not number the labels as this run does: %s, and %s", structured.SomeOf(b.Names()), structured.SomeOf(a.Names()))
}

// forgetLabels makes all labels of d unknown, in a column of their own as if the file had one.
func forgetLabels(d *structured.Dataset, names *structured.Alphabet) {
	d.Alphabet, d.LabelSets = names, [][]int32{nil}
	d.Labels = make([]int32, d.Positions())
	column := make([]string, len(d.Labels))
	for t := range column {
		d.Labels[t], column[t] = -1, text.AnyLabel
	}
	d.Columns, d.ColumnNames = append(d.Columns, column), append(d.ColumnNames, text.LabelColumn)
}

// Taught reports whether the marginals of a teacher are the targets of the training.
func (d *Data) Taught() bool { return d.teacher != nil }

// TaughtHere returns the examples of which this process asks the teacher; with its peers it asks of all.
func (d *Data) TaughtHere() structured.Share { return d.teacher.share }

// Target is what a teacher says of an example, which is number At of some marginals and potentials.
type Target struct {
	At        int
	Marginals *structured.Marginals // r_i, in the student's form
	Origin    *structured.Marginals // potentials for which the marginals are r_i, or close to them; nil if there are none in this form
	Single    bool                  // r_i are those of a single output, which no potentials have
	Labels    []int32               // an output that agrees with the labels
}

// mostRaised bounds what raise adds to a potential, times the temperature.
const mostRaised = 20

// raise adds to potentials θ of a single example, at temperature μ and with marginals u, what moves the probability p
// of each known number of an output y to s·p + 1 − s if the numbers are independent: μ·log(1 + (1−s)/(s·p)).
func raise(θ *structured.Potentials, u *structured.Marginals, y []int32, s, μ float64) {
	structured.Locate(θ, y, func(part, entry int, _ int32) {
		p := float64(u.Parts[part].Values[entry])
		θ.Parts[part].Values[entry] += float32(μ * min(mostRaised, math.Log1p((1-s)/(s*p))))
	})
}

// Teach hands the targets r_i of the training of a student, in its form, to set, in the order of the examples, of which
// several processes that train together have some each (TaughtHere). With a share s of the teacher,
//
//	r_i = s·u_i + (1−s)·v_i,
//
// where u_i are the teacher's marginals, at its temperature and under the student's constraints, and v_i those given
// what the labels say: 1_{y_i} where they are known, and u_i where nothing is. It returns the mean entropy of the
// teacher's distributions, over all examples, in nats: no student has a smaller cross-entropy with s = 1.
func (d *Data) Teach(ctx context.Context, student *Model, share float64, threads int, set func(i int, t Target)) (entropy float64, err error) {
	t := d.teacher
	to := student.Net.Form()
	form, err := structured.Common(t.Net.Form(), to)
	if err != nil {
		return 0, structured.BadInput("--teacher: %w", err)
	}
	restricter, restricts := form.Structure.(structured.Restricter)
	type lesson struct {
		batch     *structured.Batch
		r, origin *structured.Marginals
		labels    []int32
		entropy   []float64
	}
	apart := slices.EqualFunc(form.Parts, to.Parts, func(a, b structured.Shape) bool { return a.Rows == b.Rows })
	type pupil struct {
		*predictor
		θ structured.Potentials // in the common form
	}
	err = host.InOrder(ctx, threads, host.Each(t.batches), func() *pupil { return &pupil{predictor: t.newPredictor()} },
		func(p *pupil, examples []int) (l lesson, err error) {
			read := make([]int, len(examples))
			for b, i := range examples {
				read[b] = i - t.before
			}
			if err := p.potentials(t.data, read); err != nil {
				return l, err
			}
			p.predictor.θ.Untie(&p.batch, form, &p.θ)
			if student.Constraints != nil {
				student.Constraints.Apply(&p.θ)
			}
			n, μ := len(examples), t.Temper()
			value, best := make([]float64, n), make([]float64, n)
			var u structured.Marginals
			summer := p.oracle.(oracles.Summer)
			summer.Exp(&p.θ, μ, value, &u)
			for b, i := range examples {
				if math.IsInf(value[b], -1) {
					return l, structured.BadInput("%s: the teacher has no output that the constraints allow", d.Train.Where(i))
				}
				l.entropy = append(l.entropy, oracles.GibbsEntropy(&u, &p.θ, b, μ, value[b]))
			}
			var origin structured.Potentials // without what labels say: numbers of −∞ would stay so in a dual method, whatever the student learns
			var before, of structured.Marginals
			if apart {
				origin.Copy(&p.θ)
				before.Copy(&u)
			}
			partial := false
			for b, i := range examples {
				if !d.Train.Partial(i) {
					continue
				}
				if partial = true; !restricts {
					return l, structured.BadInput("%s: labels are known in part, and the potentials of a %s cannot keep part of an output", d.Train.Where(i), form.Structure.Name())
				}
				restricter.Restrict(&p.θ, b, d.Train.GoldOf(i))
			}
			l.labels = make([]int32, p.θ.OutputSize())
			l.batch = &structured.Batch{} // its own, which the lesson keeps
			l.batch.Reset(d.Train, examples)
			if partial {
				p.oracle.Max(&p.θ, l.labels, best)
			}
			var v structured.Marginals
			if share < 1 {
				summer.Exp(&p.θ, μ, value, &v)
			}
			for b, i := range examples {
				if math.IsInf(best[b], -1) {
					return l, structured.BadInput("%s: the teacher has no output that agrees with the labels", d.Train.Where(i))
				}
				if gold := d.Train.Gold(i); !d.Train.Partial(i) {
					copy(l.labels[l.batch.Outputs[b]:], gold)
					if share < 1 {
						v.Scale(b, 0)
						v.Add(b, gold, 1)
					}
				}
				if share < 1 {
					u.Scale(b, float32(share))
					u.AddScaled(b, float32(1-share), &v, b)
				}
			}
			l.r = &structured.Marginals{}
			u.Tie(l.batch, to, l.r)
			if origin.Parts != nil {
				l.origin = &structured.Marginals{}
				l.origin.Resize(l.batch, to)
				l.origin.Clear()
				var one structured.Potentials
				for b, i := range examples {
					origin.View(b, &one)
					if before.View(b, &of); share < 1 {
						raise(&one, &of, d.Train.Gold(i), share, μ)
					}
					for k := range one.Parts {
						vec.Axpy(float32(1/μ), one.Parts[k].Values, l.origin.Parts[k].Of(b))
					}
				}
			}
			return l, nil
		},
		func(l lesson) error {
			for b, i := range l.batch.Examples {
				if i < t.share.First || i >= t.share.Last {
					continue
				}
				entropy += l.entropy[b]
				set(i, Target{b, l.r, l.origin, share == 0 && !d.Train.Partial(i), l.labels[l.batch.Outputs[b]:l.batch.Outputs[b+1]]})
			}
			return nil
		})
	all, err := structured.AllGather(t.share.Peers, entropy, err)
	entropy = 0
	for _, x := range all {
		entropy += x
	}
	return entropy / float64(max(1, d.Train.Len())), err
}
