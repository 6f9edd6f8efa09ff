package foreign

import (
	"fmt"
	"math"

	"github.com/dsp-go/dsp/structured/constituents"
	"github.com/dsp-go/dsp/structured/monotone"
	"github.com/dsp-go/dsp/structured/segments"
	"github.com/dsp-go/dsp/structured/trees"
)

// below refuses a number that is not one of 0 to n-1.
func below(y []int32, n int, what string) error {
	for t, l := range y {
		if l < 0 || int(l) >= n {
			return fmt.Errorf("%s %d at place %d, expected 0 to %d", what, l, t, n-1)
		}
	}
	return nil
}

// labelsOnly is for outputs that are labels of the rows of the first part, any of them.
func labelsOnly(e example, y []int32) error { return below(y, e.parts[0].Width, "label") }

func segmentOutput(e example, y []int32) error {
	shape := segments.ShapeOf(e.parts)
	if err := below(y, shape.Tags, "tag"); err != nil {
		return err
	}
	if !shape.Valid(y) {
		return fmt.Errorf("tags %v are no segments of at most %d positions", y, shape.Longest)
	}
	return nil
}

func treeOutput(e example, y []int32) error {
	n := len(y) / 2
	heads := y[:n]
	if err := below(heads, n+1, "head"); err != nil {
		return err
	}
	if err := below(y[n:], e.parts[1].Width, "relation"); err != nil {
		return err
	}
	roots := 0
	depth := make([]int, n) // 1 + the number of the walk that came by
	for d, h := range heads {
		if h == 0 {
			roots++
		}
		for at := d; depth[at] == 0; at = int(heads[at]) - 1 {
			depth[at] = d + 1
			if heads[at] == 0 {
				break
			}
			if next := int(heads[at]) - 1; depth[next] == d+1 {
				return fmt.Errorf("heads %v have a cycle at word %d", heads, next+1)
			}
		}
	}
	if several := e.form.Settings.Roots; n > 0 && roots != 1 && !several {
		return fmt.Errorf("heads %v have %d roots, expected one (the setting roots, multiroot=True in Python, allows several)", heads, roots)
	}
	if s := e.form.Structure.(trees.SpanningTree); !s.NonProjective && !trees.Projective(heads) {
		return fmt.Errorf("heads %v are not projective (projective=False in Python allows such trees)", heads)
	}
	return nil
}

func constituentOutput(e example, y []int32) error {
	if err := below(y, e.parts[1].Width, "label"); err != nil {
		return err
	}
	n := constituents.Words(len(y))
	if n > 0 && y[n-1] == 0 {
		return fmt.Errorf("words 0 to %d are no constituent: all words together have to be one", n-1)
	}
	for i := range n {
		for j := range n {
			if y[i*n+j] == 0 {
				continue
			}
			if i > j {
				return fmt.Errorf("a constituent from word %d to word %d", i, j)
			}
			for a := i + 1; a <= j; a++ {
				for b := j + 1; b < n; b++ {
					if y[a*n+b] != 0 {
						return fmt.Errorf("constituents %d to %d and %d to %d cross", i, j, a, b)
					}
				}
			}
		}
	}
	return nil
}

func matchingOutput(e example, y []int32) error {
	if len(y) == 0 {
		return nil
	}
	targets, least := e.rows(0)/len(y), int32(0)
	if len(e.parts) == 1 {
		least = 1
	}
	taken := map[int32]int{}
	for i, j := range y {
		if j < least || int(j) > targets {
			return fmt.Errorf("source %d has target %d, expected %d to %d", i, j, least, targets)
		}
		if other, is := taken[j]; is && j > 0 {
			return fmt.Errorf("sources %d and %d have the same target %d", other, i, j)
		}
		taken[j] = i
	}
	return nil
}

func monotoneOutput(e example, y []int32) error {
	n, m := e.rows(1), 0
	if n > 0 {
		m = e.rows(0) / n
	}
	if !monotone.Valid(y, n, m) {
		return fmt.Errorf("numbers %v are no path through %d by %d pairs", y, n, m)
	}
	return nil
}

func windowOutput(e example, y []int32) error {
	if len(y) == 0 {
		return nil
	}
	h, w := int32(e.form.Settings.Height), int32(e.form.Settings.Width)
	if y[0] < 0 || y[0] > y[2] || y[2] >= h || y[1] < 0 || y[1] > y[3] || y[3] >= w {
		return fmt.Errorf("box %v (top, left, bottom, right) is not in a map of %d by %d cells", y, h, w)
	}
	return nil
}

// forbidden is the score of what no output may have.
var forbidden = float32(math.Inf(-1))
