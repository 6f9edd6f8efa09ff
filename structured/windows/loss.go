package windows

import "github.com/dsp-go/dsp/structured"

// IoULoss is the task loss of a window, ℓ(y, y*) = 1 − IoU(y, y*), with the intersection over the union counted in
// cells. It is the last coordinate of a box (see Window), so the potentials and marginals must carry the same gold
// output as the loss is asked about. The gold output must be fully known.
type IoULoss struct{}

func (IoULoss) Augment(θ *structured.Potentials, b int, _ structured.Gold) { θ.Parts[2].Of(b)[0]++ }

func (IoULoss) Dot(v *structured.Marginals, b int, _ structured.Gold) float64 {
	return float64(v.Parts[2].Of(b)[0])
}

func (IoULoss) Loss(y []int32, gold structured.Gold) float64 { return float64(Loss(y, gold.Output)) }

// GoldOf returns the gold box of example b, or nil if it is missing.
func GoldOf(gold [][]int32, b int) []int32 {
	if b < len(gold) && len(gold[b]) == 4 {
		return gold[b]
	}
	return nil
}

// Loss returns 1 − IoU of two boxes, as the float32 that marginals hold, or 0 if one of them is missing.
func Loss(y, gold []int32) float32 {
	if len(y) == 0 || len(gold) == 0 {
		return 0
	}
	return float32(1 - IoU(y, gold))
}

// IoU returns the number of cells that are in both boxes, over the number that are in either.
func IoU(a, b []int32) float64 {
	both := Overlap(a[0], a[2], b[0], b[2]) * Overlap(a[1], a[3], b[1], b[3])
	return float64(both) / float64(Area(a)+Area(b)-both)
}

// Area returns the number of cells in a box.
func Area(y []int32) int { return int(y[2]-y[0]+1) * int(y[3]-y[1]+1) }

// Overlap returns how many numbers the intervals lo…hi and from…to have in common. Intervals may be empty.
func Overlap(lo, hi, from, to int32) int { return int(max(0, min(hi, to)-max(lo, from)+1)) }
