package tasks

import (
	"context"
	"slices"
	"strconv"

	"github.com/dsp-go/dsp/models/config"
	"github.com/dsp-go/dsp/models/data/formats"
	"github.com/dsp-go/dsp/models/data/masks"
	"github.com/dsp-go/dsp/models/data/remarks"
	"github.com/dsp-go/dsp/models/data/segmentation"
	"github.com/dsp-go/dsp/structured"
)

// lookAtMasks decides what the values in the masks of the training data mean, where that is open: two values, the
// larger of which is 255, are those of a background and an object, and 255 is void beside others. Without 255 that
// stays open for other data.
func lookAtMasks(c *config.Config) error {
	given, err := masks.ParseValues(c.Void, c.MaskValues)
	switch {
	case err != nil:
		return err
	case c.MaskValues != masks.Auto:
		c.Void, _ = given.Settings()
		return nil
	case c.Format != formats.Images || c.Train == "" || c.Void != masks.Auto && given == nil:
		return nil
	}
	names := 0
	if c.LabelNames != "" {
		list, err := masks.ReadNames(c.LabelNames)
		if err != nil {
			return err
		}
		names = list.Len()
	}
	enough := (*masks.Found).Plain
	if given != nil {
		enough = func(*masks.Found) bool { return false }
	}
	var found masks.Found
	in := formats.Files(c.Masks)
	for k, path := range formats.Files(c.Train) {
		if k >= len(in) {
			break // which reading refuses
		}
		folder, err := segmentation.OpenFolder(path, in[k], remarks.New(true))
		if err != nil {
			return nil // reading says so
		}
		more, err := folder.Values(context.Background(), c.Threads, enough)
		if err != nil {
			return err
		}
		for l, is := range more {
			found[l] = found[l] || is
		}
	}
	if given == nil {
		if given = found.Object(); given == nil || names > 0 && names != len(given.Labels) {
			if given = nil; !found[masks.Void] && !found.Plain() {
				return nil
			}
		}
		c.Void, c.MaskValues = given.Settings()
		return nil
	}
	given.Labels = slices.DeleteFunc(found.List(), func(l uint8) bool { return int(l) == given.Void })
	switch n := len(given.Labels); {
	case n > masks.MaxLabels:
		return structured.BadInput("%s: masks have all values from 0 to 255, expected at most %d labels", c.Masks,
			masks.MaxLabels)
	case names > 0 && names != n:
		return structured.BadInput("%s: masks have %d values beside void (--void %s): %s; expected %d as %s has names; "+
			"--mask-values lists the values of all labels",
			c.Masks, n, c.Void, structured.SomeOf(given.Names()), names, c.LabelNames)
	}
	c.Void, c.MaskValues = given.Settings()
	return nil
}

// valuesIn returns what the values in the masks of a folder mean. Training without 255 in masks leaves open what it
// means in other data of two labels.
func valuesIn(c *config.Config, folder *segmentation.Folder, s Source) (*masks.Values, error) {
	values, err := masks.ParseValues(c.Void, c.MaskValues)
	if err != nil || c.Void != masks.Auto || c.MaskValues != masks.Auto || s.Labels == nil || s.Labels.Len() != 2 {
		return values, err
	}
	found, err := folder.Values(context.Background(), s.Threads, (*masks.Found).Plain)
	if err != nil {
		return nil, err
	}
	if values = found.Object(); values != nil {
		s.Remarks.Doubt(remarks.ObjectMasks, folder.Name())
	}
	return values, nil
}

// oneMaskLabel says that masks have pixels of one label alone.
func oneMaskLabel(c *config.Config, label string) error {
	void := c.Void
	if void == masks.Auto {
		void = strconv.Itoa(masks.Void)
	}
	return structured.BadInput("%s: all pixels have the label %s or are void (--void %s), expected at least 2 labels: "+
		"there is nothing to learn; --void and --mask-values say what values mean",
		c.Masks, label, void)
}
