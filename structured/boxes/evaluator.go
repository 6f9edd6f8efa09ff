package boxes

import (
	"cmp"
	"slices"
)

// Detection is a predicted box. AP ranks detections by their score; for localisation it is the score φ(x, y; w) of the
// box.
type Detection struct {
	Box   Box
	Score float64
}

// Truth is an annotated object of the class.
type Truth struct {
	Box Box
	// of the object's outline, by which COCO tells small objects from large ones; 0 means the area of the box
	Area  float64
	Crowd bool // marks a region with many objects: COCO counts neither it nor the detections inside
}

// Evaluator accumulates the metrics of one class over images. It serves one goroutine at a time. Images must be added
// in the order of their ids to break ties between equal scores as pycocotools does.
type Evaluator struct {
	images, correct int
	iou             float64
	areas           [len(areaRanges)]matches
}

// thresholds are COCO's IoU thresholds .50:.05:.95, with the rounding of numpy.linspace.
var thresholds = func() (t [10]float64) {
	first, last := 0.5, 0.95 // variables: the difference of constants would not be rounded
	step := (last - first) / float64(len(t)-1)
	for k := range t {
		t[k] = float64(float64(k)*step) + first
	}
	t[len(t)-1] = last
	return t
}()

// areaRanges are COCO's classes of objects by their area in square pixels. The bounds belong to both sides.
var areaRanges = [...]struct {
	name     string
	from, to float64
}{{"", 0, 1e10}, {"_small", 0, 32 * 32}, {"_medium", 32 * 32, 96 * 96}, {"_large", 96 * 96, 1e10}}

// detectionsPerImage is the number of detections of an image, by falling score, that COCO counts.
const detectionsPerImage = 100

// matches are the detections of all images in one area range.
type matches struct {
	truths     int
	detections []match
}

// match tells what a detection counts as, at each threshold.
type match struct {
	score   float64
	rank    int                   // in its image, from 0
	correct [len(thresholds)]bool // it found an object
	ignored [len(thresholds)]bool // it counts neither way
}

// Add counts one image. The order of detections matters among equal scores only. CorLoc and mean IoU compare the first
// detection with the first object, and leave out images without objects.
func (e *Evaluator) Add(truths []Truth, detections []Detection) {
	detections = slices.Clone(detections)
	slices.SortStableFunc(detections, func(a, b Detection) int { return cmp.Compare(b.Score, a.Score) })
	if len(truths) > 0 {
		e.images++
		if len(detections) > 0 {
			iou := detections[0].Box.IoU(truths[0].Box)
			e.iou += iou
			if iou > 0.5 {
				e.correct++
			}
		}
	}
	detections = detections[:min(len(detections), detectionsPerImage)]
	for k, r := range areaRanges {
		e.areas[k].add(truths, detections, r.from, r.to)
	}
}

// add matches the sorted detections of an image with the objects whose area is in the range.
func (m *matches) add(truths []Truth, detections []Detection, from, to float64) {
	objects := make([]object, len(truths))
	for j, g := range truths {
		area := cmp.Or(g.Area, g.Box.Area())
		objects[j] = object{Truth: g, ignored: g.Crowd || area < from || area > to}
		if !objects[j].ignored {
			m.truths++
		}
	}
	slices.SortStableFunc(objects, func(a, b object) int { return a.order() - b.order() })
	at := len(m.detections)
	for rank, d := range detections {
		m.detections = append(m.detections, match{score: d.Score, rank: rank})
	}
	for t, threshold := range thresholds {
		for j := range objects {
			objects[j].taken = false
		}
		for k, d := range detections {
			found, result := bestObject(objects, d.Box, threshold), &m.detections[at+k]
			if found == nil {
				area := d.Box.Area()
				result.ignored[t] = area < from || area > to
				continue
			}
			found.taken = true
			result.correct[t], result.ignored[t] = !found.ignored, found.ignored
		}
	}
}

// object is an annotated object while detections are matched with it.
type object struct {
	Truth
	ignored, taken bool
}

// order sorts the objects that count before those that do not.
func (o *object) order() int {
	if o.ignored {
		return 1
	}
	return 0
}

// bestObject returns the object that is still free, or a crowd, and overlaps most with the box, if their IoU reaches
// the threshold; the last one among equals. Objects that count precede all others.
func bestObject(objects []object, b Box, threshold float64) *object {
	var best *object
	for j := range objects {
		o := &objects[j]
		if o.taken && !o.Crowd {
			continue
		}
		if best != nil && !best.ignored && o.ignored {
			break
		}
		if iou := o.overlap(b); iou >= threshold {
			best, threshold = o, iou
		}
	}
	return best
}

// overlap returns the IoU. For a crowd, the union is the area of the detection alone.
func (o *object) overlap(b Box) float64 {
	if o.Crowd {
		if shared := b.intersection(o.Box); shared > 0 {
			return shared / b.Area()
		}
		return 0
	}
	return b.IoU(o.Box)
}
