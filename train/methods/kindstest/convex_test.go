package kindstest

import (
	"github.com/dsp-go/dsp/train"
	"github.com/dsp-go/dsp/train/methods"
)

// convexMethods creates one of each convex method that smooths.
func convexMethods() []train.Method {
	return []train.Method{&methods.SVRG{}, &methods.Casimir{}, &methods.Casimir{Adaptive: true}, &methods.SAGA{}}
}
