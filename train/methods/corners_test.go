package methods

import (
	"slices"
	"testing"

	"github.com/dsp-go/dsp/structured"
	"github.com/dsp-go/dsp/train/traintest"
)

// A damaged checkpoint of outputs is refused; an intact one is restored as it was.
func TestDamagedCornersAreRefused(t *testing.T) {
	data := &structured.Dataset{Name: "two", Offsets: []int{0, 2, 3}, Labels: []int32{1, 0, 2}}
	c := newCorners(data)
	c.find(0, []int32{0, 0})
	saved := &traintest.Shelf{Values: map[string]any{}}
	c.archive(saved)
	saved.Restoring = true
	var again corners
	again.archive(saved)
	if err := again.fit(data); err != nil || len(again[0]) != 2 || !slices.Equal(again[0][1].labels, []int32{0, 0}) {
		t.Fatalf("restored %v: %v", again, err)
	}
	other := &structured.Dataset{Name: "other", Offsets: []int{0, 3, 4}, Labels: []int32{1, 0, 2, 2}}
	if err := again.fit(other); !structured.IsBadInput(err) {
		t.Errorf("of other data: %v", err)
	}
	for name, damage := range map[string]func(x []int32){
		"corners.counts":  func(x []int32) { x[0] = 7 },
		"corners.lengths": func(x []int32) { x[0] = -1 },
	} {
		damaged := &traintest.Shelf{Values: map[string]any{}}
		c.archive(damaged)
		damage(damaged.Values[name].([]int32))
		damaged.Restoring = true
		var broken corners
		broken.archive(damaged)
		if err := broken.fit(data); !structured.IsBadInput(err) {
			t.Errorf("%s damaged: %v", name, err)
		}
	}
}
