package regions

import (
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/dsp-go/dsp/models/data/masks"
	"github.com/dsp-go/dsp/structured/images"
)

// blotched is an image of a few patches of random colours, with noise.
func blotched(width, height int, noise float64, seed uint64) *images.Image {
	r := rand.New(rand.NewPCG(seed, 1))
	m := &images.Image{Width: width, Height: height, Pixels: make([]uint8, 3*width*height)}
	var at [6][5]float64
	for k := range at {
		at[k] = [5]float64{r.Float64() * float64(width), r.Float64() * float64(height), 255 * r.Float64(),
			255 * r.Float64(), 255 * r.Float64()}
	}
	for i := range width * height {
		nearest, least := 0, math.Inf(1)
		for k, c := range at {
			if d := math.Hypot(float64(i%width)-c[0], float64(i/width)-c[1]); d < least {
				nearest, least = k, d
			}
		}
		for c := range 3 {
			m.Pixels[3*i+c] = uint8(min(max(at[nearest][2+c]+noise*r.NormFloat64(), 0), 255))
		}
	}
	return m
}

func TestGrid(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		width, height := rapid.IntRange(1, 40).Draw(t, "width"), rapid.IntRange(1, 40).Draw(t, "height")
		cell := rapid.IntRange(1, 20).Draw(t, "cell")
		p := Grid(width, height, cell)
		sides := func(side int) (from, to float64) { // the lengths of cells
			n := math.Max(1, math.Round(float64(side)/float64(cell)))
			if side%cell == 0 {
				return float64(cell), float64(cell)
			}
			return math.Floor(float64(side) / n), math.Ceil(float64(side) / n)
		}
		fromX, toX := sides(width)
		fromY, toY := sides(height)
		for r, n := range p.sizes() {
			if float64(n) < fromX*fromY || float64(n) > toX*toY {
				t.Fatalf("cell %d has %d pixels, expected %v to %v by %v to %v", r, n, fromX, toX, fromY, toY)
			}
		}
		if !reflect.DeepEqual(p, numbered(width, height, components(width, height, p.Of).Of)) {
			t.Fatal("cells are not connected, or not numbered row by row")
		}
	})
}

// Four neighbours are those beside and above, eight have the corners too, each in its direction and order.
func TestGridNeighbours(t *testing.T) {
	const rows, columns = 4, 5
	m := blotched(8*columns, 8*rows, 20, 1)
	p := Grid(m.Width, m.Height, 8)
	for _, corners := range []bool{false, true} {
		count := [directions]int{}
		for _, b := range Borders(m, p, corners) {
			count[b.Direction]++
			step := [2]int32{b.Ends[1]%columns - b.Ends[0]%columns, b.Ends[1]/columns - b.Ends[0]/columns}
			want, length := map[Direction][][2]int32{Horizontal: {{1, 0}}, Vertical: {{0, 1}},
				Diagonal: {{1, 1}, {-1, 1}}}[b.Direction], 8
			if b.Direction == Diagonal {
				length = 0
			}
			if !slices.Contains(want, step) || b.Length != length {
				t.Errorf("edge %v is %v away in direction %v, with a border of %d pixels", b.Ends, step, b.Direction, b.Length)
			}
		}
		want := [directions]int{rows * (columns - 1), (rows - 1) * columns, 0}
		if corners {
			want[Diagonal] = 2 * (rows - 1) * (columns - 1)
		}
		if count != want {
			t.Errorf("corners %v: %v edges by direction, expected %v", corners, count, want)
		}
	}
}

// Borders by comparing all pairs of pixels.
func TestBorders(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m := blotched(rapid.IntRange(1, 7).Draw(t, "width"), rapid.IntRange(1, 7).Draw(t, "height"), 60,
			rapid.Uint64().Draw(t, "seed"))
		of := make([]int32, m.Width*m.Height)
		for i := range of {
			of[i] = int32(rapid.IntRange(0, 4).Draw(t, "region"))
		}
		p, corners := numbered(m.Width, m.Height, of), rapid.Bool().Draw(t, "corners")
		type sums struct {
			pairs    [2]int
			distance [2]float64
		}
		want := map[[2]int32]*sums{}
		for i := range p.Of {
			for j := range i {
				a, b := min(p.Of[i], p.Of[j]), max(p.Of[i], p.Of[j])
				dx, dy := i%m.Width-j%m.Width, i/m.Width-j/m.Width
				kind := dx*dx + dy*dy - 1
				if a == b || kind > 1 || kind == 1 && !corners {
					continue
				}
				if want[[2]int32{a, b}] == nil {
					want[[2]int32{a, b}] = new(sums)
				}
				s, d := want[[2]int32{a, b}], 0.0
				for c := range 3 {
					d += math.Pow(float64(m.Pixels[3*i+c])/255-float64(m.Pixels[3*j+c])/255, 2)
				}
				s.pairs[kind]++
				s.distance[kind] += math.Sqrt(d)
			}
		}
		got := Borders(m, p, corners)
		if len(got) != len(want) {
			t.Fatalf("%d borders, expected %d", len(got), len(want))
		}
		for _, b := range got {
			s := want[[2]int32{min(b.Ends[0], b.Ends[1]), max(b.Ends[0], b.Ends[1])}]
			kind := 0
			if s == nil || b.Length != s.pairs[0] {
				t.Fatalf("border %+v, expected %+v", b, s)
			}
			if b.Length == 0 {
				kind = 1
			}
			if mean := s.distance[kind] / float64(s.pairs[kind]); math.Abs(mean-float64(b.Strength)) > 1e-5 {
				t.Fatalf("border %+v, expected strength %v", b, mean)
			}
			from, to := p.Centres()[b.Ends[0]], p.Centres()[b.Ends[1]]
			angle := math.Abs(math.Atan2(to[1]-from[1], to[0]-from[0])) * 180 / math.Pi
			if near := func(at float64) bool { return math.Abs(angle-at) < 22.6 }; from != to {
				ok := map[Direction]bool{Horizontal: near(0), Vertical: near(90), Diagonal: !near(0) && !near(180) && !near(90) ||
					near(22.5) || near(67.5) || near(112.5) || near(157.5)}
				if !ok[b.Direction] || b.Direction != Horizontal && to[1] < from[1] {
					t.Fatalf("an edge of %v degrees has direction %v", angle, b.Direction)
				}
			}
		}
	})
}

func TestFeatures(t *testing.T) {
	m := blotched(40, 32, 10, 3)
	p := Grid(m.Width, m.Height, 8)
	borders := Borders(m, p, true)
	f := Features(nil, m, p, borders)
	if len(f) != p.Count*Dim {
		t.Fatalf("%d features", len(f))
	}
	near := func(x float32, y float64) bool { return math.Abs(float64(x)-y) < 1e-5 }
	at := func(r, k int) float64 { return float64(f[r*Dim+k]) }
	if want := (at(1, 1) + at(5, 1) + at(6, 1)) / 3; !near(f[images.CellFeatures+1], want) { // the corner's neighbours
		t.Errorf("mean green of the first cell's neighbours is %v, expected %v", f[images.CellFeatures+1], want)
	}
	last := p.Count - 1 // in rows of five
	if want := (at(last-1, 1) + at(last-5, 1) + at(last-6, 1)) / 3; !near(f[last*Dim+images.CellFeatures+1], want) {
		t.Errorf("mean green of the last cell's neighbours is %v, expected %v", f[last*Dim+images.CellFeatures+1], want)
	}
	e := EdgeFeatures(nil, f, p, borders)
	colour := func(b Border) float64 {
		u, v := int(b.Ends[0]), int(b.Ends[1])
		return math.Pow(at(u, 0)-at(v, 0), 2) + math.Pow(at(u, 1)-at(v, 1), 2) + math.Pow(at(u, 2)-at(v, 2), 2)
	}
	mean := 0.0
	for _, b := range borders {
		mean += colour(b) / float64(len(borders))
	}
	for k, b := range borders {
		x := e[k*EdgeDim:][:EdgeDim]
		if !near(x[0], math.Exp(-colour(b)/(2*mean))) || !near(x[2], float64(b.Length)/8) || x[3]+x[4]+x[5] != 1 ||
			x[3+b.Direction] != 1 || x[1] <= 0 || x[1] > 1 {
			t.Errorf("edge %+v has features %v", b, x)
		}
	}
	flat := &images.Image{Width: 16, Height: 8, Pixels: make([]uint8, 3*16*8)}
	p = Grid(16, 8, 8)
	borders = Borders(flat, p, false)
	if e := EdgeFeatures(nil, Features(nil, flat, p, borders), p, borders); !slices.Equal(e, []float32{1, 1, 1, 1, 0, 0}) {
		t.Errorf("an image of one colour has edges %v", e)
	}
	lone := Grid(8, 8, 100)
	if f := Features(nil, m, &Partition{Width: m.Width, Height: m.Height, Of: make([]int32, len(m.Pixels)/3), Count: 1},
		nil); f[images.CellFeatures] != f[0] || lone.Count != 1 {
		t.Errorf("a region without neighbours has neighbours of colour %v, expected its own, %v",
			f[images.CellFeatures], f[0])
	}
}

func TestCountAndPaint(t *testing.T) {
	p := Grid(4, 2, 2)
	mask := &masks.Mask{Width: 4, Height: 2, Labels: []uint8{0, 2, masks.Void, masks.Void, 2, 0, masks.Void, masks.Void}}
	counts := Count(p, mask)
	if !slices.Equal(counts.Index, []int32{0, 2}) || !slices.Equal(counts.Value, []float32{2, 2}) ||
		!slices.Equal(counts.Offsets, []int{0, 2, 2}) {
		t.Errorf("counts %+v", counts)
	}
	if l, n := Majority(counts.Row(0)); l != 0 || n != 4 {
		t.Errorf("majority %d of %v", l, n)
	}
	if l, n := Majority(counts.Row(1)); l != -1 || n != 0 {
		t.Errorf("majority %d of %v", l, n)
	}
	if got := p.Paint([]int32{3, -1}).Labels; !slices.Equal(got, []uint8{3, 3, 255, 255, 3, 3, 255, 255}) {
		t.Errorf("painted %v", got)
	}
	if got := p.Spread([]float32{1, 2}); !slices.Equal(got, []float32{1, 1, 2, 2, 1, 1, 2, 2}) {
		t.Errorf("spread %v", got)
	}
}

// The corners of sRGB, a grey, and dark colours, whose lightness is linear, in CIELAB, to two decimals.
func TestLab(t *testing.T) {
	for colour, want := range map[[3]uint8][3]float64{
		{0, 0, 0}: {0, 0, 0}, {255, 255, 255}: {100, 0, 0}, {255, 0, 0}: {53.24, 80.09, 67.20},
		{0, 255, 0}: {87.73, -86.18, 83.18}, {0, 0, 255}: {32.30, 79.19, -107.86}, {119, 119, 119}: {50.03, 0, 0},
		{10, 10, 10}: {2.74, 0, 0}, {10, 0, 0}: {0.58, 2.62, 0.92},
	} {
		got := newLab(colour[0], colour[1], colour[2])
		for k := range 3 {
			if math.Abs(float64(got[k])-want[k]) > 0.03 {
				t.Errorf("%v is %v, expected %v", colour, got, want)
			}
		}
	}
}
