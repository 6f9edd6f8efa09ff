package accelerator

import "github.com/dsp-go/dsp/cuda/device"

// Gamma returns the dual variable of the last proximal step.
func (a *Accelerator) Gamma() float64 {
	var γ [1]float64
	device.Download(a.d, γ[:], a.descent.γ)
	return γ[0]
}
