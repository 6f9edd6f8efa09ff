package registry_test

import (
	"testing"

	"github.com/dsp-go/dsp/oracles/oracletest"
	"github.com/dsp-go/dsp/oracles/registry"
)

// shares are the largest shares of the bounds on rounding that errors of Max and Exp take on drawn batches, as
// measured. 0 means that values are exact, or that other kernels take other shares.
var shares = map[string]struct{ ofMax, ofExp float64 }{
	"chain":                         {0.15, 0.18},
	"choice":                        {0, 0.095},
	"constituent tree":              {0.025, 0.066},
	"counted segmentation":          {0.072, 0.13},
	"graph":                         {0.1, 0},
	"graph with bounds":             {0.1, 0},
	"graph with cuts":               {0.047, 0},
	"matching":                      {0.00086, 0},
	"monotone alignment":            {0.029, 0.024},
	"monotone alignment with moves": {0.23, 0.27},
	"non-projective tree":           {0.26, 0.13},
	"PCFG":                          {0.1, 0.2},
	"projective tree":               {0.26, 0.10},
	"projective tree with siblings": {0.26, 0.08},
	"second-order chain":            {0.15, 0.2},
	"segmentation":                  {0.09, 0.1},
	"transcript":                    {0, 0.0017},
	"window":                        {0.032, 0},
}

// asOther are the kinds whose oracle is that of another one.
var asOther = map[string]string{
	"complete matching": "matching", "Potts graph": "graph", "typed graph": "graph",
	"Potts graph with bounds": "graph with bounds", "typed graph with bounds": "graph with bounds",
	"Potts graph with cuts": "graph with cuts",
	"typed graph with cuts": "graph with cuts",
}

// Bounds on rounding are neither far above what errors reach nor close to what errors of a few small examples do: the
// worst are larger. A bound that is four times as small or as large as it was is noticed.
func TestRoundingIsOfUse(t *testing.T) {
	for _, k := range registry.All {
		name := k.Name()
		if asOther[name] != "" {
			continue
		}
		t.Run(name, func(t *testing.T) {
			want, measured := shares[name]
			if !measured {
				t.Fatal("the test has no shares for this kind")
			}
			near := func(what string, got, want float64) {
				if want > 0 && !(got > want/2.5 && got < want*2.5) {
					t.Errorf("errors of %s take %.2g of the bound, measured was %.2g", what, got, want)
				}
			}
			ofMax, ofExp := oracletest.RoundingShares(k, k.Oracle())
			near("Max", ofMax, want.ofMax)
			near("Exp", ofExp, want.ofExp)
		})
	}
}
