package curves

import (
	"math"
	"strconv"
	"strings"

	"gonum.org/v1/plot"
)

// ticks puts three to eight round numbers on a linear axis.
type ticks struct{ whole bool }

// Ticks implements plot.Ticker.
func (t ticks) Ticks(lo, hi float64) []plot.Tick {
	step := math.Pow(10, math.Floor(math.Log10((hi-lo)/7)))
	for _, k := range []float64{2, 2.5, 2} { // 2, 5 and 10 times the power of ten
		if (hi-lo)/step > 7 {
			step *= k
		}
	}
	if t.whole {
		step = math.Max(1, math.Round(step))
	}
	digits := max(0, int(math.Ceil(-math.Log10(step)-1e-9)))
	var list []plot.Tick
	for i := math.Ceil(lo/step - 1e-9); i*step <= hi*(1+1e-12); i++ {
		v := i*step + 0 // avoids −0
		text := strconv.FormatFloat(v, 'f', digits, 64)
		if digits > 4 && math.Abs(lo) < 10*(hi-lo) {
			text = label(v)
		}
		list = append(list, plot.Tick{Value: v, Label: text})
	}
	return list
}

// logTicks puts powers of ten on an axis of decimal logarithms, and round multiples of them if there are few powers.
type logTicks struct{}

// Ticks implements plot.Ticker.
func (logTicks) Ticks(lo, hi float64) []plot.Tick {
	every := max(1, int(math.Ceil((hi-lo)/6)))
	var factors []float64
	switch {
	case hi-lo < 0.5: // as on a linear axis
		list := ticks{}.Ticks(math.Pow(10, lo), math.Pow(10, hi))
		for i := range list {
			list[i].Value = math.Log10(list[i].Value)
		}
		return list
	case hi-lo < 0.8:
		factors = []float64{1, 2, 3, 4, 5, 6, 7, 8}
	case hi-lo < 2.2:
		factors = []float64{1, 2, 5}
	default:
		factors = []float64{1}
	}
	var list []plot.Tick
	for e := int(math.Floor(lo)); e <= int(math.Ceil(hi)); e++ {
		for _, k := range factors {
			if at := float64(e) + math.Log10(k); e%every == 0 && at >= lo && at <= hi {
				list = append(list, plot.Tick{Value: at, Label: label(k * math.Pow(10, float64(e)))})
			}
		}
	}
	return list
}

// label formats a number as briefly as possible.
func label(v float64) string {
	if a := math.Abs(v); a >= 100 && a < 1e5 {
		return strconv.FormatFloat(v, 'f', 0, 64)
	}
	text := strconv.FormatFloat(v, 'g', 3, 64)
	return strings.NewReplacer("e-0", "e-", "e+0", "e", "e+", "e").Replace(text)
}
