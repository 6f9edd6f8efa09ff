//go:build goexperiment.simd && amd64

package simd

import (
	"math"
	"slices"
	"testing"
	"unsafe"

	"github.com/dsp-go/dsp/structured/sys/instructions"
)

// Reductions of small integers are exact in any order. Each number is in each lane once.
func TestReductions(t *testing.T) {
	x := []float32{3, -7, 12, 5, -2, 8, 0, 1, 11, -9, 4, 6, -13, 2, 10, 7}
	for range x {
		x = append(x[1:], x[0])
		checkReductions(t, x)
	}
}

func checkReductions(t *testing.T, x []float32) {
	d := make([]float64, len(x))
	for i, v := range x {
		d[i] = float64(v)
	}
	type results struct {
		largest, smallest, sum, stored, wide, over                            float64
		largestDouble, smallestDouble, storedDouble, addedDouble, overDoubles float64
		largests, sums                                                        []float64
		fours                                                                 [4]float64
	}
	want := func(n, doubles int) (r results) {
		s, v := x[:n], d[:doubles]
		for _, z := range s {
			r.sum += float64(z)
		}
		for _, z := range v {
			r.storedDouble += z
		}
		r.largest, r.smallest, r.stored, r.wide = float64(slices.Max(s)), float64(slices.Min(s)), r.sum, r.sum
		r.over = float64(1 / float32(r.sum))
		r.largestDouble, r.smallestDouble = slices.Max(v), slices.Min(v)
		r.addedDouble, r.overDoubles = 100+r.storedDouble, 1/r.storedDouble
		for range v {
			r.largests, r.sums = append(r.largests, r.largestDouble), append(r.sums, r.storedDouble)
		}
		r.fours = [4]float64{r.storedDouble, 2 * r.storedDouble, 0, r.storedDouble}
		return r
	}
	check := func(lanes string, got, want results) {
		if !slices.Equal(got.largests, want.largests) || !slices.Equal(got.sums, want.sums) {
			t.Errorf("%s lanes: %v and %v in all lanes, want %v and %v", lanes, got.largests, got.sums, want.largests, want.sums)
		}
		got.largests, got.sums, want.largests, want.sums = nil, nil, nil, nil
		if !equal(got.fours, want.fours) || got.largest != want.largest || got.smallest != want.smallest ||
			got.sum != want.sum ||
			got.stored != want.stored || got.wide != want.wide || got.over != want.over ||
			got.largestDouble != want.largestDouble ||
			got.smallestDouble != want.smallestDouble || got.storedDouble != want.storedDouble ||
			got.addedDouble != want.addedDouble ||
			got.overDoubles != want.overDoubles {
			t.Errorf("%s lanes:\n%+v, want\n%+v", lanes, got, want)
		}
	}
	p, q := At(x), At(d)
	if instructions.AVX512() {
		var r results
		var stored [1]float32
		added := [1]float64{100}
		v, w := Load16(p, 0), LoadDouble16(q, 0)
		r.largest, r.smallest = float64(Largest16(v)), float64(Smallest16(v))
		r.sum, r.wide = float64(Sum16(v)), WideSum16(v)
		StoreSum16(unsafe.Pointer(&stored), 0, v)
		over, _ := OverSum16(v)
		r.stored, r.over = float64(stored[0]), float64(over.GetLo().GetLo().GetElem(0))
		r.largestDouble, r.smallestDouble = LargestDouble16(w), SmallestDouble16(w)
		AddSumDouble16(unsafe.Pointer(&added), 0, w)
		r.addedDouble = added[0]
		StoreSumDouble16(unsafe.Pointer(&added), 0, w)
		r.storedDouble = added[0]
		overs, _ := OverSumDouble16(w)
		r.overDoubles = HeadDouble16(overs)
		r.largests, r.sums = make([]float64, Doubles16), make([]float64, Doubles16)
		StoreDouble16(At(r.largests), 0, LargestsDouble16(w))
		StoreDouble16(At(r.sums), 0, SumsDouble16(w))
		SumsOfFour16(&r.fours, w, w.Add(w), FillDouble16(0), w)
		check("16", r, want(Singles16, Doubles16))
	}
	if instructions.AVX2() {
		var r results
		var stored [1]float32
		added := [1]float64{100}
		v, w := Load8(p, 0), LoadDouble8(q, 0)
		r.largest, r.smallest = float64(Largest8(v)), float64(Smallest8(v))
		r.sum, r.wide = float64(Sum8(v)), WideSum8(v)
		StoreSum8(unsafe.Pointer(&stored), 0, v)
		over, _ := OverSum8(v)
		r.stored, r.over = float64(stored[0]), float64(over.GetLo().GetElem(0))
		r.largestDouble, r.smallestDouble = LargestDouble8(w), SmallestDouble8(w)
		AddSumDouble8(unsafe.Pointer(&added), 0, w)
		r.addedDouble = added[0]
		StoreSumDouble8(unsafe.Pointer(&added), 0, w)
		r.storedDouble = added[0]
		overs, _ := OverSumDouble8(w)
		r.overDoubles = HeadDouble8(overs)
		r.largests, r.sums = make([]float64, Doubles8), make([]float64, Doubles8)
		StoreDouble8(At(r.largests), 0, LargestsDouble8(w))
		StoreDouble8(At(r.sums), 0, SumsDouble8(w))
		SumsOfFour8(&r.fours, w, w.Add(w), FillDouble8(0), w)
		check("8", r, want(Singles8, Doubles8))
	}
}

func equal(a, b [4]float64) bool { return slices.Equal(a[:], b[:]) }

// Loads and stores of the first numbers touch no others.
func TestFirst(t *testing.T) {
	x := []float32{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16}
	for n := range Singles16 + 1 {
		single, double := make([]float32, Singles16), make([]float64, Doubles16)
		if instructions.AVX512() {
			StoreFirst16(At(single), 0, LoadFirst16(At(x), 0, First16(n)), First16(max(n, 3)))
			checkFirst(t, single, n)
			if n <= Doubles16 {
				StoreDouble16(At(double), 0, LoadFirstWidened16(At(x), 0, FirstWidened16(n)))
				checkFirst(t, double, n)
				StoreFirstDouble16(At(double), 0, FillDouble16(math.Inf(1)), FirstDouble16(0))
				checkFirst(t, double, n)
			}
		}
		if instructions.AVX2() && n <= Singles8 {
			clear(single)
			clear(double)
			StoreFirst8(At(single), 0, LoadFirst8(At(x), 0, First8(n)), First8(max(n, 3)))
			checkFirst(t, single, n)
			if n <= Doubles8 {
				StoreDouble8(At(double), 0, LoadFirstWidened8(At(x), 0, FirstWidened8(n)))
				checkFirst(t, double, n)
				StoreFirstDouble8(At(double), 0, FillDouble8(math.Inf(1)), FirstDouble8(0))
				checkFirst(t, double, n)
			}
		}
	}
}

// checkFirst fails unless x is 1, 2, …, n and then zeros.
func checkFirst[F float32 | float64](t *testing.T, x []F, n int) {
	t.Helper()
	for i, v := range x {
		if want := i + 1; i < n && v != F(want) || i >= n && v != 0 {
			t.Fatalf("the first %d numbers are %v", n, x)
		}
	}
}
