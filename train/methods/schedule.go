package methods

import (
	"math"

	"github.com/dsp-go/dsp/structured"
)

// Schedule is how the step size of SGD and Adam falls.
type Schedule int

// The schedules, t counting steps from 0. The last three reach their end after the last of T steps.
const (
	SqrtSchedule      Schedule = iota // γ0/√(1+t/t0)
	ConstantSchedule                  // γ0
	InverseSchedule                   // γ0/(1+t/t0)
	StairsSchedule                    // γ0/(1+⌊t/t0⌋)
	PegasosSchedule                   // 1/(λ(t+1)), without γ0 (Shalev-Shwartz et al. 2011)
	CosineSchedule                    // γ0(1+cos(πt/T))/2 (Loshchilov and Hutter 2017)
	GeometricSchedule                 // γ0·10^(−2t/T)
	LinearSchedule                    // γ0(1−t/T)
)

var scheduleNames = []string{"sqrt", "constant", "inverse", "stairs", "pegasos", "cosine", "geometric", "linear"}

func (s Schedule) String() string { return scheduleNames[s] }

// ParseSchedule parses a schedule as String writes it.
func ParseSchedule(name string) (Schedule, error) {
	return structured.ParseName[Schedule]("schedule", scheduleNames, name)
}

// geometricEnd is the last step size of the geometric schedule, as a fraction of the first.
const geometricEnd = 1e-2

// needsSpan reports whether the schedule depends on the length of the run.
func (s Schedule) needsSpan() bool { return s >= CosineSchedule }

// factor returns γ_t/γ0. perPass is the number of steps in a pass; halving is t0, 0 for one pass. The pegasos schedule
// has no γ0.
func (s Schedule) factor(t, perPass, halving float64, passes int) float64 {
	if halving == 0 {
		halving = perPass
	}
	done := min(1, t/(perPass*float64(max(1, passes))))
	switch s {
	case SqrtSchedule:
		return 1 / math.Sqrt(1+t/halving)
	case InverseSchedule:
		return 1 / (1 + t/halving)
	case StairsSchedule:
		return 1 / (1 + math.Floor(t/halving))
	case CosineSchedule:
		return (1 + math.Cos(math.Pi*done)) / 2
	case GeometricSchedule:
		return math.Pow(geometricEnd, done)
	case LinearSchedule:
		return 1 - done
	}
	return 1
}

// Span says how long a run is, for schedules.
type Span struct {
	Passes int     // of the whole run
	WarmUp float64 // passes at the beginning during which the step size rises linearly from 0
}

// rise returns the factor of the step size at step t.
func (s Span) rise(t, perPass float64) float64 {
	if s.WarmUp <= 0 {
		return 1
	}
	return min(1, (t+1)/(s.WarmUp*perPass))
}
