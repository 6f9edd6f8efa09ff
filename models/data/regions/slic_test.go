package regions

import (
	"reflect"
	"testing"

	"pgregory.net/rapid"

	"github.com/dsp-go/dsp/structured/images"
)

// Superpixels are connected, numbered by their first pixels, none is tiny, there are about as many as wanted, and the
// same each time.
func TestSLIC(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m := blotched(rapid.IntRange(1, 60).Draw(t, "width"), rapid.IntRange(1, 60).Draw(t, "height"),
			rapid.Float64Range(0, 60).Draw(t, "noise"), rapid.Uint64().Draw(t, "seed"))
		s := SLIC{Count: rapid.IntRange(1, 80).Draw(t, "count"),
			Compactness: rapid.Float64Range(1, 40).Draw(t, "compactness")}
		p := s.Partition(m)
		if !reflect.DeepEqual(p, numbered(m.Width, m.Height, components(m.Width, m.Height, p.Of).Of)) {
			t.Fatal("superpixels are not connected, or not numbered by their first pixels")
		}
		if !reflect.DeepEqual(p, s.Partition(m)) {
			t.Fatal("the same image has other superpixels")
		}
		n := m.Width * m.Height
		for r, size := range p.sizes() {
			if least := n / (8 * s.Count); size < 1 || size < least {
				t.Fatalf("superpixel %d has %d pixels, expected %d", r, size, least)
			}
		}
	})
}

func TestSLICCount(t *testing.T) {
	for _, count := range []int{10, 50, 200} {
		m := blotched(160, 120, 15, 7)
		if p := (SLIC{Count: count, Compactness: 10}).Partition(m); p.Count < count*6/10 || p.Count > count*14/10 {
			t.Errorf("%d superpixels, expected about %d", p.Count, count)
		}
	}
}

// Superpixels follow the outlines of an image, far better than cells do, and the more compact they are, the shorter are
// their borders.
func TestSLICFollowsOutlines(t *testing.T) {
	noisy, clean := blotched(160, 120, 12, 5), blotched(160, 120, 0, 5)
	mixed := func(p *Partition) (n int) { // pixels that are not of their region's most frequent colour
		counts := make([]map[[3]uint8]int, p.Count)
		for i, r := range p.Of {
			if counts[r] == nil {
				counts[r] = map[[3]uint8]int{}
			}
			counts[r][[3]uint8(clean.Pixels[3*i:3*i+3])]++
		}
		n = len(p.Of)
		for _, c := range counts {
			most := 0
			for _, k := range c {
				most = max(most, k)
			}
			n -= most
		}
		return n
	}
	border := func(p *Partition) (n int) {
		for _, b := range Borders(noisy, p, false) {
			n += b.Length
		}
		return n
	}
	grid, loose := Grid(160, 120, 10), SLIC{Count: 192, Compactness: 10}.Partition(noisy)
	compact := SLIC{Count: 192, Compactness: 40}.Partition(noisy)
	if got, cells := mixed(loose), mixed(grid); 3*got > cells {
		t.Errorf("superpixels mix %d pixels, cells %d", got, cells)
	}
	if a, b := border(compact), border(loose); a >= b {
		t.Errorf("compact superpixels have borders of %d pixels, loose ones of %d", a, b)
	}
}

// A part that is smaller than the limit joins the neighbour with the longest border.
func TestConnected(t *testing.T) {
	of := []int32{
		0, 0, 0, 0, 0, 1,
		0, 2, 2, 0, 1, 1,
		0, 2, 1, 1, 1, 1,
		0, 0, 0, 1, 1, 0,
	}
	m := &images.Image{Width: 6, Height: 4, Pixels: make([]uint8, 3*24)}
	want := []int32{
		0, 0, 0, 0, 0, 1,
		0, 0, 0, 0, 1, 1,
		0, 0, 1, 1, 1, 1,
		0, 0, 0, 1, 1, 1,
	}
	if p := connected(m, of, 4); p.Count != 2 || !reflect.DeepEqual(p.Of, want) {
		t.Errorf("%d regions: %v", p.Count, p.Of)
	}
}

func BenchmarkSLIC(b *testing.B) {
	m := blotched(500, 375, 15, 1)
	for b.Loop() {
		SLIC{Count: 500, Compactness: 10}.Partition(m)
	}
}

func BenchmarkGraph(b *testing.B) {
	m := blotched(500, 375, 15, 1)
	p := Grid(m.Width, m.Height, 8)
	for b.Loop() {
		borders := Borders(m, p, true)
		EdgeFeatures(nil, Features(nil, m, p, borders), p, borders)
	}
}
