package server

import (
	"net/http"

	"github.com/prometheus/client_golang/prometheus/promhttp"
)

// Route is what the server answers under a method and a path.
type Route struct {
	Pattern string // as http.ServeMux has it
	Answers string
	Open    bool // no token is needed

	manages bool // pages of other sites may not ask
	answer  func(s *Server, w http.ResponseWriter, r *http.Request) error
}

// Routes returns the routes of the server.
func Routes() []Route {
	all := []Route{
		{Pattern: "GET /{$}", Answers: "a page to try the models", Open: true,
			answer: func(_ *Server, w http.ResponseWriter, r *http.Request) error { return showPage(w, r) }},
		{Pattern: "POST /predict", Answers: "predictions, in JSON", answer: (*Server).predict},
		{Pattern: "POST /predict/{model}", Answers: "the same, of this model", answer: (*Server).predict},
		{Pattern: "GET /metrics", Answers: "counts and times for Prometheus", manages: true, answer: (*Server).prometheus},
		{Pattern: "GET /v2/health/live", Answers: "whether the server runs", Open: true, answer: (*Server).live},
		{Pattern: "GET /v2/health/ready", Answers: "whether it takes requests", Open: true, answer: (*Server).ready},
		{Pattern: "GET /v2", Answers: "name, version and models", answer: (*Server).serverMetadata},
		{Pattern: "POST /v2/repository/index", Answers: "the models, with their state", manages: true, answer: (*Server).index},
		{Pattern: "POST /v2/repository/models/{model}/load", Answers: "reads the model's file again", manages: true,
			answer: (*Server).loadAgain},
	}
	for _, model := range []string{"/v2/models/{model}", "/v2/models/{model}/versions/{version}"} {
		all = append(all,
			Route{Pattern: "GET " + model, Answers: "what the model reads and predicts, and an example", answer: (*Server).modelMetadata},
			Route{Pattern: "GET " + model + "/ready", Answers: "whether the model is loaded", answer: (*Server).modelReady},
			Route{Pattern: "POST " + model + "/infer", Answers: "predictions, as tensors", answer: (*Server).infer})
	}
	return all
}

// prometheus answers GET /metrics.
func (s *Server) prometheus(w http.ResponseWriter, r *http.Request) error {
	promhttp.HandlerFor(s.metrics.registry, promhttp.HandlerOpts{}).ServeHTTP(w, r)
	return nil
}
