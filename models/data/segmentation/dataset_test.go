package segmentation

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/dsp-go/dsp/models/data/masks"
	"github.com/dsp-go/dsp/models/data/regions"
	"github.com/dsp-go/dsp/structured"
	"github.com/dsp-go/dsp/structured/graphs"
	"github.com/dsp-go/dsp/structured/images"
)

// inMemory is a Source.
type inMemory []Example

func (s inMemory) Name() string                { return "memory" }
func (s inMemory) Len() int                    { return len(s) }
func (s inMemory) Masks() bool                 { return s[0].Mask != nil }
func (s inMemory) Load(i int) (Example, error) { return s[i], nil }

// random draws images with random masks, in which blocks of pixels are void.
func random(r *rand.Rand, n, labels int) (s inMemory) {
	for i := range n {
		m := &images.Image{Width: 5 + r.IntN(20), Height: 5 + r.IntN(20)}
		mask := masks.New(m.Width, m.Height)
		voidX, voidY := r.IntN(m.Width), r.IntN(m.Height)
		for k := range m.Width * m.Height {
			m.Pixels = append(m.Pixels, uint8(r.IntN(256)), uint8(r.IntN(256)), uint8(r.IntN(256)))
			if k%m.Width < voidX || k/m.Width < voidY {
				mask.Labels[k] = uint8(r.IntN(labels))
			}
		}
		s = append(s, Example{ID: fmt.Sprint(i), Image: m, Mask: mask, Place: fmt.Sprintf("mask %d", i)})
	}
	s[0].Mask.Labels[0] = uint8(labels - 1)
	return s
}

// The data against the definition: which regions are left, their labels and costs, the edges, and what an Evaluator
// makes of a labeling equals the comparison of masks pixel by pixel.
func TestRead(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		const labels = 3
		r := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 1))
		source := random(r, 3, labels)
		c := Reader{Division: Division{Cell: 1 + r.IntN(6), Compactness: 10, Neighbours: 4 + 4*r.IntN(2)},
			Threads: 1 + r.IntN(2)}
		if r.IntN(2) == 0 {
			c.Superpixels = 1 + r.IntN(30)
		}
		d, err := c.Read(context.Background(), source)
		if err != nil {
			t.Fatal(err)
		}
		c.All = true
		all, err := c.Read(context.Background(), source)
		if err != nil {
			t.Fatal(err)
		}
		names := structured.NewAlphabet("0", "1", "2")
		if !slices.Equal(d.Alphabet.Names(), names.Names()) || d.Dim != regions.Dim ||
			d.Table(graphs.EdgeRows).Dim != regions.EdgeDim {
			t.Fatalf("labels %v, %d features", d.Alphabet.Names(), d.Dim)
		}
		kept, keptAll, direct := graphs.NewEvaluator(names), graphs.NewEvaluator(names), graphs.NewEvaluator(names)
		costs, v, perPixel := 0.0, 0, 0.0
		for i, e := range source {
			p := c.partition(e.Image)
			if all.Length(i) != p.Count || d.ID(i) != e.ID {
				t.Fatalf("example %d has %d variables, expected %d", i, all.Length(i), p.Count)
			}
			if edges := regions.Borders(e.Image, p, c.Neighbours == 8); !reflect.DeepEqual(all.Graphs[i].Ends,
				regions.Graph(edges).Ends) {
				t.Fatalf("%d neighbours: edges %v, expected %v", c.Neighbours, all.Graphs[i].Ends, edges)
			}
			counts := make([][labels]int, p.Count)
			y := make([]int32, p.Count)
			for k, region := range p.Of {
				if l := e.Mask.Labels[k]; l != masks.Void {
					counts[region][l]++
				}
			}
			var number, yKept []int32 // of the regions with a label
			for region := range y {
				y[region] = int32(r.IntN(labels))
				most, sum := 0, 0
				for l, n := range counts[region] {
					if sum += n; n > counts[region][most] {
						most = l
					}
				}
				at := all.Offsets[i] + region
				if sum == 0 {
					if number = append(number, -1); all.Labels[at] != -1 || all.Costs[at] != 0 {
						t.Fatalf("region %d without labels has label %d and costs %v", region, all.Labels[at], all.Costs[at])
					}
					continue
				}
				number, yKept = append(number, int32(v-d.Offsets[i])), append(yKept, y[region])
				if d.Labels[v] != int32(most) || all.Labels[at] != int32(most) || d.Costs[v] != all.Costs[at] || d.Costs[v] <= 0 {
					t.Fatalf("region %d has label %d and costs %v, expected %d of %v", region, d.Labels[v],
						d.Costs[v], most, counts[region])
				}
				if !slices.Equal(d.Features[v*d.Dim:(v+1)*d.Dim], all.Features[at*d.Dim:(at+1)*d.Dim]) {
					t.Fatalf("region %d has other features", region)
				}
				if perPixel == 0 {
					perPixel = float64(d.Costs[v]) / float64(sum)
				}
				if math.Abs(float64(d.Costs[v])-perPixel*float64(sum)) > 1e-4 {
					t.Fatalf("region %d of %d labelled pixels costs %v, expected %v per pixel", region, sum, d.Costs[v], perPixel)
				}
				costs += float64(d.Costs[v])
				v++
			}
			var ends [][2]int32
			for _, end := range all.Graphs[i].Ends {
				if a, b := number[end[0]], number[end[1]]; a >= 0 && b >= 0 {
					ends = append(ends, [2]int32{a, b})
				}
			}
			if !slices.Equal(ends, d.Graphs[i].Ends) || len(ends) != d.Tables[0].Offsets[i+1]-d.Tables[0].Offsets[i] {
				t.Fatalf("edges %v, expected %v", d.Graphs[i].Ends, ends)
			}
			kept.Add(d, i, yKept)
			keptAll.Add(all, i, y)
			painted := p.Paint(y)
			for k, l := range e.Mask.Labels {
				if l != masks.Void {
					direct.AddCount(int32(l), int32(painted.Labels[k]), 1)
				}
			}
		}
		if v != d.Positions() || math.Abs(costs/float64(v)-1) > 1e-4 {
			t.Fatalf("%d variables, costs %v on average", d.Positions(), costs/float64(v))
		}
		if kept.Table() != direct.Table() || keptAll.Table() != direct.Table() {
			t.Fatalf("the data is evaluated as\n%s, or\n%s, the masks as\n%s", kept.Table(), keptAll.Table(), direct.Table())
		}
	})
}

// Costs are in proportion to the labelled pixels.
func TestCosts(t *testing.T) {
	mask := masks.New(16, 8)
	for k := range mask.Labels {
		if k%16 < 8 || k < 32 {
			mask.Labels[k] = 1
		}
	}
	m := &images.Image{Width: 16, Height: 8, Pixels: make([]uint8, 3*16*8)}
	d, err := Reader{Division: DefaultDivision()}.Read(context.Background(), inMemory{{"a", m, mask, "a.png"}})
	if err != nil || !reflect.DeepEqual(d.Costs, []float32{64. / 40, 16. / 40}) || d.CostRows != structured.Positions ||
		!slices.Equal(d.Labels, []int32{1, 1}) {
		t.Errorf("%v, costs %v", err, d.Costs)
	}
	bare, err := Reader{Division: DefaultDivision()}.Read(context.Background(), inMemory{{"a", m, nil, "a.png"}})
	if err != nil || bare.Labels != nil || bare.Costs != nil || bare.Positions() != 2 || len(bare.Tables) != 1 {
		t.Errorf("without a mask: %v, %+v", err, bare)
	}
}

// Patches are other inputs of the same graphs, alone or with features after them.
func TestPatches(t *testing.T) {
	source := random(rand.New(rand.NewPCG(5, 1)), 3, 2)
	c := Reader{Division: DefaultDivision(), All: true}
	read := func(in Inputs) *structured.Dataset {
		t.Helper()
		c.Inputs = in
		d, err := c.Read(context.Background(), source)
		if err != nil {
			t.Fatal(err)
		}
		return d
	}
	features := read(Inputs{})
	for _, in := range []Inputs{{Patch: 24}, {Patch: 24, Context: 3, Both: true}, {Patch: 6, Context: 1.5}} {
		d := read(in)
		if d.Dim != in.Dim() || d.Features != nil || !slices.Equal(d.Labels, features.Labels) ||
			!reflect.DeepEqual(d.Tables, features.Tables) || !reflect.DeepEqual(d.Graphs, features.Graphs) {
			t.Errorf("%+v: other graphs", in)
		}
		all := make([]float32, d.Positions()*d.Dim)
		if err := d.Source.Read(all, 0, d.Positions()); err != nil {
			t.Fatal(err)
		}
		for v := range d.Positions() {
			row := all[v*d.Dim:][:d.Dim]
			if in.Both && !slices.Equal(row[in.patchDim():], features.Features[v*regions.Dim:(v+1)*regions.Dim]) {
				t.Fatalf("%+v: other features of region %d", in, v)
			}
		}
		if m := source[0].Image; in.Patch == 24 { // 8 pixels around each cell: the images are not resized
			p := c.partition(m)
			for r, centre := range p.Centres() {
				x, y := min(int(centre[0]+1), m.Width-1), min(int(centre[1]+1), m.Height-1)
				for k := range 3 {
					if got, want := all[r*d.Dim+3*(12*24+12)+k], float32(m.Pixels[3*(y*m.Width+x)+k])/64-2; got != want {
						t.Fatalf("colour %d of the middle of region %d is %v, expected %v", k, r, got, want)
					}
				}
			}
		}
	}
	for _, bad := range []Inputs{{Patch: -1}, {Patch: 5, Context: -1}, {Patch: 5, Context: math.NaN()},
		{Patch: 1024, Context: 0.001}} {
		c.Inputs = bad
		if _, err := c.Read(context.Background(), source); !structured.IsBadInput(err) {
			t.Errorf("%+v: %v", bad, err)
		}
	}
}

// Regions without a labelled pixel are left out of patches, too.
func TestPatchesWithoutUnknown(t *testing.T) {
	source := random(rand.New(rand.NewPCG(6, 1)), 2, 2)
	for k := range 40 {
		clearCell(source[0], k%8, k/8)
	}
	whole, err := Reader{Division: DefaultDivision(), All: true,
		Inputs: Inputs{Patch: 6, Both: true}}.Read(context.Background(), source)
	if err != nil {
		t.Fatal(err)
	}
	known, err := Reader{Division: DefaultDivision(), Inputs: Inputs{Patch: 6, Both: true}}.Read(context.Background(),
		source)
	if err != nil {
		t.Fatal(err)
	}
	if known.Positions() >= whole.Positions() {
		t.Fatalf("%d of %d regions are known", known.Positions(), whole.Positions())
	}
	at := 0
	a, b := make([]float32, known.Dim), make([]float32, whole.Dim)
	for v, l := range whole.Labels {
		if l < 0 {
			continue
		}
		if known.Source.Read(a, at, at+1) != nil || whole.Source.Read(b, v, v+1) != nil || !slices.Equal(a, b) {
			t.Fatalf("region %d has other inputs", v)
		}
		at++
	}
}

// clearCell makes a pixel block of a mask void.
func clearCell(e Example, column, row int) {
	for y := row * 8; y < min(row*8+8, e.Mask.Height); y++ {
		for x := column * 8; x < min(column*8+8, e.Mask.Width); x++ {
			e.Mask.Labels[y*e.Mask.Width+x] = masks.Void
		}
	}
}

func TestBadData(t *testing.T) {
	m := &images.Image{Width: 4, Height: 4, Pixels: make([]uint8, 3*16)}
	mask := masks.New(4, 4)
	for want, c := range map[string]struct {
		reader Reader
		label  uint8
	}{
		"a.png: the pixel at x 2, y 1 has label 3, expected 0 to 1 (a, b: labels.txt) or 255, void": {
			Reader{Labels: structured.NewAlphabet("a", "b"), Where: "labels.txt"}, 3},
		"a.png: the pixel at x 2, y 1 has label 2, expected 0 to 1 (a, b: the known labels) or 255, void": {
			Reader{Labels: structured.NewAlphabet("a", "b")}, 2},
		"memory: all pixels of all masks are void": {Reader{},
			masks.Void},
	} {
		mask.Labels[6] = c.label
		c.reader.Division = DefaultDivision()
		if _, err := c.reader.Read(context.Background(), inMemory{{"a", m, mask, "a.png"}}); !structured.IsBadInput(err) ||
			!strings.HasPrefix(err.Error(), want) {
			t.Errorf("%v, expected %s", err, want)
		}
	}
	for _, d := range []Division{{Cell: 0, Neighbours: 4}, {Cell: 1, Neighbours: 6}, {Superpixels: -1, Neighbours: 4},
		{Superpixels: 9, Neighbours: 4}, {Superpixels: 9, Neighbours: 4, Compactness: math.NaN()}} {
		if _, err := (Reader{Division: d}).Read(context.Background(),
			inMemory{{"a", m, mask, "a.png"}}); !structured.IsBadInput(err) {
			t.Errorf("%+v: %v", d, err)
		}
	}
}

func BenchmarkRead(b *testing.B) {
	source := random(rand.New(rand.NewPCG(1, 1)), 20, 4)
	for b.Loop() {
		if _, err := (Reader{Division: DefaultDivision()}).Read(context.Background(), source); err != nil {
			b.Fatal(err)
		}
	}
}
