package engine

import (
	"fmt"

	"github.com/dsp-go/dsp/structured"
	"github.com/dsp-go/dsp/structured/vec"
)

// Memory holds a point r_i of the marginal polytope for every example: what a method remembers instead of gradients,
// since ∇f_i at remembered marginals is J_iᵀ(r_i − 1_{y_i}). Its size is that of the potentials, not of the weights.
type Memory struct {
	structured.Marginals // example i is r_i; where a device has the content, what was fetched last

	data       *structured.Dataset
	completion *Memory      // of gold outputs that are not known, or nil
	device     RemoteMemory // has the content, or nil
}

// NewMemory returns a memory that holds the gold outputs 1_{y_i}, at which every gradient is zero; where labels are known
// in part, the objective's completion, or nothing.
func NewMemory(o *Objective) *Memory {
	m := &Memory{}
	m.Form(o)
	m.Clear()
	m.addGold(1)
	return m
}

// Form gives m the shape of a memory of o. Its content is undefined.
func (m *Memory) Form(o *Objective) {
	m.data, m.completion = o.Data, o.Completion
	m.Reshape(o.Scorer.Form(), o.Data.Len(), o.Data.Rows)
}

// addGold adds c·1_{y_i}, or what completes the labels known in part, to every r_i.
func (m *Memory) addGold(c float32) {
	for i := range m.data.Len() {
		switch {
		case !m.data.Partial(i):
			m.Add(i, m.data.Gold(i), c)
		case m.completion != nil:
			m.AddScaled(i, c, &m.completion.Marginals, i)
		}
	}
}

// ToGold moves every r_i towards the gold output: r_i ← γr_i + (1−γ)1_{y_i}.
func (m *Memory) ToGold(γ float32) {
	if γ == 1 {
		return
	}
	if m.device != nil {
		m.device.ToGold(γ)
		return
	}
	for k := range m.Parts {
		vec.Scale(γ, m.Parts[k].Values)
	}
	m.addGold(1 - γ)
}

// mostParts is more parts than any structure has.
const mostParts = 64

// Fits refuses, as bad input, a memory that Archive has restored from a file that is damaged or of other data than o's.
func (m *Memory) Fits(o *Objective) error {
	parts := o.Scorer.Form().Parts
	fits := len(m.Parts) == len(parts)
	for k := 0; fits && k < len(parts); k++ {
		rows := o.Data.Len()
		if parts[k].Rows != structured.Tied {
			offsets := o.Data.Rows(parts[k].Rows)
			rows = offsets[len(offsets)-1]
		}
		fits = len(m.Parts[k].Values) == rows*parts[k].Width
	}
	if !fits {
		return structured.BadInput("the checkpoint is damaged: what it remembers of the examples does not fit %s", o.Data.Name)
	}
	return nil
}

// Attach makes a memory that Archive has restored one of o's.
func (m *Memory) Attach(o *Objective) *Memory {
	whole := &Memory{}
	whole.Form(o)
	for k := range m.Parts {
		whole.Parts[k].Values = m.Parts[k].Values
	}
	return whole
}

// subtract takes r_i off example b of v.
func (m *Memory) subtract(i int, v *structured.Marginals, b int) {
	v.AddScaled(b, -1, &m.Marginals, i)
}

// remember moves the examples of a piece: r_i ← (1−γ)r_i + γu_i.
func (m *Memory) remember(of *finding, γ float32) {
	u := &of.Answer.U
	for b, i := range of.Batch.Examples {
		if γ == 1 {
			m.Set(i, u, b)
			continue
		}
		for k := range m.Parts {
			vec.Axpby(γ, u.Parts[k].Of(b), 1-γ, m.Parts[k].Of(i))
		}
	}
}

// ArchiveMarginals saves or restores the numbers of marginals under a name. Restored parts have no shape yet.
func ArchiveMarginals(a Archive, name string, u *structured.Marginals) {
	n := len(u.Parts)
	a.Count(name+".parts", &n)
	if a.Restores() {
		u.Parts = make([]structured.Part, min(max(0, n), mostParts)) // Fits refuses a number that is damaged
	}
	for k := range u.Parts {
		a.Floats(fmt.Sprintf("%s.%d", name, k), &u.Parts[k].Values)
	}
}
