package oracles_test

import (
	"testing"

	"github.com/dsp-go/dsp/oracles/matching"
	"github.com/dsp-go/dsp/oracles/oracletest"
	"github.com/dsp-go/dsp/oracles/registry"
	"github.com/dsp-go/dsp/structured/matchings"
)

// BMMF ranks the outputs of an oracle with max-marginals as enumeration does: those of matchings here.
func TestBMMF(t *testing.T) { oracletest.Run(t, registry.Of(matchings.Matching{}), matching.New()) }
