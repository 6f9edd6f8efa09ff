package annotations

import (
	"encoding/json"
	"fmt"
	"io"

	"github.com/dsp-go/dsp/structured"
	"github.com/dsp-go/dsp/structured/boxes"
	"github.com/dsp-go/dsp/structured/sys/host"
)

// Result is a detection in COCO's format of results.
type Result struct {
	ImageID, ClassID int64
	boxes.Detection
	file  string
	index int // in the file, from 0
	line  int // of a file of lines, from 1; 0: the file is a list
}

// Place returns the place of the result in its file, for messages.
func (r *Result) Place() string {
	if r.line > 0 {
		return fmt.Sprintf("%s:%d", r.file, r.line)
	}
	return place(r.file, "", r.index)
}

type cocoResult struct {
	ImageID    *int64    `json:"image_id"`
	CategoryID *int64    `json:"category_id"`
	Box        []float64 `json:"bbox"`
	Score      *float64  `json:"score"`
}

// ReadResults reads a file of results. A missing category_id becomes 0 and a missing score 0: files of candidates may
// lack them.
func ReadResults(path string) ([]Result, error) {
	f, err := host.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return readResults(f, path)
}

func readResults(r io.Reader, name string) ([]Result, error) {
	in := jsonFile{d: json.NewDecoder(r), name: name}
	var all []Result
	err := list(in, "", func(index int, c cocoResult) (err error) {
		result := Result{file: name, index: index}
		if c.ImageID == nil {
			return structured.BadInput("%s: no image_id", result.Place())
		}
		result.ImageID = *c.ImageID
		if result.Box, err = cornerAndSize(c.Box, &result); err != nil {
			return err
		}
		if c.CategoryID != nil {
			result.ClassID = *c.CategoryID
		}
		if c.Score != nil {
			result.Score = *c.Score
		}
		all = append(all, result)
		return nil
	})
	if err != nil {
		return nil, err
	}
	return all, in.end()
}

// Candidates sorts the boxes of results by example: those of the class, and those without any class, in the order of
// the file. Only the first most of an image count; 0 means all. Results of other images of the set are ignored. A
// result of an image that is not in the set, a box outside its image, and an example without candidates are bad input.
// They are turned upright with their image (Example.Upright).
func (s *Set) Candidates(examples []Example, results []Result, class string, most int) ([][]boxes.Detection, error) {
	wanted := s.ClassID(class)
	sizes, at := make(map[int64]*Image, len(s.Images)), make(map[int64]int, len(examples))
	for k := range s.Images {
		sizes[s.Images[k].ID] = &s.Images[k]
	}
	for i, e := range examples {
		at[e.ID] = i
	}
	all := make([][]boxes.Detection, len(examples))
	for k := range results {
		r := &results[k]
		m := sizes[r.ImageID]
		if m == nil {
			return nil, structured.BadInput("%s: image_id %d is not one of %s", r.Place(), r.ImageID, s.Name)
		}
		i, used := at[r.ImageID]
		if !used || r.ClassID != 0 && r.ClassID != wanted || most > 0 && len(all[i]) == most {
			continue
		}
		box, err := m.upright(r.Box, r.Place())
		if err != nil {
			return nil, err
		}
		all[i] = append(all[i], boxes.Detection{Box: box, Score: r.Score})
	}
	for i, e := range examples {
		if len(all[i]) == 0 {
			return nil, structured.BadInput("%s: no candidate box of class %s for this image (id %d), expected at least one",
				e.Place, class, e.ID)
		}
	}
	return all, nil
}
