package annotations

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"github.com/dsp-go/dsp/models/data/remarks"
	"github.com/dsp-go/dsp/structured"
	"github.com/dsp-go/dsp/structured/boxes"
)

// jsonFile reads a JSON file piece by piece and reports places in it.
type jsonFile struct {
	d    *json.Decoder
	name string
	say  *remarks.Remarks // on elements of lists; nil refuses bad ones
}

// failure returns an error about the syntax, or about a value of the wrong type, at a place of the file.
func (f jsonFile) failure(place string, err error) error {
	var kind *json.UnmarshalTypeError
	var syntax *json.SyntaxError
	switch {
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		return structured.BadInput("%s: the file ends too early, after byte %d", place, f.d.InputOffset())
	case errors.As(err, &kind):
		return structured.BadInput("%s: %s is a JSON %s, expected %s", place, kind.Field, kind.Value, jsonKind(kind))
	case errors.As(err, &syntax):
		return structured.BadInput("%s: byte %d: %w", place, syntax.Offset, err)
	}
	return structured.BadInput("%s: %w", place, err)
}

// jsonKind names the type of value that a field should have.
func jsonKind(e *json.UnmarshalTypeError) string {
	switch name := e.Type.String(); name {
	case "string", "bool":
		return "a " + name
	case "int", "int64":
		return "an integer"
	case "float64":
		return "a number"
	case "[]float64":
		return "a list of numbers"
	default:
		return "an object"
	}
}

// opening reads the bracket or brace that begins a list or an object.
func (f jsonFile) opening(want json.Delim, place, what string) error {
	t, err := f.d.Token()
	if err != nil {
		return f.failure(place, err)
	}
	if t != want {
		return structured.BadInput("%s: %v, expected %v: %s", place, t, want, what)
	}
	return nil
}

// place returns the place of an element of a list: "train.json: images[3]". The list that is the whole file has no
// name.
func place(file, list string, k int) string { return fmt.Sprintf("%s: %s[%d]", file, list, k) }

// list reads a list of values; add gets each with its index.
func list[E any](f jsonFile, name string, add func(k int, e E) error) error {
	where := f.name
	if name != "" {
		where += ": " + name
	}
	if err := f.opening('[', where, "a list"); err != nil {
		return err
	}
	for k := 0; f.d.More(); k++ {
		var e E
		err := f.d.Decode(&e)
		var kind *json.UnmarshalTypeError
		readable := err == nil || errors.As(err, &kind) // JSON goes on
		if err != nil {
			err = f.failure(place(f.name, name, k), err)
		} else {
			err = add(k, e)
		}
		if err != nil && readable {
			err = f.say.Bad(err)
		}
		if err != nil {
			return err
		}
	}
	if _, err := f.d.Token(); err != nil {
		return f.failure(where, err)
	}
	return nil
}

// end checks that nothing follows.
func (f jsonFile) end() error {
	if _, err := f.d.Token(); !errors.Is(err, io.EOF) {
		return structured.BadInput("%s: byte %d: expected the end of the file", f.name, f.d.InputOffset())
	}
	return nil
}

// cornerAndSize converts COCO's list of four numbers.
func cornerAndSize(bbox []float64, of interface{ Place() string }) (boxes.Box, error) {
	if len(bbox) != 4 {
		return boxes.Box{}, structured.BadInput("%s: bbox has %d numbers, expected 4: x, y, width and height", of.Place(),
			len(bbox))
	}
	return boxes.Box{X: bbox[0], Y: bbox[1], Width: bbox[2], Height: bbox[3]}, nil
}
