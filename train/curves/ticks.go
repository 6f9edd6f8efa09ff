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
		v := i*step + 0 // not −0
		text := strconv.FormatFloat(v, 'f', digits, 64)
		if digits > 4 && math.Abs(lo) < 10*(hi-lo) {
			text = label(v)
		}
		list = append(list, plot.Tick{Value: v, Label: text})
	}
	return list
}

// logTicks puts powers of ten on a logarithmic axis, and their halves and fifths where there are few of them.
type logTicks struct{}

// Ticks implements plot.Ticker.
func (logTicks) Ticks(lo, hi float64) []plot.Tick {
	decades := math.Log10(hi / lo)
	every := max(1, int(math.Ceil(decades/6)))
	var between []float64
	switch {
	case decades < 0.5:
		return ticks{}.Ticks(lo, hi)
	case decades < 0.8:
		between = []float64{2, 3, 4, 5, 6, 7, 8}
	case decades < 2.2:
		between = []float64{2, 5}
	}
	var list []plot.Tick
	add := func(v float64) {
		if v >= lo && v <= hi {
			list = append(list, plot.Tick{Value: v, Label: label(v)})
		}
	}
	for e := int(math.Floor(math.Log10(lo))); e <= int(math.Ceil(math.Log10(hi))); e++ {
		power := math.Pow(10, float64(e))
		if e%every == 0 {
			add(power)
		}
		for _, k := range between {
			add(k * power)
		}
	}
	return list
}

// label writes a number as short as it can be read.
func label(v float64) string {
	text := strconv.FormatFloat(v, 'g', 3, 64)
	return strings.NewReplacer("e-0", "e-", "e+0", "e", "e+", "e").Replace(text)
}
