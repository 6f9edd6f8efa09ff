package arrays

import (
	"bytes"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/dsp-go/dsp/structured"
	"github.com/dsp-go/dsp/structured/boxes"
)

func TestWriteCandidates(t *testing.T) {
	for _, half := range []bool{false, true} {
		for _, shape := range [][]int{{12}, {3, 2, 2}} {
			want := &Candidates{
				Offsets: []int{0, 3, 4}, Sizes: [][2]int{{10, 12}, {7, 8}}, IDs: []string{"a", "b"},
				Boxes: []boxes.Box{{Width: 1, Height: 2}, {X: 1, Width: 1, Height: 2}, {Y: 2.5, Width: 1, Height: 2},
					{Width: 7, Height: 8}},
				Gold: []boxes.Box{{Width: 1, Height: 2}, {X: 1, Width: 1, Height: 2}},
			}
			features := func(image int, dst []float32) error {
				for k := range dst {
					dst[k] = float32(100*image+k) / 8
				}
				return nil
			}
			var b bytes.Buffer
			if err := (CandidateWriter{Shape: shape, Half: half, Features: features}).Write(&b, want); err != nil {
				t.Fatal(err)
			}
			got, err := CandidateReader{Shape: shape}.Open(inFile(t, b.Bytes()))
			if err != nil {
				t.Fatal(err)
			}
			bytesWanted := int64(4 * 12 * 4)
			if half {
				bytesWanted /= 2
			}
			if !reflect.DeepEqual(got.Boxes, want.Boxes) || !reflect.DeepEqual(got.Gold, want.Gold) ||
				!slices.Equal(got.Offsets, want.Offsets) ||
				!reflect.DeepEqual(got.Sizes, want.Sizes) || !slices.Equal(got.IDs, want.IDs) ||
				got.Features.Bytes() != bytesWanted || got.Features.packed {
				t.Errorf("got %+v, expected %+v", got, want)
			}
			for image := range 2 {
				from, to := got.Offsets[image], got.Offsets[image+1]
				have, expected := make([]float32, (to-from)*12), make([]float32, (to-from)*12)
				if err := features(image, expected); err != nil {
					t.Fatal(err)
				}
				if err := got.Features.Read(have, from, to); err != nil || !slices.Equal(have, expected) {
					t.Errorf("%v: features %v, expected %v", err, have, expected)
				}
			}
			if err := got.Close(); err != nil {
				t.Error(err)
			}
		}
	}
	large := func(image int, dst []float32) error { dst[0] = 1e5; return nil }
	one := &Candidates{Offsets: []int{0, 1}, Sizes: [][2]int{{1, 1}}, Boxes: make([]boxes.Box, 1)}
	err := CandidateWriter{Shape: []int{1}, Half: true, Features: large}.Write(new(bytes.Buffer), one)
	if !structured.IsBadInput(err) || !strings.Contains(err.Error(), "image 0: a feature is 100000") {
		t.Error(err)
	}
}
