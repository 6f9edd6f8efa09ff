package structured

import (
	"reflect"
	"testing"
)

func TestBatch(t *testing.T) {
	d := &Dataset{Name: "x", Offsets: []int{0, 2, 2, 5}, Labels: []int32{0, 1, 2, 3, 4}, Weights: []float64{1, 2, 3}}
	var b Batch
	for range 2 { // the second time with reused memory
		b.Reset(d, []int{2, 1, 0, 2})
		if !reflect.DeepEqual(b.Offsets, []int{0, 3, 3, 5, 8}) || b.Len() != 4 || b.Positions() != 8 ||
			!reflect.DeepEqual(b.Gold(3), []int32{2, 3, 4}) || len(b.Gold(1)) != 0 {
			t.Errorf("got %+v", b)
		}
	}
	if d.Weight(2) != 3 || d.Where(1) != "x, example 1" || d.ID(2) != "2" || d.Len() != 3 || (&Dataset{}).Len() != 0 {
		t.Error("the data set's accessors")
	}
	s := d.Subset([]int{2, 1, 2})
	if !reflect.DeepEqual(s.Offsets, []int{0, 3, 3, 6}) || !reflect.DeepEqual(s.Labels, []int32{2, 3, 4, 2, 3, 4}) ||
		!reflect.DeepEqual(s.Weights, []float64{3, 2, 3}) || s.Features != nil || s.IDs != nil {
		t.Errorf("subset %+v", s)
	}
	if none := d.Subset(nil); none.Len() != 0 || none.Labels == nil {
		t.Errorf("empty subset %+v", none)
	}
}
