package server

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"net/http"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/dsp-go/dsp/cmd/dsp/server/requests"
	"github.com/dsp-go/dsp/models/data/localisation"
	"github.com/dsp-go/dsp/models/predictions"
	"github.com/dsp-go/dsp/models/tasks"
	"github.com/dsp-go/dsp/oracles"
	"github.com/dsp-go/dsp/oracles/registry"
	"github.com/dsp-go/dsp/structured"
	"github.com/dsp-go/dsp/structured/trees"
)

// inferRequest is the body of a request of the Open Inference Protocol.
type inferRequest struct {
	ID         string     `json:"id"`
	Parameters parameters `json:"parameters"`
	Inputs     []tensor   `json:"inputs"`
	Outputs    []struct {
		Name       string     `json:"name"`
		Parameters parameters `json:"parameters"`
	} `json:"outputs"`
}

// parameters are an object of which the protocol leaves the members open, and this server knows none. Nothing of it is
// kept.
type parameters struct{}

// UnmarshalJSON implements json.Unmarshaler.
func (parameters) UnmarshalJSON(text []byte) error {
	if text[0] != '{' && text[0] != 'n' { // null
		return structured.BadInput("parameters: found %.20s, expected an object", text)
	}
	return nil
}

// output is a tensor of an answer.
type output struct {
	Name     string `json:"name"`
	Datatype string `json:"datatype"`
	Shape    []int  `json:"shape"`
	Data     any    `json:"data"`
}

// infer answers POST /v2/models/NAME/infer.
func (s *Server) infer(w http.ResponseWriter, r *http.Request) error {
	e, err := s.asked(r)
	if err != nil {
		return err
	}
	if e.line.Load() != nil {
		return refuse(http.StatusBadRequest, "%s is a pipeline, which has no tensors; ask POST /predict/%s", e.name, e.name)
	}
	if r.Header.Get("Inference-Header-Content-Length") != "" {
		return refuse(http.StatusBadRequest, "binary data are not supported, expected JSON")
	}
	body, held, err := s.body(w, r)
	if err != nil {
		return err
	}
	defer held.release()
	var request *inferRequest
	var a *answers
	err = e.run(r.Context(), held, func(p *pool) (*job, error) {
		extent, err := requests.ExtentOf(body)
		if err == nil {
			err = held.await(r.Context(), extent.Tensors(p.reader), "what the body holds")
		}
		if err != nil {
			return nil, err
		}
		if request, err = parseInfer(body); err != nil {
			return nil, err
		}
		wanted, err := p.wanted(request)
		if err != nil {
			return nil, err
		}
		all, err := p.exampleTensors(request.Inputs)
		if err != nil {
			return nil, err
		}
		a = &answers{pool: p, wanted: wanted, all: make([]one, len(all))}
		o := predictions.Options{Probability: true, Marginals: slices.Contains(wanted, "marginals")}
		if err := p.keeps(all, false); err != nil {
			return nil, err
		}
		if err := p.fits(all, o); err != nil {
			return nil, err
		}
		size := answerSize{held: held}
		layout := p.model.Layout(o, true)
		return &job{examples: all, options: o, use: func(k int, d *structured.Dataset, i int, prediction *predictions.Prediction) error {
			line, err := render(layout, k, d, i, prediction, nil)
			if err == nil {
				err = size.add(len(line))
			}
			a.all[k] = one{line: string(bytes.TrimRight(line, "\n")), prediction: *prediction}
			a.all[k].labels = slices.Clone(prediction.Labels)
			if box := p.task().Request == tasks.Scenes; box && err == nil {
				b := localisation.Of(d).Box(i, prediction.Labels)
				a.all[k].box = []float64{b.X, b.Y, b.Width, b.Height}
			}
			return err
		}}, nil
	})
	if err != nil {
		return err
	}
	if a == nil {
		return structured.BadInput("no inputs, expected some; see /v2/models/%s", e.name)
	}
	return answerJSON(w, http.StatusOK, struct {
		ModelName string   `json:"model_name"`
		ID        string   `json:"id,omitempty"`
		Outputs   []output `json:"outputs"`
	}{e.name, request.ID, a.outputs()})
}

func parseInfer(body []byte) (*inferRequest, error) {
	if !utf8.Valid(body) {
		return nil, structured.BadInput("the text is not UTF-8")
	}
	var request inferRequest
	d := json.NewDecoder(bytes.NewReader(body))
	d.DisallowUnknownFields()
	if err := d.Decode(&request); err != nil {
		return nil, structured.BadInput("%s", requests.Explain(err))
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return nil, structured.BadInput("more text after the object")
	}
	if len(request.Inputs) == 0 {
		return nil, structured.BadInput("no inputs, expected a list of tensors with name, shape, datatype and data")
	}
	return &request, nil
}

// wanted returns the names of the outputs that a request asks for; without any, all but the marginals, which are many,
// and the lines.
func (p *pool) wanted(r *inferRequest) ([]string, error) {
	var names, wanted []string
	for _, out := range p.outputs() {
		names = append(names, out.Name)
	}
	for _, out := range r.Outputs {
		if !slices.Contains(names, out.Name) {
			return nil, structured.BadInput("output %q is not one of the model's: %s", out.Name, strings.Join(names, ", "))
		}
		wanted = append(wanted, out.Name)
	}
	if wanted != nil {
		return wanted, nil
	}
	extra := []string{"marginals"}
	if p.reader.Inputs()[0].Kind != requests.Objects {
		extra = append(extra, answerTensor)
	}
	return slices.DeleteFunc(names, func(name string) bool { return slices.Contains(extra, name) }), nil
}

// exampleTensors reads the examples of the inputs.
func (p *pool) exampleTensors(list []tensor) ([]requests.Example, error) {
	known := p.reader.Inputs()
	in, err := newInputSet(list, known)
	if err != nil {
		return nil, err
	}
	var objects []*requests.Object
	if known[0].Kind == requests.Objects {
		if objects, err = in.parsed(p.reader); err != nil {
			return nil, err
		}
	} else if objects, err = in.objects(known); err != nil {
		return nil, err
	}
	if err := tooMany(len(objects)); err != nil {
		return nil, err
	}
	all := make([]requests.Example, len(objects))
	for k, o := range objects {
		if all[k], err = p.reader.Example(o); err != nil {
			if len(objects) > 1 {
				err = structured.BadInput("sequence %d: %w", k, err)
			}
			return nil, err
		}
	}
	if len(all) == 0 {
		return nil, structured.BadInput("no sequences, expected at least one")
	}
	return all, nil
}

// parsed returns the examples of the tensor that holds objects, which r reads.
func (in *inputSet) parsed(r requests.Reader) ([]*requests.Object, error) {
	t := in.tensors[exampleTensor]
	if t == nil || in.lengths != nil {
		return nil, structured.BadInput("expected one input, %s, with an object for each example as POST /predict reads it", exampleTensor)
	}
	texts, err := values[string](t, "BYTES")
	if err != nil {
		return nil, err
	}
	if err := tooMany(len(texts)); err != nil {
		return nil, err
	}
	all := make([]*requests.Object, len(texts))
	for k, text := range texts {
		if all[k], err = requests.Parse([]byte(text), r); err != nil {
			return nil, t.bad(": example %d: %w", k, err)
		}
	}
	return all, nil
}

// sums reports whether there are probabilities.
func (p *pool) sums() bool {
	_, ok := registry.Of(p.model.Net.Form().Structure).Oracle().(oracles.Summer)
	return ok
}

// answers are the predictions for a request.
type answers struct {
	pool   *pool
	wanted []string
	all    []one
}

// one is the prediction for one example.
type one struct {
	line       string // of POST /predict
	prediction predictions.Prediction
	labels     []int32
	box        []float64 // of the task localise
}

// outputs returns the tensors that are wanted.
func (a *answers) outputs() []output {
	all := make([]output, 0, len(a.wanted))
	for _, name := range a.wanted {
		all = append(all, a.output(name))
	}
	return all
}

func (a *answers) output(name string) output {
	labels := a.pool.model.Labels
	switch name {
	case "score":
		return tensorOf(a, name, "FP64", 1, func(x *one) []float64 { return []float64{x.prediction.Score} })
	case "probability":
		return tensorOf(a, name, "FP64", 1, func(x *one) []float64 { return []float64{finite(x.prediction.Probability)} })
	case "labels":
		return tensorOf(a, name, "BYTES", 1, func(x *one) []string { return names(labels, x.labels) })
	case "label_ids":
		return tensorOf(a, name, "INT32", 1, func(x *one) []int32 { return x.labels })
	case lengthsTensor:
		return tensorOf(a, name, "INT64", 1, func(x *one) []int { return []int{x.length(a.pool)} })
	case "marginals":
		return tensorOf(a, name, "FP32", labels.Len(), func(x *one) []float32 { return x.prediction.Marginals })
	case "heads":
		return tensorOf(a, name, "INT32", 1, func(x *one) []int32 { return trees.FromOutput(x.labels).Heads })
	case "relations":
		return tensorOf(a, name, "BYTES", 1, func(x *one) []string { return names(labels, trees.FromOutput(x.labels).Relations) })
	case "box":
		return tensorOf(a, name, "FP64", 4, func(x *one) []float64 { return x.box })
	case "links":
		k := int32(-1)
		return tensorOf(a, name, "INT32", 3, func(x *one) []int32 {
			k++
			var all []int32
			for _, l := range a.pool.task().Links.Links(x.labels) {
				all = append(all, k, l.Source, l.Target)
			}
			return all
		})
	case answerTensor:
		return tensorOf(a, name, "BYTES", 1, func(x *one) []string { return []string{x.line} })
	}
	panic(fmt.Sprintf("output %s is announced but not made", name))
}

// length returns how many positions an output has.
func (x *one) length(p *pool) int {
	if p.task().Request == tasks.Sentences {
		return len(x.labels) / 2
	}
	return len(x.labels)
}

// tensorOf joins what the examples have into a tensor, whose rows have width elements.
func tensorOf[T any](a *answers, name, datatype string, width int, of func(x *one) []T) output {
	data := []T{}
	for k := range a.all {
		data = append(data, of(&a.all[k])...)
	}
	shape := []int{len(data)}
	if width > 1 || name == "marginals" {
		shape = []int{len(data) / width, width}
	}
	return output{name, datatype, shape, data}
}

func names(of *structured.Alphabet, labels []int32) []string {
	all := make([]string, len(labels))
	for t, l := range labels {
		all[t] = of.Name(l)
	}
	return all
}

// finite returns 0 in place of a number that JSON does not have.
func finite(x float64) float64 {
	if math.IsNaN(x) || math.IsInf(x, 0) {
		return 0
	}
	return x
}
