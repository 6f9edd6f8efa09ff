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

	"github.com/dsp-go/dsp/structured"
	"github.com/dsp-go/dsp/structured/graphs"
	"github.com/dsp-go/dsp/structured/graphs/masks"
	"github.com/dsp-go/dsp/structured/graphs/regions"
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

// The data against the definition: which regions are left, their labels and costs, the edges, and what an Evaluator makes of a labeling
// equals the comparison of masks pixel by pixel.
func TestRead(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		const labels = 3
		r := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 1))
		source := random(r, 3, labels)
		c := Reader{Division: Division{Cell: 1 + r.IntN(6), Compactness: 10, Neighbours: 4 + 4*r.IntN(2)}, Threads: 1 + r.IntN(2)}
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
		if !slices.Equal(d.Alphabet.Names(), names.Names()) || d.Dim != regions.Dim || d.Table(graphs.EdgeRows).Dim != regions.EdgeDim {
			t.Fatalf("labels %v, %d features", d.Alphabet.Names(), d.Dim)
		}
		kept, keptAll, direct := graphs.NewEvaluator(names), graphs.NewEvaluator(names), graphs.NewEvaluator(names)
		costs, v, perPixel := 0.0, 0, 0.0
		for i, e := range source {
			p := c.Partition(e.Image)
			if all.Length(i) != p.Count || d.ID(i) != e.ID {
				t.Fatalf("example %d has %d variables, expected %d", i, all.Length(i), p.Count)
			}
			if edges := regions.Borders(e.Image, p, c.Neighbours == 8); !reflect.DeepEqual(all.Graphs[i].Ends, regions.Graph(edges).Ends) {
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
					t.Fatalf("region %d has label %d and costs %v, expected %d of %v", region, d.Labels[v], d.Costs[v], most, counts[region])
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
	if err != nil || !reflect.DeepEqual(d.Costs, []float32{64. / 40, 16. / 40}) || d.CostRows != structured.Positions || !slices.Equal(d.Labels, []int32{1, 1}) {
		t.Errorf("%v, costs %v", err, d.Costs)
	}
	bare, err := Reader{Division: DefaultDivision()}.Read(context.Background(), inMemory{{"a", m, nil, "a.png"}})
	if err != nil || bare.Labels != nil || bare.Costs != nil || bare.Positions() != 2 || len(bare.Tables) != 1 {
		t.Errorf("without a mask: %v, %+v", err, bare)
	}
}

// Patches are other inputs of the same graphs.
func TestPatches(t *testing.T) {
	source := random(rand.New(rand.NewPCG(5, 1)), 3, 2)
	c := Reader{Division: DefaultDivision(), All: true}
	features, err := c.Read(context.Background(), source)
	if err != nil {
		t.Fatal(err)
	}
	c.Patch = 6
	patches, err := c.Read(context.Background(), source)
	if err != nil {
		t.Fatal(err)
	}
	if patches.Dim != 6*6*3 || len(patches.Features) != patches.Positions()*patches.Dim || !slices.Equal(patches.Labels, features.Labels) {
		t.Errorf("%d numbers for %d regions", len(patches.Features), patches.Positions())
	}
	if !reflect.DeepEqual(patches.Tables, features.Tables) || !reflect.DeepEqual(patches.Graphs, features.Graphs) {
		t.Error("other graphs")
	}
	p := c.Partition(source[0].Image)
	if first := regions.Patches(nil, source[0].Image, p, 6, 3); !slices.Equal(first, patches.Features[:len(first)]) {
		t.Error("other patches")
	}
	for _, bad := range []Reader{{Patch: -1, Division: c.Division}, {Patch: 5, Context: -1, Division: c.Division}} {
		if err := bad.Validate(); !structured.IsBadInput(err) {
			t.Errorf("%+v: %v", bad, err)
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
		"a.png: the pixel at x 2, y 1 has label 3, expected 0 to 1 (labels.txt) or 255, void":       {Reader{Labels: structured.NewAlphabet("a", "b"), Where: "labels.txt"}, 3},
		"a.png: the pixel at x 2, y 1 has label 2, expected 0 to 1 (the known labels) or 255, void": {Reader{Labels: structured.NewAlphabet("a", "b")}, 2},
		"memory: all pixels of all masks are void":                                                  {Reader{}, masks.Void},
	} {
		mask.Labels[6] = c.label
		c.reader.Division = DefaultDivision()
		if _, err := c.reader.Read(context.Background(), inMemory{{"a", m, mask, "a.png"}}); !structured.IsBadInput(err) || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%v, expected %s", err, want)
		}
	}
	for _, d := range []Division{{Cell: 0, Neighbours: 4}, {Cell: 1, Neighbours: 6}, {Superpixels: -1, Neighbours: 4}, {Superpixels: 9, Neighbours: 4}, {Superpixels: 9, Neighbours: 4, Compactness: math.NaN()}} {
		if _, err := (Reader{Division: d}).Read(context.Background(), inMemory{{"a", m, mask, "a.png"}}); !structured.IsBadInput(err) {
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
