package sdca

import (
	"github.com/dsp-go/dsp/structured"
	"github.com/dsp-go/dsp/train"
)

// checkAsync says why threads that wait for nobody are of no use on p, if they are not.
func checkAsync(async bool, p *train.Problem) error {
	if async && p.Sparse() == nil {
		return structured.BadInput("--parallel async is for the linear net of attributes, whose steps touch few weights; this net has --parallel deterministic")
	}
	return nil
}
