package methods

import "github.com/dsp-go/dsp/train"

// The interfaces that methods implement besides train.Method.
var (
	_, _          train.Certifier    = &BCFW{}, &BCPFW{}
	_, _, _, _, _ train.MemoryKeeper = &SaddleBCFW{}, &SAGA{}, &BCFW{}, &ProxLinear{}, &BatchProxLinear{}
	_             train.HostChecker  = &BatchProxLinear{}
)
