package server

import (
	"net/http"

	"github.com/dsp-go/dsp/cmd/dsp/server/requests"
	"github.com/dsp-go/dsp/models/tasks"
	"github.com/dsp-go/dsp/structured"
)

// live answers that the server runs.
func (s *Server) live(w http.ResponseWriter, _ *http.Request) error {
	return answerJSON(w, http.StatusOK, map[string]bool{"live": true})
}

// ready answers whether the server takes requests: all models are loaded before it listens, so only a server that stops
// does not.
func (s *Server) ready(w http.ResponseWriter, _ *http.Request) error {
	if s.stopping.Load() {
		return answerJSON(w, http.StatusServiceUnavailable, map[string]bool{"ready": false})
	}
	return answerJSON(w, http.StatusOK, map[string]bool{"ready": true})
}

// serverMetadata answers what the server is. Beside what the protocol has, it lists the models.
func (s *Server) serverMetadata(w http.ResponseWriter, _ *http.Request) error {
	names := make([]string, len(s.models))
	for k, e := range s.models {
		names[k] = e.name
	}
	return answerJSON(w, http.StatusOK, struct {
		Name       string   `json:"name"`
		Version    string   `json:"version"`
		Extensions []string `json:"extensions"`
		Models     []string `json:"models"`
	}{"dsp", s.o.Version, []string{"model_repository"}, names})
}

// tensorMetadata describes an input or output. −1 in a shape stands for any length.
type tensorMetadata struct {
	Name     string `json:"name"`
	Datatype string `json:"datatype"`
	Shape    []int  `json:"shape"`
}

// modelMetadata answers what a model reads and predicts. Beside what the protocol has, it shows an object for /predict.
func (s *Server) modelMetadata(w http.ResponseWriter, r *http.Request) error {
	e, err := s.asked(r)
	if err != nil {
		return err
	}
	if l := e.line.Load(); l != nil {
		return lineMetadata(w, e.name, l)
	}
	p := e.pool.Load()
	return answerJSON(w, http.StatusOK, struct {
		Name     string           `json:"name"`
		Versions []string         `json:"versions"`
		Platform string           `json:"platform"`
		Inputs   []tensorMetadata `json:"inputs"`
		Outputs  []tensorMetadata `json:"outputs"`
		Task     string           `json:"task"`
		Labels   []string         `json:"labels"`
		Example  string           `json:"example"`
		Text     bool             `json:"text"`      // the model reads words alone, so that raw text will do
		Cuts     bool             `json:"truncates"` // edges may have to be truncated
	}{e.name, []string{onlyVersion}, "dsp", p.inputs(), p.outputs(), p.model.Config.Task, p.model.Labels.Names(), p.reader.Sample(), p.readsText(), p.model.Truncates()})
}

// readsText reports whether raw text has all that the model reads.
func (p *pool) readsText() bool {
	in := p.reader.Inputs()
	return len(in) == 1 && in[0].Kind == requests.Strings && in[0].Name == "word"
}

// inputs describes the tensors that a request has.
func (p *pool) inputs() []tensorMetadata {
	var all []tensorMetadata
	for _, in := range p.reader.Inputs() {
		switch in.Kind {
		case requests.Strings:
			all = append(all, tensorMetadata{in.Name, "BYTES", []int{-1}})
		case requests.Numbers:
			all = append(all, tensorMetadata{in.Name, "FP32", []int{-1, in.Width}})
		case requests.Objects:
			return []tensorMetadata{{exampleTensor, "BYTES", []int{-1}}}
		}
	}
	return append(all, tensorMetadata{lengthsTensor, "INT64", []int{-1}})
}

// The tensors that do not hold one number or text for each position.
const (
	exampleTensor = "example" // objects as POST /predict reads them
	lengthsTensor = "lengths" // of the sequences that the other inputs hold one after the other; one sequence without it
	answerTensor  = "answer"  // lines as POST /predict answers them
)

// outputs describes the tensors that an answer may have.
func (p *pool) outputs() []tensorMetadata {
	all := []tensorMetadata{{answerTensor, "BYTES", []int{-1}}, {"score", "FP64", []int{-1}}}
	if p.sums() {
		all = append(all, tensorMetadata{"probability", "FP64", []int{-1}})
	}
	if p.labelsPositions() {
		all = append(all, tensorMetadata{"labels", "BYTES", []int{-1}}, tensorMetadata{"label_ids", "INT32", []int{-1}}, tensorMetadata{lengthsTensor, "INT64", []int{-1}})
		if p.sums() {
			all = append(all, tensorMetadata{"marginals", "FP32", []int{-1, p.model.Labels.Len()}})
		}
	}
	for _, name := range p.task().Tensors {
		all = append(all, tensorMetadata{name, ownTensors[name].kind, ownTensors[name].shape})
	}
	return all
}

// ownTensors are the tensors that only some tasks have in their answers.
var ownTensors = map[string]struct {
	kind  string
	shape []int
}{
	"heads": {"INT32", []int{-1}}, "relations": {"BYTES", []int{-1}}, lengthsTensor: {"INT64", []int{-1}},
	"box": {"FP64", []int{-1, 4}}, "links": {"INT32", []int{-1, 3}},
}

// task is what the model learned.
func (p *pool) task() tasks.Task { return tasks.Of(&p.model.Config) }

// labelsPositions reports whether an output is a label for each position.
func (p *pool) labelsPositions() bool {
	form := p.model.Net.Form()
	return form.Parts[0].Rows == structured.Positions && form.Parts[0].Width == p.model.Labels.Len() && p.task().Request != tasks.Scenes
}

// modelReady answers that a model is loaded, as all are.
func (s *Server) modelReady(w http.ResponseWriter, r *http.Request) error {
	e, err := s.asked(r)
	if err != nil {
		return err
	}
	return answerJSON(w, http.StatusOK, map[string]any{"name": e.name, "ready": true})
}

// index lists the models, as the protocol's extension for repositories has it.
func (s *Server) index(w http.ResponseWriter, _ *http.Request) error {
	type state struct {
		Name  string `json:"name"`
		State string `json:"state"`
	}
	all := make([]state, len(s.models))
	for k, e := range s.models {
		all[k] = state{e.name, "READY"}
	}
	return answerJSON(w, http.StatusOK, all)
}

// loadAgain loads a model again from its file.
func (s *Server) loadAgain(w http.ResponseWriter, r *http.Request) error {
	e, err := s.find(r.PathValue("model"))
	if err != nil {
		return err
	}
	if err := s.reload(e); err != nil {
		// The reason names files of this machine, which are no business of clients.
		return refuse(http.StatusBadRequest, "the model %s was not loaded again, the one before stays; the log of the server says why", e.name)
	}
	return answerJSON(w, http.StatusOK, map[string]any{"name": e.name, "ready": true})
}
