package boxes

import (
	"math"
	"math/rand/v2"
	"slices"
)

// Placed is a box in an image of Width × Height pixels.
type Placed struct {
	Box           Box
	Width, Height int
}

// FitWindows returns windows, on average at most most of them per image, that overlap with objects like the given ones
// as much as possible. Without objects they are those of DefaultWindows. It chooses shapes and strides, one after the
// other, each the one that adds most to the mean IoU of an object with its best window, per window that it adds: the
// greedy method for maximum coverage under a budget (Khuller, Moss and Naor 1999). The same objects give the same
// windows. Time and memory do not grow with the number of objects beyond a few hundred.
func FitWindows(objects []Placed, most int) Windows {
	if len(objects) == 0 {
		w := DefaultWindows()
		w.Most = most
		return w
	}
	like := resampled(objects)
	items := shapesAround(like)
	overlap, cost := make([][]float32, len(items)), make([]float64, len(items))
	for k, s := range items {
		overlap[k] = make([]float32, len(like))
		for i, o := range like {
			l := s.lattice(o.Width, o.Height, true)
			overlap[k][i] = float32(l.nearest(o.Box).IoU(o.Box))
			cost[k] += float64(l.windows()) / float64(len(like))
		}
	}
	chosen := cover(items, overlap, cost, float64(most))
	w := Windows{Cut: true, Most: most}
	for _, k := range chosen {
		w.Shapes = append(w.Shapes, items[k])
	}
	return w
}

// strides are those that FitWindows chooses among, the widest first.
var strides = []float64{0.5, 0.35, 0.25, 0.18, 0.13, 0.09}

// sampled is the number of boxes that stand for all.
const sampled = 500

// resampled returns boxes that are distributed like the given ones: their scales and aspects vary a little, as a kernel
// density does (bandwidths by Scott's rule), and the more so, the fewer there are; so do their places. Among them are
// some of the shapes of DefaultWindows, as if each had been seen once.
func resampled(objects []Placed) []Placed {
	rng := rand.New(rand.NewPCG(1, 1))
	n := float64(len(objects))
	var mean, spread [2]float64
	for _, o := range objects {
		for k, x := range o.logarithms() {
			mean[k] += x / n
		}
	}
	for _, o := range objects {
		for k, x := range o.logarithms() {
			spread[k] += (x - mean[k]) * (x - mean[k]) / n
		}
	}
	for k := range spread {
		spread[k] = math.Sqrt(spread[k]) * math.Pow(n, -1./6)
	}
	usual := DefaultWindows().Shapes
	like := make([]Placed, sampled)
	for i := range like {
		at := (float64(i) + 0.5) / sampled * (n + float64(len(usual)))
		o := objects[min(int(at), len(objects)-1)]
		x := o.logarithms()
		if k := int(at - n); at >= n {
			o = objects[rng.IntN(len(objects))]
			o.Box.X, o.Box.Y = rng.Float64()*float64(o.Width), rng.Float64()*float64(o.Height)
			x = [2]float64{math.Log(usual[k].Scale), math.Log(usual[k].Aspect)}
		} else {
			for k := range x {
				x[k] += spread[k] * rng.NormFloat64()
			}
		}
		like[i] = o.reshaped(x, rng)
	}
	return like
}

// logarithms returns those of the scale and the aspect of the box.
func (o Placed) logarithms() [2]float64 {
	return [2]float64{
		math.Log(o.Box.Area()/(float64(o.Width)*float64(o.Height))) / 2,
		math.Log(o.Box.Width / o.Box.Height),
	}
}

// reshaped returns a box of another scale and aspect near the place of o, inside of the image.
func (o Placed) reshaped(x [2]float64, rng *rand.Rand) Placed {
	side := math.Exp(x[0]) * math.Sqrt(float64(o.Width)*float64(o.Height))
	b := Box{Width: min(float64(o.Width), side*math.Exp(x[1]/2)), Height: min(float64(o.Height), side*math.Exp(-x[1]/2))}
	inside := func(at, from, size, length float64) float64 {
		return max(0, min(length-size, at+(from-size)/2+(rng.Float64()-0.5)*size/2))
	}
	b.X = inside(o.Box.X, o.Box.Width, b.Width, float64(o.Width))
	b.Y = inside(o.Box.Y, o.Box.Height, b.Height, float64(o.Height))
	o.Box = b
	return o
}

// shapesAround returns shapes of a grid of scales and aspects that have one of the boxes near them, with all strides.
func shapesAround(like []Placed) []Shape {
	const step = 0.13 // neighbours have an IoU of 0.88
	near := map[[2]int]bool{}
	for _, o := range like {
		x := o.logarithms()
		near[[2]int{int(math.Round(max(x[0], math.Log(leastScale)) / step)),
			int(math.Round(max(-4, min(4, x[1])) / step))}] = true
	}
	cells := make([][2]int, 0, len(near))
	for c := range near {
		cells = append(cells, c)
	}
	slices.SortFunc(cells, func(a, b [2]int) int { return slices.Compare(a[:], b[:]) })
	var all []Shape
	for _, c := range cells {
		for _, s := range strides {
			all = append(all, Shape{min(1, math.Exp(step*float64(c[0]))), math.Exp(step * float64(c[1])), s})
		}
	}
	return all
}

// leastScale is that of the smallest windows.
const leastScale = 0.01

// cover chooses items, at most one of each shape, whose costs sum to at most budget. overlap[k][i] is what item k gives
// box i, which keeps the most of what it gets.
func cover(items []Shape, overlap [][]float32, cost []float64, budget float64) (chosen []int) {
	got := make([]float32, len(overlap[0]))
	bound := make([]float64, len(items)) // of what an item adds, which falls as others are chosen
	for k := range bound {
		bound[k] = math.Inf(1)
	}
	spent := 0.0
	for {
		best, worth, instead := -1, 0.0, -1
		for k, of := range overlap {
			price, replaced := cost[k], slices.IndexFunc(chosen, func(c int) bool {
				return items[c].Scale == items[k].Scale && items[c].Aspect == items[k].Aspect
			})
			if replaced >= 0 {
				price -= cost[chosen[replaced]]
			}
			if price <= 0 || spent+price > budget || bound[k]/price <= worth {
				continue
			}
			gain := 0.0
			for i, x := range of {
				gain += float64(max(0, x-got[i]))
			}
			bound[k] = gain
			if gain/price > worth {
				best, worth, instead = k, gain/price, replaced
			}
		}
		if best < 0 {
			break
		}
		if instead >= 0 {
			spent -= cost[chosen[instead]]
			chosen[instead] = best
		} else {
			chosen = append(chosen, best)
		}
		spent += cost[best]
		clear(got)
		for _, k := range chosen {
			for i, x := range overlap[k] {
				got[i] = max(got[i], x)
			}
		}
	}
	if len(chosen) == 0 { // even one lattice is too large, and will be thinned out
		cheapest := 0
		for k := range cost {
			if cost[k] < cost[cheapest] {
				cheapest = k
			}
		}
		chosen = []int{cheapest}
	}
	return chosen
}
