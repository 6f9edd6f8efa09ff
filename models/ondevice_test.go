package models

import (
	"reflect"
	"slices"
	"testing"

	"github.com/dsp-go/dsp/cuda/cudatest"
	"github.com/dsp-go/dsp/cuda/device"
	"github.com/dsp-go/dsp/models/predictions"
	"github.com/dsp-go/dsp/structured"
)

// However many data sets a device answers about, with the CPU's answers, it holds memory for those of the last ones,
// and none at the end.
func TestDataOnGPU(t *testing.T) {
	d, data := cudatest.Device(t), toyData(1)
	m := toyModel(t, data, nil)
	labels := func(set *structured.Dataset) (all [][]int32) {
		err := m.Predict(t.Context(), set, predictions.Options{}, func(_ int, p *predictions.Prediction) error {
			all = append(all, p.Labels)
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		return all
	}
	want := labels(data)
	before := device.Held()
	m.RunOn(d, false)
	sets := make([]structured.Dataset, 3*mostPredictors)
	var held []int64 // bytes after each data set
	for k := range sets {
		sets[k] = *data
		for _, set := range []*structured.Dataset{&sets[k], &sets[0]} { // the first one is asked about all the time
			if got := labels(set); !reflect.DeepEqual(got, want) {
				t.Fatalf("%v, on the CPU %v", got, want)
			}
		}
		held = append(held, device.Held()-before)
	}
	if held[0] <= 0 || held[mostPredictors-1] <= held[0] || held[len(held)-1] != held[mostPredictors-1] {
		t.Errorf("after each data set the device holds %d bytes, expected as many from the %dth on", held, mostPredictors)
	}
	var kept []*structured.Dataset
	for _, p := range m.device.(*onDevice).predictors {
		kept = append(kept, p.data)
	}
	if last := len(sets); !slices.Equal(kept, []*structured.Dataset{&sets[last-3], &sets[last-2], &sets[last-1], &sets[0]}) {
		t.Errorf("%d data sets are kept, expected the last three and the first", len(kept))
	}
	m.RunOnHost()
	if after := device.Held(); after != before {
		t.Errorf("%d bytes are held at the end", after-before)
	}
}
