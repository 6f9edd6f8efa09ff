package text

import (
	"reflect"
	"strings"
	"testing"

	"github.com/dsp-go/dsp/structured"
)

// Characters are numbered from frequent to rare, those that are rare or new as unknown ones; a word may be of any
// length.
func TestCharacters(t *testing.T) {
	read := func(text string) *structured.Dataset {
		d, err := Conll{}.Read(strings.NewReader(text), "x")
		if err != nil {
			t.Fatal(err)
		}
		return d
	}
	train := read("aBa O\nb O\n\nßa O\n")
	all, err := BuildCharacters(train, 1, structured.Peers{})
	if err != nil || !reflect.DeepEqual(all.Names(), []string{Unknown, "a", "B", "b", "ß"}) {
		t.Fatalf("%q, %v", all.Names(), err)
	}
	frequent, err := BuildCharacters(train, 2, structured.Peers{})
	if err != nil || !reflect.DeepEqual(frequent.Names(), []string{Unknown, "a"}) {
		t.Errorf("seen twice: %q, %v", frequent.Names(), err)
	}
	long := strings.Repeat("a", 20) + strings.Repeat("b", 200) + strings.Repeat("ß", 20)
	d := read("b日B O\n\xff O\n\n" + long + " O\n")
	if err := EncodeCharacters(d, all); err != nil {
		t.Fatal(err)
	}
	c := d.Characters
	if !reflect.DeepEqual(c.Offsets, []int{0, 3, 4, 4 + longestWord}) ||
		!reflect.DeepEqual(c.Ids[:4], []int32{3, 0, 2, 0}) || c.Vocab != all {
		t.Errorf("%v: %v", c.Offsets, c.Ids)
	}
	for k, id := range c.Ids[4:] { // the ends of the long word
		if want := map[bool]int32{true: 1, false: 4}[k < longestWord/2]; id != want {
			t.Errorf("character %d of the long word is number %d, expected %d", k, id, want)
		}
	}
	d.Columns[0][0] = ""
	if err := EncodeCharacters(d, all); err != nil || d.Characters.Offsets[1] != 0 {
		t.Errorf("an empty word: %v, %v", d.Characters.Offsets, err)
	}
	d.ColumnNames[0] = "form"
	_, err1 := BuildCharacters(d, 1, structured.Peers{})
	err2 := EncodeCharacters(d, all)
	for _, err := range []error{err1, err2} {
		if err == nil || !structured.IsBadInput(err) || !strings.Contains(err.Error(), "column named word") {
			t.Error(err)
		}
	}
}
