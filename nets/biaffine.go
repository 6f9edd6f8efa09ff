package nets

import (
	"math"

	"gorgonia.org/gorgonia"

	"github.com/dsp-go/dsp/nets/graph"
	"github.com/dsp-go/dsp/structured"
)

// newBiaffine makes the network of c, which is resolved, which scores dependency trees (Dozat and Manning 2017). From
// the representation of a word (see body), dense layers compute its representations x as a dependent and z as a head,
// separately for arcs and relations, and
//
//	score_k(d, h) = x_dᵀ W_k z_h + ⟨u_kc, x_d⟩ + ⟨v_k, z_h⟩ + b_kc
//
// scores dependent d with head h: one k for the arc, and one k for each relation. The linear terms of the dependent
// depend on the class c of the distance h − d (DistanceClass), which the representations of words do not contain; Qi et
// al. 2018 score distances for the same reason. The root has a learned vector in place of z_h and its own class. The
// form has two parts, whose rows are pairs of words: the arc's, of width 1, and the relations'.
func newBiaffine(c Config, input graph.Input, form structured.Form) (*Net, error) {
	if len(form.Parts) != 2 || form.Parts[0].Width != 1 || form.Parts[1].Width < 1 {
		return nil, structured.BadInput("net biaffine scores an arc and its relations; these potentials have parts %v",
			form.Parts)
	}
	b, err := c.body(input)
	if err != nil {
		return nil, err
	}
	units := []int{c.ArcUnits, c.LabelUnits}
	spec := graph.Spec{Name: c.Net, Params: b.params, Form: form}
	var heads []biaffine
	for k, part := range form.Parts {
		h := newArcs(b, part.Name, part.Width, units[k], c)
		heads = append(heads, h)
		spec.Params = append(spec.Params, h.params()...)
	}
	spec.Parts = func(g *graph.Graph) ([]*gorgonia.Node, error) {
		x, err := b.build(g)
		if err != nil {
			return nil, err
		}
		scores := make([]*gorgonia.Node, len(heads))
		for k, h := range heads {
			if scores[k], err = h.score(g, x); err != nil {
				return nil, err
			}
		}
		return scores, nil
	}
	return Build(spec, input)
}

// biaffine computes k scores for each pair of words.
type biaffine struct {
	name            string
	k, units        int
	dependent, head body // both on top of the same representation
}

func newArcs(below body, name string, k, units int, c Config) biaffine {
	below.params = nil
	return biaffine{name, k, units, below.dense(name+".dependent", units, c), below.dense(name+".head", units, c)}
}

// params lists the parameters. They are drawn such that representations of size around 1 get scores of size around 1.
func (o biaffine) params() []graph.Param {
	e := o.units
	small := graph.Gaussian(1 / float64(e))
	linear := graph.Gaussian(1 / math.Sqrt(float64(e)))
	all := append(append([]graph.Param(nil), o.dependent.params...), o.head.params...)
	return append(all,
		graph.Param{Name: o.name + ".bilinear", Shape: []int{e, o.k * e}, Init: small},
		graph.Param{Name: o.name + ".of-head", Shape: []int{o.k * e}, Init: linear},
		graph.Param{Name: o.name + ".of-dependent", Shape: []int{e, graph.Distances * o.k}, Init: linear},
		graph.Param{Name: o.name + ".bias", Shape: []int{graph.Distances * o.k}},
		graph.Param{Name: o.name + ".root", Shape: []int{e}, Init: graph.Gaussian(1)})
}

// score returns the scores [Pairs×k] of words with representations x [Rows×width]. The bias added to the dependents'
// side of the bilinear forms gives the terms ⟨v_k, z_h⟩.
func (o biaffine) score(g *graph.Graph, x *gorgonia.Node) (*gorgonia.Node, error) {
	param := func(name string) *gorgonia.Node { return g.Param(o.name + "." + name) }
	d, err := o.dependent.layer(g, x)
	if err != nil {
		return nil, err
	}
	h, err := o.head.layer(g, x)
	if err != nil {
		return nil, err
	}
	forms, err := g.Dense(d, param("bilinear"), param("of-head"))
	if err != nil {
		return nil, err
	}
	pairs, err := g.Bilinear(forms, h, param("root"))
	if err != nil {
		return nil, err
	}
	own, err := g.Dense(d, param("of-dependent"), param("bias"))
	if err != nil {
		return nil, err
	}
	if own, err = g.ByDistance(own); err != nil {
		return nil, err
	}
	return gorgonia.Add(own, pairs)
}
