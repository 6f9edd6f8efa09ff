package engine

import (
	"fmt"

	"github.com/dsp-go/dsp/structured"
	"github.com/dsp-go/dsp/structured/sys/vec"
)

// Memory holds a point r_i of the marginal polytope for every example. Methods store marginals instead of gradients,
// because ∇f_i at stored marginals is J_iᵀ(r_i − 1_{y_i}). A memory is as large as the potentials, not as the weights.
type Memory struct {
	structured.Marginals // example i is r_i; of a memory on a device, the content at the last Fetch

	// rest is what r_i has beyond float32, part by part, from the first mixing on. Roundings of thousands of mixtures
	// would add up to points outside the marginal polytope, which prove nothing. With the rest, r_i is a mixture of
	// outputs, rounded once.
	rest [][]float32

	data       *structured.Dataset
	completion *Memory      // replaces unknown gold outputs, or nil
	soft       bool         // it replaces all of them
	device     DeviceMemory // holds the content if it is on a device
}

// NewMemory returns a memory, on the host, of the gold outputs 1_{y_i}, where every gradient is zero. For examples with
// partial labels it uses the objective's completion, or zeros if there is none.
func NewMemory(o *Objective) *Memory {
	m := &Memory{}
	m.Form(o)
	m.Clear()
	m.addGold(1)
	return m
}

// Form gives m the shape of a memory for o. Its content is undefined.
func (m *Memory) Form(o *Objective) {
	m.data, m.completion, m.soft = o.Data, o.Completion, o.Soft
	m.Reshape(o.Scorer.Form(), o.Data.Len(), o.Data.Rows)
	m.ReadAll(o.Data)
	for k := range m.Parts {
		vec.HugePages(m.Parts[k].Values)
	}
}

// addGold adds c·1_{y_i} to every r_i. For partial labels, or all if it is soft, it adds the completion instead.
func (m *Memory) addGold(c float32) {
	for i := range m.data.Len() {
		switch {
		case !m.soft && !m.data.Partial(i):
			m.Add(i, m.data.Gold(i), c)
		case m.completion != nil:
			m.AddScaled(i, c, &m.completion.Marginals, i)
		}
	}
}

// Device returns the content on a device, or nil if it is on the host.
func (m *Memory) Device() DeviceMemory {
	if m == nil {
		return nil
	}
	return m.device
}

// Restart sets r_i of some examples to their gold outputs, which must be known, or to what replaces them.
func (m *Memory) Restart(examples []int) {
	for _, i := range examples {
		if m.Scale(i, 0); m.soft {
			m.AddScaled(i, 1, &m.completion.Marginals, i)
		} else {
			m.Add(i, m.data.Gold(i), 1)
		}
		for k := range m.rest {
			clear(m.restOf(k, i))
		}
	}
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
		fits = len(m.Parts[k].Values) == rows*parts[k].Width && (m.rest == nil || len(m.rest) == len(parts) && len(m.rest[k]) == rows*parts[k].Width)
	}
	if !fits {
		return structured.BadInput("the checkpoint is damaged: what it remembers of the examples does not fit %s", o.Data.Name)
	}
	return nil
}

// Attach returns a memory of o, on the host, with the numbers that Archive restored into m.
func (m *Memory) Attach(o *Objective) *Memory {
	whole := &Memory{rest: m.rest}
	whole.Form(o)
	for k := range m.Parts {
		whole.Parts[k].Values = m.Parts[k].Values
	}
	return whole
}

// points returns the r_i, or nil of a nil memory.
func (m *Memory) points() *structured.Marginals {
	if m == nil {
		return nil
	}
	return &m.Marginals
}

// subtract subtracts r_i from example b of v.
func (m *Memory) subtract(i int, v *structured.Marginals, b int) {
	v.AddScaled(b, -1, &m.Marginals, i)
}

// remember updates the examples of a shardResult: r_i ← (1−γ)r_i + γu_i.
func (m *Memory) remember(of *shardResult, γ float32) {
	u := &of.Answer.U
	if γ != 1 {
		m.KeepRest()
	}
	for b, i := range of.Batch.Examples {
		if γ == 1 {
			m.Set(i, u, b)
		}
		for k := range m.rest {
			if rest := m.restOf(k, i); γ == 1 {
				clear(rest)
			} else {
				mix(float64(γ), u.Parts[k].Of(b), m.Parts[k].Of(i), rest)
			}
		}
	}
}

// mix sets r ← (1−γ)r + γu, where r is the sum of high and low.
func mix(γ float64, u, high, low []float32) {
	low, u = low[:len(high)], u[:len(high)]
	for j, h := range high {
		r := float64(h) + float64(low[j])
		r += γ * (float64(u[j]) - r)
		high[j] = float32(r)
		low[j] = float32(r - float64(high[j]))
	}
}

// scale sets every r_i to γr_i.
func (m *Memory) scale(γ float32) {
	m.KeepRest()
	for k := range m.Parts {
		high, low := m.Parts[k].Values, m.rest[k]
		for j, h := range high {
			r := float64(γ) * (float64(h) + float64(low[j]))
			high[j] = float32(r)
			low[j] = float32(r - float64(high[j]))
		}
	}
}

// KeepRest makes the memory keep what its points have beyond float32.
func (m *Memory) KeepRest() {
	if m.rest != nil {
		return
	}
	for k := range m.Parts {
		m.rest = append(m.rest, make([]float32, len(m.Parts[k].Values)))
	}
}

// Keep appends r_i to numbers, and Restore sets it to numbers that Keep has appended, and returns those behind them. In
// between the memory may not begin to keep the rest.
func (m *Memory) Keep(i int, numbers []float32) []float32 {
	for k := range m.Parts {
		numbers = append(numbers, m.Parts[k].Of(i)...)
	}
	for k := range m.rest {
		numbers = append(numbers, m.restOf(k, i)...)
	}
	return numbers
}

// Restore is the reverse of Keep.
func (m *Memory) Restore(i int, numbers []float32) []float32 {
	for k := range m.Parts {
		numbers = numbers[copy(m.Parts[k].Of(i), numbers):]
	}
	for k := range m.rest {
		numbers = numbers[copy(m.restOf(k, i), numbers):]
	}
	return numbers
}

// restOf returns the rest of part k of example i.
func (m *Memory) restOf(k, i int) []float32 {
	p := &m.Parts[k]
	return m.rest[k][p.Offsets[i]*p.Width : p.Offsets[i+1]*p.Width]
}

// archiveRest saves or restores what the numbers of marginals have beyond float32.
func (m *Memory) archiveRest(a Archive, name string) {
	n := len(m.rest)
	a.Count(name+".rests", &n)
	if a.Restores() {
		m.rest = nil
		if n > 0 {
			m.rest = make([][]float32, min(n, mostParts))
		}
	}
	for k := range m.rest {
		a.Floats(fmt.Sprintf("%s.rest.%d", name, k), &m.rest[k])
	}
}

// ArchiveMarginals saves or restores the numbers of marginals under a name. Restored parts do not have a shape yet.
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
