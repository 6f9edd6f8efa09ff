package annotations

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"slices"
	"strconv"

	"github.com/dsp-go/dsp/structured"
	"github.com/dsp-go/dsp/structured/boxes"
	"github.com/dsp-go/dsp/structured/sys/host"
)

// ReadPredicted reads boxes that a program has predicted: a file of results, or a JSON object on each line, whose
// members are id (the number of the image), box (x, y, width, height) and score, which may be missing.
func ReadPredicted(path string) ([]Result, error) {
	f, err := host.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	in := bufio.NewReader(f)
	start, _ := in.Peek(in.Size()) // what is wrong with the file shows when it is read
	if bytes.HasPrefix(bytes.TrimLeft(start, " \t\r\n"), []byte("{")) {
		return readBoxLines(in, path)
	}
	return readResults(in, path)
}

// readBoxLines reads an object on each line.
func readBoxLines(in *bufio.Reader, name string) (all []Result, err error) {
	for line := 1; !errors.Is(err, io.EOF); line++ {
		var text []byte
		if text, err = in.ReadBytes('\n'); err != nil && !errors.Is(err, io.EOF) {
			return nil, structured.BadInput("%s: %w", name, err)
		}
		if text = bytes.TrimSpace(text); len(text) == 0 {
			continue
		}
		var l struct {
			ID    json.RawMessage
			Box   []float64
			Score float64
		}
		r := Result{file: name, line: line}
		if err := json.Unmarshal(text, &l); err != nil {
			return nil, structured.BadInput("%s: %w; expected id and box on each line, or a list of COCO's results", r.Place(),
				err)
		}
		id := string(bytes.Trim(l.ID, `"`))
		number, err := strconv.ParseInt(id, 10, 64)
		if err != nil {
			return nil, structured.BadInput("%s: id %q, expected the number of an image", r.Place(), id)
		}
		if len(l.Box) != 4 {
			return nil, structured.BadInput("%s: box has %d numbers, expected 4: x, y, width and height", r.Place(), len(l.Box))
		}
		r.ImageID, r.Score = number, l.Score
		r.Box = boxes.Box{X: l.Box[0], Y: l.Box[1], Width: l.Box[2], Height: l.Box[3]}
		all = append(all, r)
	}
	return all, nil
}

// Predicted are the gold box of an image and the boxes that were predicted for it.
type Predicted struct {
	Truth      boxes.Truth
	Detections []boxes.Detection // in the order of the file
}

// Predicted sorts results by the images that Single chooses, whose files it does not need. They are those of the class,
// and those without any. Empty, it becomes the one of the results or, if they name none, the only one of the set. A
// result of an image that is not in the set is bad input, and so is a class that is not.
func (s *Set) Predicted(results []Result, of string) (all []Predicted, class string, counts Counts, err error) {
	if class, err = s.classOf(results, of); err != nil {
		return nil, class, counts, err
	}
	wanted := s.ClassID(class)
	found := make(map[int64][]boxes.Detection, len(s.Images))
	for k := range s.Images {
		found[s.Images[k].ID] = nil
	}
	for k := range results {
		r := &results[k]
		of, known := found[r.ImageID]
		switch {
		case !known:
			return nil, class, counts, structured.BadInput("%s: image_id %d is not one of %s", r.Place(), r.ImageID, s.Name)
		case r.Box.Width < 0 || r.Box.Height < 0:
			return nil, class, counts, structured.BadInput("%s: box %s, expected x, y, width and height", r.Place(), r.Box)
		}
		if r.ClassID == 0 || r.ClassID == wanted {
			found[r.ImageID] = append(of, r.Detection)
		}
	}
	for k := range s.Images {
		m := &s.Images[k]
		only := m.single(class, false, false, nil, &counts)
		if only == nil {
			continue
		}
		gold := *only
		if gold.Box, err = only.Box.Inside(m.Width, m.Height, only.Place); err != nil {
			return nil, class, counts, err
		}
		counts.Used++
		all = append(all, Predicted{gold.Truth(), found[m.ID]})
	}
	if len(all) == 0 {
		err = structured.BadInput("%s: %s, expected at least one", s.Name, counts.Describe(class))
	}
	return all, class, counts, err
}

// classOf returns the class, or that of results if it is empty.
func (s *Set) classOf(results []Result, class string) (string, error) {
	if class != "" {
		if s.ClassID(class) < 0 {
			return "", s.noClass(class)
		}
		return class, nil
	}
	id := int64(0)
	for k := range results {
		switch r := &results[k]; {
		case r.ClassID == 0 || r.ClassID == id:
		case id != 0:
			return "", structured.BadInput("%s: category_id %d, expected %d as before; --class NAME chooses one class",
				r.Place(), r.ClassID, id)
		default:
			if id = r.ClassID; !slices.ContainsFunc(s.Classes, func(c Class) bool { return c.ID == id }) {
				return "", structured.BadInput("%s: category_id %d is not a class of %s, which has %s",
					r.Place(), id, s.Name, structured.SomeOf(s.ClassNames()))
			}
		}
	}
	if id == 0 && len(s.Classes) != 1 {
		return "", structured.BadInput("%s: the predicted boxes name no category_id; choose a class with --class: %s", s.Name,
			structured.SomeOf(s.ClassNames()))
	}
	for _, c := range s.Classes {
		if id == 0 || c.ID == id {
			return c.Name, nil
		}
	}
	return "", nil
}
