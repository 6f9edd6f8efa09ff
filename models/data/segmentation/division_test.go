package segmentation

import (
	"strings"
	"testing"

	"github.com/dsp-go/dsp/models/data/regions"
	"github.com/dsp-go/dsp/structured"
	"github.com/dsp-go/dsp/structured/images"
)

// Cells and superpixels have bounds, which are named, and settings of the other kind do not matter.
func TestDivisions(t *testing.T) {
	if d := DefaultDivision(); d != (Division{Cell: 8, Compactness: 10, Neighbours: 4}) || d.Validate() != nil {
		t.Errorf("%+v", d)
	}
	for _, c := range []struct {
		d    Division
		want string
	}{
		{Division{Cell: 1, Neighbours: 8}, ""}, {Division{Cell: images.MaxPixels, Neighbours: 4}, ""},
		{Division{Superpixels: 1, Compactness: 1e4, Neighbours: 4}, ""},
		{Division{Superpixels: images.MaxPixels, Compactness: 0.1, Neighbours: 4}, ""},
		{Division{Cell: 0, Neighbours: 4}, "cells of 0 pixels a side, expected at least 1"},
		{Division{Cell: images.MaxPixels + 1, Neighbours: 4}, "cells of "},
		{Division{Cell: 8, Superpixels: -1, Neighbours: 4}, "-1 superpixels, expected 0 (cells) to "},
		{Division{Superpixels: images.MaxPixels + 1, Compactness: 1, Neighbours: 4}, "superpixels, expected"},
		{Division{Superpixels: 3, Neighbours: 4}, "superpixels of compactness 0, expected a number above 0 and up to 10000"},
		{Division{Superpixels: 3, Compactness: 10001, Neighbours: 4}, "superpixels of compactness 10001"},
		{Division{Cell: 8, Neighbours: 5}, "5 neighbours, expected 4 or 8"},
	} {
		if err := c.d.Validate(); (err == nil) != (c.want == "") || err != nil &&
			(!structured.IsBadInput(err) || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("%+v: %v, expected %q", c.d, err, c.want)
		}
	}
	// Regions are at most as many as MostRegions says, for any size of an image.
	for width := 1; width < 20; width++ {
		for height := 1; height < 20; height += 3 {
			m := &images.Image{Width: width, Height: height, Pixels: make([]uint8, 3*width*height)}
			for _, d := range []Division{{Cell: 1}, {Cell: 3}, {Cell: 8}, {Superpixels: 5, Compactness: 10},
				{Superpixels: 1000, Compactness: 10}} {
				if n, most := d.partition(m).Count, d.MostRegions(width, height); n > most {
					t.Errorf("%d by %d pixels have %d regions, expected at most %d by %+v", width, height, n, most, d)
				}
			}
		}
	}
	for want, got := range map[int]int{6: (Division{Cell: 8}).MostRegions(17, 9),
		20: (Division{Superpixels: 5}).MostRegions(100, 100), 12: (Division{Superpixels: 5}).MostRegions(4, 3),
		1: (Division{Cell: 8}).MostRegions(8, 8)} {
		if got != want {
			t.Errorf("at most %d regions, expected %d", got, want)
		}
	}
}

// Inputs are features, the pixels of a patch, or both; patches have a scale that depends on the regions and their
// context.
func TestInputsOfRegions(t *testing.T) {
	for _, c := range []struct {
		in   Inputs
		want int
	}{{Inputs{}, regions.Dim}, {Inputs{Patch: 4}, 48}, {Inputs{Patch: 4, Both: true}, 48 + regions.Dim}} {
		if got := c.in.Dim(); got != c.want {
			t.Errorf("%+v: %d inputs, expected %d", c.in, got, c.want)
		}
	}
	for _, c := range []struct {
		in   Inputs
		want string
	}{
		{Inputs{Patch: 1024, Context: 100}, ""}, {Inputs{}, ""},
		{Inputs{Patch: 1025}, "patches of 1025 pixels a side, expected 0 (features instead) to 1024"},
		{Inputs{Patch: -1}, "patches of -1 pixels"},
		{Inputs{Patch: 8, Context: 101}, "patches as long as 101 regions, expected up to 100, or 0 for 3"},
		{Inputs{Patch: 8, Context: -1}, "patches as long as -1 regions"},
	} {
		if err := c.in.Validate(); (err == nil) != (c.want == "") || err != nil && !strings.HasPrefix(err.Error(), c.want) {
			t.Errorf("%+v: %v, expected %q", c.in, err, c.want)
		}
	}
	for _, c := range []struct {
		r    Reader
		want int
	}{
		{Reader{Division: Division{Cell: 8}, Inputs: Inputs{Patch: 12}}, 50 * 25},
		{Reader{Division: Division{Cell: 8}, Inputs: Inputs{Patch: 24}}, 100 * 50},
		{Reader{Division: Division{Cell: 8}, Inputs: Inputs{Patch: 12, Context: 1.5}}, 100 * 50},
		{Reader{Division: Division{Superpixels: 50}, Inputs: Inputs{Patch: 15}}, 50 * 25},
		{Reader{Division: Division{Cell: 1}, Inputs: Inputs{Patch: 1024, Context: 0.01}}, images.MaxPixels},
		{Reader{Division: Division{Cell: 1000}, Inputs: Inputs{Patch: 1}}, 1},
	} {
		if got := c.r.ScaledPixels(100, 50); got != c.want {
			t.Errorf("%+v: %d pixels, expected %d", c.r, got, c.want)
		}
	}
}
