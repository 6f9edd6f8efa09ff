package server

import (
	"bytes"
	"encoding/json"
	"slices"
	"strconv"
	"strings"

	"github.com/dsp-go/dsp/cmd/dsp/server/requests"
	"github.com/dsp-go/dsp/structured"
)

// tensor is an input of the Open Inference Protocol. Its data are flat or nested lists, row by row.
type tensor struct {
	Name       string          `json:"name"`
	Shape      []int           `json:"shape"`
	Datatype   string          `json:"datatype"`
	Data       json.RawMessage `json:"data"`
	Parameters parameters      `json:"parameters"`
}

// bad is the error about a tensor.
func (t *tensor) bad(format string, args ...any) error {
	return structured.BadInput("input %s"+format, append([]any{t.Name}, args...)...)
}

// mostAxes is how many axes a tensor may have: an input has at most those of a batch of sequences of rows of numbers.
const mostAxes = 3

// elements returns the product of the shape. It refuses axes of length 0, whatever others there are: they hold nothing,
// and the length of another axis would be a promise without data.
func (t *tensor) elements() (int, error) {
	if len(t.Shape) == 0 || len(t.Shape) > mostAxes {
		return 0, t.bad(" has a shape of %d axes, expected 1 to %d", len(t.Shape), mostAxes)
	}
	n := 1
	for _, length := range t.Shape {
		const largest = 1 << 31
		if length < 1 || n > largest/length {
			return 0, t.bad(" has shape %v, expected lengths from 1 on with a product of at most %d", t.Shape, largest)
		}
		n *= length
	}
	return n, nil
}

// flat returns nested lists of that depth as one list: brackets inside of the outermost become blanks. Lists that are
// flat already are returned as they are. A list of lists holds lists alone.
func (t *tensor) flat(depth int) ([]byte, error) {
	data := bytes.Clone(t.Data)
	level, deepest := 0, 0 // deepest is how deep the first number or text is
	var before byte        // the last byte that is no blank
	for i := 0; i < len(data); i++ {
		c := data[i]
		switch c {
		case ' ', '\t', '\r', '\n':
			continue
		case '[':
			if level++; level > depth {
				return nil, t.bad(" has lists in lists %d deep, expected at most the %d of its shape", level, depth)
			}
			if level > 1 {
				data[i] = ' '
			}
		case ']':
			if before == '[' && level > 1 {
				return nil, t.bad(" has an empty list in its data")
			}
			if level > 1 {
				data[i] = ' '
			}
			level--
		case ',':
		case '{':
			return nil, t.bad(": found an object in its data")
		default:
			if deepest == 0 {
				deepest = level
			}
			if level != deepest {
				return nil, t.bad(" has data at different depths of lists")
			}
			if c == '"' {
				i = endOfText(data, i)
			}
		}
		before = c
	}
	return data, nil
}

// endOfText returns where the text in quotes that begins at i ends.
func endOfText(data []byte, i int) int {
	for i++; i < len(data) && data[i] != '"'; i++ {
		if data[i] == '\\' {
			i++
		}
	}
	return i
}

// values returns the elements of a tensor.
func values[T any](t *tensor, datatypes ...string) ([]T, error) {
	if !slices.Contains(datatypes, t.Datatype) {
		return nil, t.bad(" has datatype %q, expected %s", t.Datatype, strings.Join(datatypes, " or "))
	}
	n, err := t.elements()
	if err != nil {
		return nil, err
	}
	if t.Data == nil {
		return nil, t.bad(" has no data; binary data are not supported")
	}
	data, err := t.flat(len(t.Shape))
	if err != nil {
		return nil, err
	}
	all, err := elements[T](t, data)
	if err != nil {
		return nil, err
	}
	if len(all) != n {
		return nil, t.bad(" has %d elements, expected %d for shape %v", len(all), n, t.Shape)
	}
	return all, nil
}

// elements reads a flat list.
func elements[T any](t *tensor, data []byte) ([]T, error) {
	var all []T
	err := json.Unmarshal(data, &all)
	if err == nil && !bytes.Contains(data, []byte("null")) { // which would be a zero
		return all, nil
	}
	var list []json.RawMessage
	if wrong := json.Unmarshal(data, &list); wrong != nil {
		return nil, t.bad(": %s", requests.Explain(wrong))
	}
	all = make([]T, len(list))
	for k, element := range list {
		if err := json.Unmarshal(element, &all[k]); err != nil || string(element) == "null" {
			return nil, t.bad(" has %s at %v, expected %s as its datatype %s says", shortened(element), t.place(k), expectedOf(all[k]), t.Datatype)
		}
	}
	return all, nil
}

// shortened returns an element for a message.
func shortened(element []byte) string {
	const most = 40
	if text := []rune(string(element)); len(text) > most {
		return string(text[:most]) + "…"
	}
	return string(element)
}

// expectedOf names what an element of data is.
func expectedOf(element any) string {
	switch element.(type) {
	case string:
		return `a text in quotes`
	case float32:
		return "a number of at most 3.4e38"
	}
	return "a whole number"
}

// place returns the indices of element k, from 0, by the shape.
func (t *tensor) place(k int) []int {
	at := make([]int, len(t.Shape))
	for axis := len(at) - 1; axis > 0; axis-- {
		at[axis] = k % t.Shape[axis]
		k /= t.Shape[axis]
	}
	at[0] = k
	return at
}

// inputSet are the tensors of a request, as sequences.
type inputSet struct {
	tensors map[string]*tensor
	lengths []int // of the sequences; nil: one
}

// newInputSet checks names and lengths.
func newInputSet(list []tensor, known []requests.Input) (*inputSet, error) {
	in := &inputSet{tensors: map[string]*tensor{}}
	names := []string{lengthsTensor}
	for _, k := range known {
		names = append(names, k.Name)
	}
	for k := range list {
		t := &list[k]
		if !slices.Contains(names, t.Name) {
			return nil, structured.BadInput("input %q is not one of the model's: %s", t.Name, strings.Join(names, ", "))
		}
		if in.tensors[t.Name] != nil {
			return nil, t.bad(" is given twice")
		}
		in.tensors[t.Name] = t
	}
	if t := in.tensors[lengthsTensor]; t != nil {
		var err error
		if in.lengths, err = values[int](t, "INT64", "INT32", "UINT64", "UINT32"); err != nil {
			return nil, err
		}
		for k, n := range in.lengths {
			if n < 1 {
				return nil, t.bad(": number %d is %d, expected at least 1", k, n)
			}
		}
	}
	return in, nil
}

// objects returns the examples of a request for a model that reads columns and numbers of positions.
func (in *inputSet) objects(known []requests.Input) ([]*requests.Object, error) {
	var all []*requests.Object
	grow := func(n int) error {
		if err := tooMany(n); err != nil {
			return err
		}
		if all == nil {
			all = make([]*requests.Object, n)
			for k := range all {
				all[k] = &requests.Object{}
			}
		}
		if len(all) != n {
			return structured.BadInput("the inputs have %d and %d sequences", len(all), n)
		}
		return nil
	}
	for _, k := range known {
		t := in.tensors[k.Name]
		if t == nil {
			continue // the reader says what is missing
		}
		switch k.Kind {
		case requests.Strings:
			cells, err := values[string](t, "BYTES")
			if err != nil {
				return nil, err
			}
			rows, err := split(in, t, cells, len(t.Shape), 1)
			if err == nil {
				err = grow(len(rows))
			}
			if err != nil {
				return nil, err
			}
			for i, row := range rows {
				if all[i].Columns == nil {
					all[i].Columns = map[string][]string{}
				}
				all[i].Columns[k.Name] = row
			}
		case requests.Numbers:
			numbers, err := values[float32](t, "FP32", "FP64")
			if err != nil {
				return nil, err
			}
			if len(t.Shape) < 2 || t.Shape[len(t.Shape)-1] != k.Width {
				return nil, t.bad(" has shape %v, expected [positions %d], or [sequences positions %d] with lengths", t.Shape, k.Width, k.Width)
			}
			rows, err := split(in, t, numbers, len(t.Shape)-1, k.Width)
			if err == nil {
				err = grow(len(rows))
			}
			if err != nil {
				return nil, err
			}
			for i, row := range rows {
				all[i].Features = slices.Collect(slices.Chunk(row, k.Width))
			}
		}
	}
	for i, o := range all {
		id := strconv.Itoa(i)
		o.ID = &id
	}
	return all, nil
}

// split returns the sequences of a tensor with width values per position: a single one, those of the given lengths one
// after the other, or the beginnings of the rows of a batch that is padded to equal lengths. axes counts those of the
// shape without that of the values.
func split[T any](in *inputSet, t *tensor, all []T, axes, width int) ([][]T, error) {
	switch {
	case axes == 2:
		n, steps := t.Shape[0], t.Shape[1]
		if in.lengths != nil && len(in.lengths) != n {
			return nil, t.bad(" has %d sequences, expected %d as lengths has", n, len(in.lengths))
		}
		rows := make([][]T, n)
		for i := range rows {
			length := steps
			if in.lengths != nil {
				length = in.lengths[i]
			}
			if length > steps {
				return nil, t.bad(" has %d positions in each sequence, but lengths[%d] is %d", steps, i, length)
			}
			rows[i] = all[i*steps*width:][:length*width]
		}
		return rows, nil
	case axes != 1:
		return nil, t.bad(" has shape %v, expected [positions], or [sequences positions]", t.Shape)
	case in.lengths == nil:
		return [][]T{all}, nil
	}
	var rows [][]T
	at := 0
	for i, n := range in.lengths {
		if n > len(all)/width-at {
			return nil, t.bad(" has %d positions, expected more: the first %d lengths sum to %d", len(all)/width, i+1, at+n)
		}
		rows = append(rows, all[at*width:][:n*width])
		at += n
	}
	if at != len(all)/width {
		return nil, t.bad(" has %d positions, expected the %d that lengths sum to", len(all)/width, at)
	}
	return rows, nil
}
