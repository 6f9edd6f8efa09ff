package kindstest

import (
	"fmt"
	"testing"

	"github.com/dsp-go/dsp/nets"
	"github.com/dsp-go/dsp/structured/graphs"
	"github.com/dsp-go/dsp/train"
	"github.com/dsp-go/dsp/train/engine"
	"github.com/dsp-go/dsp/train/methods"
	"github.com/dsp-go/dsp/train/methods/quasinewton"
	"github.com/dsp-go/dsp/train/methods/sdca"
	"github.com/dsp-go/dsp/train/traintest"
)

// On graphs, forests or not, whatever their edges, methods of all families certify the same optimum of a linear
// network: their intervals [dual, objective] overlap.
func TestGraphsAreCertified(t *testing.T) {
	if testing.Short() {
		t.Skip("long; the race detector runs shorter tests of the same code")
	}
	const n = 16
	for _, on := range []struct {
		edges  graphs.Edges
		forest bool
	}{{graphs.Own, false}, {graphs.Typed, true}, {graphs.Potts, false}} {
		for _, c := range []struct {
			loss    engine.Loss
			methods []train.Method
			gap     float64
		}{
			{engine.Hinge, append(convexMethods(), &methods.BCFW{}, &methods.BCPFW{}, &methods.FrankWolfe{},
				&methods.CuttingPlane{}, &methods.NSlack{}, &methods.AGM{}, &sdca.SDCA{Online: true}), 3e-2},
			{engine.CRF, []train.Method{&methods.SVRG{}, &methods.SAGA{}, &methods.Casimir{}, &quasinewton.LBFGS{}, &sdca.SDCA{},
				&sdca.SDCA{Online: true}, &methods.AGM{}}, 1e-3},
		} {
			smoothing := traintest.L2
			if c.loss == engine.CRF {
				smoothing = traintest.Entropy
			}
			p := traintest.GraphProblem(n, on.forest, on.edges, c.loss, smoothing, 4./n)
			t.Run(fmt.Sprintf("%s, forest %v, %v", on.edges, on.forest, c.loss), func(t *testing.T) {
				agree(t, p, c.methods, func(m train.Method) int {
					switch m.(type) {
					case *methods.BCFW, *methods.BCPFW, *methods.FrankWolfe, *methods.CuttingPlane, *sdca.SDCA:
						return 200
					case *methods.AGM:
						return 100
					}
					return 40
				}, c.gap, 1e-5)
			})
		}
	}
}

// Networks with hidden layers over variables and edges, and with submodular edges, train by prox-linear: the objective
// falls well below that of the network without edges.
func TestGraphsOfDeepNets(t *testing.T) {
	const n = 30
	value := func(c nets.Config) float64 {
		net := traintest.GraphNet(c, graphs.Potts)
		o := &engine.Objective{Scorer: net, Data: traintest.DrawGraphs(n, false), Loss: engine.CRF, Lambda: 1e-3}
		p := &train.Problem{Engine: engine.NewEngine(o, 1), Smoothing: traintest.Entropy, Seed: 3}
		m := &methods.ProxLinear{}
		s := traintest.Start(t, m, p)
		traintest.Passes(t, m, p, s, 10)
		return s.Primal
	}
	alone := value(nets.Config{Net: "mlp", Hidden: []int{8}, Edges: nets.EdgesNone})
	for _, c := range []nets.Config{{EdgeUnits: 4}, {Submodular: nets.SubmodularSoftplus}} {
		c.Net, c.Hidden = "mlp", []int{8}
		if f := value(c); !(f < 0.9*alone) {
			t.Errorf("units %d, submodular %q: objective %g; without edges %g", c.EdgeUnits, c.Submodular, f, alone)
		}
	}
}
