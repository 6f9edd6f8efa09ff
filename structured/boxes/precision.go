package boxes

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/dsp-go/dsp/structured"
)

// recallPoints are the levels of recall at which COCO reads the precision: 0, 0.01, …, 1.
const recallPoints = 101

// Metrics returns the metrics of all images added so far:
//
//	corloc                 share of the images whose first detection has an IoU above 0.5 with the object (Deselaers
//	                       et al., 2010)
//	mean_iou               mean of that IoU
//	ap                     COCO's average precision, the mean over the IoU thresholds .50:.05:.95
//	ap50, ap75             average precision at one IoU threshold
//	ar1, ar10, ar100       COCO's average recall with that many detections per image
//	ap_small, ar_small, …  the same (at 100 detections) for small (up to 32² pixels), medium and large (from 96²)
//	                       objects, if there are any
//	images, objects        counts
//
// ap and ar equal pycocotools' stats for bounding boxes of one category. Metrics without anything to count are 0.
func (e *Evaluator) Metrics() structured.Metrics {
	var m structured.Metrics
	put := func(name string, value float64) {
		m.Measures = append(m.Measures, structured.Measure{Name: name, Value: value})
	}
	put("corloc", float64(e.correct)/float64(max(1, e.images)))
	put("mean_iou", e.iou/float64(max(1, e.images)))
	all := e.areas[0].precisions()
	put("ap", mean(all))
	put("ap50", all[0])
	put("ap75", all[5])
	for _, most := range []int{1, 10, detectionsPerImage} {
		put(fmt.Sprint("ar", most), e.areas[0].averageRecall(most))
	}
	for k, r := range areaRanges[1:] {
		if a := &e.areas[1+k]; a.truths > 0 {
			put("ap"+r.name, mean(a.precisions()))
			put("ar"+r.name, a.averageRecall(detectionsPerImage))
		}
	}
	put("images", float64(e.images))
	put("objects", float64(e.areas[0].truths))
	return m
}

// precisions returns the average precision at each threshold.
func (m *matches) precisions() []float64 {
	sorted := slices.Clone(m.detections)
	slices.SortStableFunc(sorted, func(a, b match) int { return cmp.Compare(b.score, a.score) })
	ap := make([]float64, len(thresholds))
	if m.truths == 0 {
		return ap
	}
	for t := range ap {
		ap[t] = m.averagePrecision(sorted, t)
	}
	return ap
}

// averagePrecision returns the mean over the levels of recall of the best precision at that recall or above. sorted are
// the detections by falling score.
func (m *matches) averagePrecision(sorted []match, t int) float64 {
	var recall, precision []float64 // after each detection that counts
	correct, wrong := 0.0, 0.0
	for k := range sorted {
		switch d := &sorted[k]; {
		case d.ignored[t]:
		case d.correct[t]:
			correct++
		default:
			wrong++
		}
		recall = append(recall, correct/float64(m.truths))
		precision = append(precision, correct/(correct+wrong+epsilon))
	}
	for k := len(precision) - 1; k > 0; k-- {
		precision[k-1] = max(precision[k-1], precision[k])
	}
	sum := 0.0
	for p := range recallPoints {
		if k, _ := slices.BinarySearch(recall, float64(p)*0.01); k < len(recall) {
			sum += precision[k]
		}
	}
	return sum / recallPoints
}

// epsilon keeps the precision of no detections at 0, as in pycocotools.
const epsilon = 1.0 / (1 << 52)

// averageRecall returns the share of the objects that the first detections of each image find, averaged over the
// thresholds.
func (m *matches) averageRecall(most int) float64 {
	found := 0
	for k := range m.detections {
		d := &m.detections[k]
		for _, c := range d.correct {
			if c && d.rank < most {
				found++
			}
		}
	}
	return float64(found) / float64(max(1, m.truths)*len(thresholds))
}

func mean(x []float64) float64 {
	sum := 0.0
	for _, v := range x {
		sum += v
	}
	return sum / float64(max(1, len(x)))
}
