package train

import (
	"fmt"

	"github.com/dsp-go/dsp/nets"
	"github.com/dsp-go/dsp/structured"
	"github.com/dsp-go/dsp/train/engine"
)

// CheckConvex refuses a convex method for a scorer that is not affine in its weights. Net is the network's name, or empty.
func CheckConvex(method string, scorer nets.Scorer, net string) error {
	if scorer.Affine() {
		return nil
	}
	whose := "those of this net are not"
	if net != "" {
		whose = fmt.Sprintf("net %q is not", net)
	}
	inner := method
	if method == "casimir-adapt" {
		inner = "casimir"
	}
	return structured.BadInput("--method %s needs scores that are linear in the weights; %s. "+
		"Use --method prox-linear --inner %s, or --net linear", method, whose, inner)
}

// CheckLabels refuses a method that needs the objective to be convex, where labels known in part keep it from that.
func CheckLabels(method string, o *engine.Objective) error {
	if !o.Partial() {
		return nil
	}
	return structured.BadInput("--method %s needs to know all gold labels: where they are sets, as in %s, the objective is not convex. "+
		"Use --method lbfgs, sgd or prox-linear", method, o.Data.Name)
}
