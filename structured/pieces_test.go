package structured

import "testing"

// Pieces fit data with as many examples and words, and their numbers are below the limit.
func TestPiecesFit(t *testing.T) {
	good := func() *Pieces {
		return &Pieces{First: []int{0, 1, 2}, Offsets: []int{0, 3, 4}, Ids: []int32{0, 4, 2, 1},
			Words: [][2]int{{0, 1}, {1, 3}, {3, 4}}}
	}
	offsets := []int{0, 2, 3}
	if err := good().Check(offsets, 5); err != nil {
		t.Error(err)
	}
	for name, change := range map[string]func(p *Pieces){
		"examples": func(p *Pieces) { p.First = p.First[:2] }, "sequences": func(p *Pieces) { p.First[2] = 1 },
		"pieces": func(p *Pieces) { p.Ids = p.Ids[:3] }, "words": func(p *Pieces) { p.Words = p.Words[:2] },
		"a number":          func(p *Pieces) { p.Ids[0] = 5 },
		"a negative number": func(p *Pieces) { p.Ids[0] = -1 },
	} {
		p := good()
		if change(p); p.Check(offsets, 5) == nil {
			t.Errorf("other %s are taken", name)
		}
	}
}
