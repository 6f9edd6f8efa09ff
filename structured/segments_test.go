package structured

import (
	"reflect"
	"testing"
)

// A subset has the characters of its examples' words, in their order.
func TestSubsetOfCharacters(t *testing.T) {
	vocab := NewAlphabet("a", "b", "c")
	d := &Dataset{Offsets: []int{0, 2, 2, 3}, Characters: &Segments{Offsets: []int{0, 2, 2, 5}, Ids: []int32{0, 1, 2, 2, 0}, Vocab: vocab}}
	s := d.Subset([]int{2, 1, 0}).Characters
	if !reflect.DeepEqual(s, &Segments{Offsets: []int{0, 3, 5, 5}, Ids: []int32{2, 2, 0, 0, 1}, Vocab: vocab}) {
		t.Errorf("got %+v", s)
	}
	if d.Characters.Rows(0, 2) != 2 || d.Characters.Rows(2, 3) != 3 {
		t.Error("rows of positions")
	}
	if d.Characters = nil; d.Subset([]int{0}).Characters != nil {
		t.Error("characters from nowhere")
	}
}
