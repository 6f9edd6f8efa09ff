package structured_test

import (
	"fmt"
	"reflect"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/dsp-go/dsp/models/data/text"
	"github.com/dsp-go/dsp/structured"
)

// Narrowing a part of a file gives the same as reading that part alone; other parts follow the dictionary of the first.
func TestNarrowEqualsReadingAPart(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(2, 8).Draw(t, "sequences")
		minCount := rapid.IntRange(1, 3).Draw(t, "minimum")
		var texts []string
		for range n {
			var b strings.Builder
			for range rapid.IntRange(1, 4).Draw(t, "items") {
				b.WriteString(rapid.SampledFrom([]string{"X", "Y"}).Draw(t, "label"))
				for range rapid.IntRange(0, 4).Draw(t, "attributes") {
					fmt.Fprintf(&b, "\ta%d:%d", rapid.IntRange(0, 9).Draw(t, "name"), rapid.IntRange(1, 3).Draw(t, "value"))
				}
				b.WriteByte('\n')
			}
			texts = append(texts, b.String())
		}
		labels := structured.NewAlphabet("X", "Y")
		read := func(dictionary *structured.Dictionary, minCount int, texts ...string) *structured.Dataset {
			d, err := text.CRFsuite{Alphabet: labels, Dictionary: dictionary, MinCount: minCount, Threads: 1}.
				Read(strings.NewReader(strings.Join(texts, "\n")), "x")
			if err != nil {
				t.Fatal(err)
			}
			return d
		}
		k := rapid.IntRange(1, n-1).Draw(t, "part")
		var head, tail []int
		for i := range n {
			if i < k {
				head = append(head, i)
			} else {
				tail = append(tail, i)
			}
		}
		all := read(nil, minCount, texts...) // attributes that are rare in the whole are rare in a part, too
		train, dev := all.Subset(head), all.Subset(tail)
		structured.Narrow(minCount, train, dev)
		wantTrain := read(nil, minCount, texts[:k]...)
		wantDev := read(wantTrain.Dictionary, 0, texts[k:]...)
		if !reflect.DeepEqual(train.Dictionary.Node.Names(), wantTrain.Dictionary.Node.Names()) ||
			dev.Dictionary != train.Dictionary {
			t.Fatalf("names %q, want %q", train.Dictionary.Node.Names(), wantTrain.Dictionary.Node.Names())
		}
		for _, c := range []struct{ got, want *structured.Dataset }{{train, wantTrain}, {dev, wantDev}} {
			for p := range c.want.Positions() {
				gotIndex, gotValue := c.got.Attributes.Row(p)
				wantIndex, wantValue := c.want.Attributes.Row(p)
				if fmt.Sprint(gotIndex) != fmt.Sprint(wantIndex) ||
					fmt.Sprint(valuesOr1(gotValue, len(gotIndex))) != fmt.Sprint(valuesOr1(wantValue, len(wantIndex))) {
					t.Fatalf("position %d: %v %v, want %v %v", p, gotIndex, gotValue, wantIndex, wantValue)
				}
			}
		}
	})
}

// valuesOr1 returns values, or n ones if it is nil.
func valuesOr1(values []float32, n int) []float32 {
	if values != nil {
		return values
	}
	values = make([]float32, n)
	for k := range values {
		values[k] = 1
	}
	return values
}

func TestNarrowLeavesHashesAlone(t *testing.T) {
	d, err := text.CRFsuite{HashBits: 4}.Read(strings.NewReader("X\ta\tb\n\nY\tc\n"), "x")
	if err != nil {
		t.Fatal(err)
	}
	part := d.Subset([]int{1})
	want := *part.Attributes
	structured.Narrow(1, part)
	if !reflect.DeepEqual(*part.Attributes, want) || part.Dictionary.Nodes() != 16 {
		t.Errorf("got %+v", part.Attributes)
	}
}

// Saved models depend on these numbers.
func TestHashAttribute(t *testing.T) {
	for _, test := range []struct {
		name string
		bits int
		want int32
	}{
		{"", 31, 2011697072}, {"U00:the", 20, 903131}, {"U00:the", 31, 1849613536}, {"U00:Zürich", 31, 1098336713},
	} {
		if got := structured.HashAttribute([]byte(test.name), test.bits); got != test.want {
			t.Errorf("%q in %d bits: %d, want %d", test.name, test.bits, got, test.want)
		}
	}
	const bits, n = 6, 64000
	var count [1 << bits]int
	for i := range n {
		count[structured.HashAttribute([]byte{'U', byte(i), byte(i >> 8)}, bits)]++
	}
	for bucket, c := range count {
		if c < n>>bits*8/10 || c > n>>bits*12/10 {
			t.Errorf("bucket %d has %d of %d names", bucket, c, n)
		}
	}
}
