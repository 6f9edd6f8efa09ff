package models

import "github.com/dsp-go/dsp/models/predictions"

// predictionCodec holds predictions one after the other, bit by bit. The same methods write them and, once reads is
// set, read them again. encoding/gob by itself would lose the sign of a zero, and a pointer to it.
type predictionCodec struct {
	Ints   []int
	Reals  []float64
	Floats []float32

	reads bool
}

func (t *predictionCodec) prediction(p *predictions.Prediction) {
	t.output(&p.Output)
	each(t, &p.NBest, t.output)
	t.real(&p.Entropy)
	for _, x := range []*[]float32{&p.Marginals, &p.Tags, &p.Margins, &p.Relations} {
		each(t, x, t.float)
	}
	each(t, &p.Samples, t.labels)
	each(t, &p.Spans, t.span)
	var bound []float64
	if p.Bound != nil {
		bound = []float64{*p.Bound}
	}
	if each(t, &bound, t.real); bound != nil {
		p.Bound = &bound[0]
	}
}

func (t *predictionCodec) output(o *predictions.Output) {
	t.labels(&o.Labels)
	t.real(&o.Score)
	t.real(&o.Probability)
}

func (t *predictionCodec) span(s *predictions.Span) {
	pass(t.reads, &t.Ints, &s.First)
	pass(t.reads, &t.Ints, &s.Last)
	t.label(&s.Type)
	t.real(&s.Probability)
}

func (t *predictionCodec) labels(y *[]int32) { each(t, y, t.label) }
func (t *predictionCodec) real(x *float64)   { pass(t.reads, &t.Reals, x) }
func (t *predictionCodec) float(x *float32)  { pass(t.reads, &t.Floats, x) }

func (t *predictionCodec) label(l *int32) {
	x := int(*l)
	pass(t.reads, &t.Ints, &x)
	*l = int32(x)
}

// each passes a list, which may be nil.
func each[E any](t *predictionCodec, list *[]E, one func(*E)) {
	n := len(*list)
	if *list == nil {
		n = -1
	}
	pass(t.reads, &t.Ints, &n)
	if t.reads && n >= 0 {
		*list = make([]E, n)
	}
	for k := range *list {
		one(&(*list)[k])
	}
}

// pass writes a number at the end of a list, or reads the first one.
func pass[E any](reads bool, to *[]E, x *E) {
	if !reads {
		*to = append(*to, *x)
		return
	}
	*x, *to = (*to)[0], (*to)[1:]
}
