package structured

import (
	"reflect"
	"strconv"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// An alphabet behaves like a map with a list.
func TestAlphabetActsLikeMapAndList(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var a Alphabet
		var names []string
		numbers := map[string]int32{}
		for _, name := range rapid.SliceOf(rapid.StringMatching(`[ab]{0,4}`)).Draw(t, "names") {
			known, ok := numbers[name]
			if !ok {
				known = -1
			}
			if a.Index(name) != known || a.IndexBytes([]byte(name)) != known {
				t.Fatalf("%q is %d and %d, want %d", name, a.Index(name), a.IndexBytes([]byte(name)), known)
			}
			if !ok {
				known = int32(len(names))
				numbers[name] = known
				names = append(names, name)
			}
			add := a.Add
			if rapid.Bool().Draw(t, "bytes") {
				add = func(name string) int32 {
					b := []byte(name)
					defer clear(b) // the alphabet keeps a copy
					return a.AddBytes(b)
				}
			}
			if got := add(name); got != known {
				t.Fatalf("%q has number %d, want %d", name, got, known)
			}
		}
		if a.Len() != len(names) {
			t.Fatalf("%d names, want %d", a.Len(), len(names))
		}
		b := NewAlphabet(names...)
		for k, name := range names {
			if a.Name(int32(k)) != name || b.Index(name) != int32(k) || a.Index(name) != int32(k) {
				t.Fatalf("%d is %q, want %q", k, a.Name(int32(k)), name)
			}
		}
		for at, k := range a.table {
			if len(b.table) > 0 && b.table[at] != k {
				t.Fatal("the table depends on how the names were added")
			}
		}
	})
}

func TestAlphabet(t *testing.T) {
	a := NewAlphabet("x", "y", "x")
	if a.Len() != 2 || a.Add("z") != 2 || a.Add("y") != 1 || a.Index("q") != -1 || a.Name(2) != "z" ||
		!reflect.DeepEqual(a.Names(), []string{"x", "y", "z"}) {
		t.Errorf("got %+v", a)
	}
	var zero Alphabet
	if zero.Index("x") != -1 || zero.Add("x") != 0 {
		t.Error("the zero value is not an empty alphabet")
	}
}

// Messages list up to 40 names, and say how many there are if there are more. Names with blanks can be told apart.
func TestSomeOf(t *testing.T) {
	names := strings.Fields(strings.Repeat("x ", 41))
	if got, want := SomeOf(names[:40]), strings.Join(names[:40], ", "); got != want {
		t.Errorf("40 names: %s", got)
	}
	if got, want := SomeOf(names), strings.Join(names[:40], ", ")+" … (41)"; got != want {
		t.Errorf("41 names: %s", got)
	}
	for _, c := range []struct {
		names []string
		want  string
	}{
		{[]string{"ladybird", "traffic light", "bus"}, `ladybird, "traffic light", bus`},
		{[]string{"ladybird beetle"}, `"ladybird beetle"`},
		{[]string{"a\u00a0b", "\t", "", "\u3000x"}, `"a\u00a0b", "\t", "", "\u3000x"`},
		{[]string{",", "``", "a,b", "ladybird", "beetle"}, "\",\", ``, \"a,b\", ladybird, beetle"},
		{nil, ""},
	} {
		if got := SomeOf(c.names); got != c.want {
			t.Errorf("%q: %s, expected %s", c.names, got, c.want)
		}
	}
}

// An alphabet of hashes finds the names that it had, and shows none of them.
func TestAlphabetHash(t *testing.T) {
	a := NewAlphabet("w[0]=Ada", "", "w[0]=Bob")
	if err := a.Hash("salt"); err != nil || !a.Hashed() {
		t.Fatal(err)
	}
	for name, want := range map[string]int32{"w[0]=Ada": 0, "": 1, "w[0]=Bob": 2, "w[0]=Eve": -1, a.Name(0): -1} {
		z := []int32{-2}
		a.IndexAll([]string{name}, z)
		if x, y := a.Index(name), a.IndexBytes([]byte(name)); x != want || y != want || z[0] != want {
			t.Errorf("%q: %d, %d and %d, want %d", name, x, y, z[0], want)
		}
	}
	read := NewAlphabet(a.Names()...)
	read.HashedBy("salt")
	other := NewAlphabet("w[0]=Ada")
	if err := other.Hash("other salt"); err != nil || other.Name(0) == a.Name(0) || read.Index("w[0]=Bob") != 2 ||
		a.Clone().Index("w[0]=Bob") != 2 {
		t.Errorf("%v, %q and %q", err, a.Names(), other.Names())
	}
}

// Names with the same hash cannot be told apart.
func TestAlphabetHashCollides(t *testing.T) {
	a := NewAlphabet("Ada", "Bob", "Abe")
	err := a.hash("salt", func(_, name string) string { return name[:1] })
	if err == nil || !strings.Contains(err.Error(), `"Ada" and "Abe"`) || a.Hashed() || a.Index("Bob") != 1 {
		t.Errorf("%v", err)
	}
}

// IndexAll finds what Index finds, in empty, small and large alphabets.
func TestIndexAll(t *testing.T) {
	for _, n := range []int{0, 1, 5, 5000} {
		var a Alphabet
		var names []string
		for k := range n {
			name := strconv.Itoa(k * k)
			a.Add(name)
			names = append(names, name, strconv.Itoa(-1-k), name)
		}
		names = append(names, "", "lacks")
		to := make([]int32, len(names))
		a.IndexAll(names, to)
		for k, name := range names {
			if want := a.Index(name); to[k] != want {
				t.Fatalf("%d names: %q is %d, expected %d", n, name, to[k], want)
			}
		}
	}
}
