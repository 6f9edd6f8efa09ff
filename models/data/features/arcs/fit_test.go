package arcs

import (
	"reflect"
	"slices"
	"testing"

	"github.com/dsp-go/dsp/models/data/features/templates"
	"github.com/dsp-go/dsp/structured"
)

// Saved models contain hashes, so they must never change.
func TestHashesNeverChange(t *testing.T) {
	data := table("She/PRON/Case=Nom saw/VERB/_ us/PRON/Case=Acc")
	template := mustParse(t, "AL* %lower[h,word],%x[d,upos]\n"+
		"A b=%x[between,upos]%set[between,upos]%count:VERB[between,upos]%dir%dist")
	d, _ := fitted(t, template, data, []int{0, 3}, []int32{2, 0, 2}, templates.Options{})
	want := []uint64{
		0x17f1ed98067202b9, 0x2231bdeead38fcde, 0x4b2fdc3f42c57150, 0x5c640d4d6b3240fe,
		0x64c6cfb6f4e06f8b, 0x791f574318116f57, 0xdaeecd886065c8bb, 0xf0100e092e87877c, 0xf608d69cfca591fd,
	}
	if got := d.Arc.Hashes(); !reflect.DeepEqual(got, want) {
		t.Errorf("%#v, expected %#v", got, want)
	}
	// beyond both ends, by one word and by two
	marks := mustParse(t, "A %x[h-1,word]\nA %x[h+1,word]\nA %x[d-2,word]\nA %x[d+2,word]")
	d, _ = fitted(t, marks, data, []int{0, 3}, []int32{2, 0, 2}, templates.Options{})
	want = []uint64{
		0x5fdb40642c0e46f7, 0x6b5bb28098ff5683, 0x6cf2a02e1eda208d, 0x6fcba5a546a98694,
		0x84f9122163fae464, 0x86e4a3ce05c926a1, 0x9009db646a120c67, 0xa5960b556a388780,
		0xa6909dd79b7e21ee, 0xaebff2bce654b821, 0xbd81be7ec4329d3b, 0xdaa5d53eca4b06c3,
	}
	if got := d.Arc.Hashes(); !reflect.DeepEqual(got, want) {
		t.Errorf("%#v, expected %#v", got, want)
	}
}

func TestFitDoesNotDependOnThreads(t *testing.T) {
	data, offsets, heads := benchText(60)
	template := mustParse(t, Builtin())
	for _, minCount := range []int{0, 3} {
		want, err := template.Fit(data, offsets, heads, templates.Options{MinCount: minCount, Threads: 1})
		if err != nil {
			t.Fatal(err)
		}
		for _, threads := range []int{2, 7, 0} {
			got, err := template.Fit(data, offsets, heads, templates.Options{MinCount: minCount, Threads: threads})
			if err != nil {
				t.Fatal(err)
			}
			if !reflect.DeepEqual(got, want) {
				t.Errorf("%d threads give a different dictionary", threads)
			}
		}
		for _, memory := range []int{10_000, 100_000} { // many passes
			c := &census{template, data, offsets, heads, func(m *machine) *program { return &m.arc }, memory}
			got, err := c.count(templates.Options{MinCount: minCount, Threads: 2})
			if err != nil || !slices.Equal(got, want.Arc.Hashes()) {
				t.Errorf("passes of %d hashes give a different dictionary", memory)
			}
		}
	}
}

func TestBadOptions(t *testing.T) {
	data, offsets, heads := benchText(2)
	template := mustParse(t, "A %x[h,upos]")
	for _, o := range []templates.Options{{HashBits: -1}, {HashBits: 32}, {HashBits: 8, MinCount: 2}} {
		if _, err := template.Fit(data, offsets, heads, o); !structured.IsBadInput(err) {
			t.Errorf("%+v: %v", o, err)
		}
	}
	for _, head := range []int32{-1, 25} {
		bad := append([]int32(nil), heads...)
		bad[30] = head
		if _, err := template.Fit(data, offsets, bad, templates.Options{}); err == nil {
			t.Errorf("head %d of a sentence of 25 tokens is accepted", head)
		}
	}
	if _, err := template.Fit(data, offsets, heads[1:], templates.Options{}); err == nil {
		t.Errorf("a token without a head is accepted")
	}
	for _, bits := range []int{-1, 0, 32} {
		if _, err := HashedNumbers(bits); !structured.IsBadInput(err) {
			t.Errorf("%d bits: %v", bits, err)
		}
	}
	e := NewExtractor(template, &Dictionary{})
	if err := e.Open(data); err != nil {
		t.Fatal(err)
	}
	for _, tokens := range [][2]int{{-1, 3}, {3, 2}, {0, len(heads) + 1}} {
		if err := e.Extract(tokens[0], tokens[1], &Rows{}, nil); err == nil {
			t.Errorf("tokens %v are accepted", tokens)
		}
	}
}
