package methods

import "github.com/dsp-go/dsp/train"

// What methods are beyond train.Method.
var (
	_, _    train.Certifier    = &BCFW{}, &BCPFW{}
	_, _, _ train.MemoryKeeper = &SAGA{}, &BCFW{}, &ProxLinear{}
)
