package server

import (
	"strconv"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
)

// metrics are what /metrics shows.
type metrics struct {
	registry *prometheus.Registry
	requests *prometheus.CounterVec   // by route, model and code
	seconds  *prometheus.HistogramVec // by route and model
	examples *prometheus.CounterVec   // by model, as all below
	tokens   *prometheus.CounterVec
	changed  *prometheus.CounterVec
	batch    *prometheus.HistogramVec
	loads    *prometheus.CounterVec // by result too
	loaded   *prometheus.GaugeVec
}

func newMetrics() *metrics {
	m := &metrics{
		registry: prometheus.NewRegistry(),
		requests: prometheus.NewCounterVec(prometheus.CounterOpts{Name: "dsp_requests_total", Help: "Requests that were answered, by status code."},
			[]string{"route", "model", "code"}),
		seconds: prometheus.NewHistogramVec(prometheus.HistogramOpts{Name: "dsp_request_seconds", Help: "Time from the header of a request to its answer.",
			Buckets: []float64{.0002, .0005, .001, .002, .005, .01, .02, .05, .1, .2, .5, 1, 2, 5, 10}}, []string{"route", "model"}),
		examples: prometheus.NewCounterVec(prometheus.CounterOpts{Name: "dsp_examples_total", Help: "Examples that were predicted."}, []string{"model"}),
		tokens:   prometheus.NewCounterVec(prometheus.CounterOpts{Name: "dsp_positions_total", Help: "Tokens or other positions of examples that were predicted."}, []string{"model"}),
		changed: prometheus.NewCounterVec(prometheus.CounterOpts{Name: "dsp_truncated_edges_total",
			Help: "Edges that were truncated because they prefer different labels; labels may then not be the best."}, []string{"model"}),
		batch: prometheus.NewHistogramVec(prometheus.HistogramOpts{Name: "dsp_batch_examples", Help: "Examples that were predicted together.",
			Buckets: []float64{1, 2, 4, 8, 16, 32, 64, 128, 256}}, []string{"model"}),
		loads: prometheus.NewCounterVec(prometheus.CounterOpts{Name: "dsp_model_loads_total", Help: "Attempts to load a model, by result: done or refused."}, []string{"model", "result"}),
		loaded: prometheus.NewGaugeVec(prometheus.GaugeOpts{Name: "dsp_model_loaded_timestamp_seconds", Help: "When the model that answers now was loaded."},
			[]string{"model"}),
	}
	m.registry.MustRegister(m.requests, m.seconds, m.examples, m.tokens, m.changed, m.batch, m.loads, m.loaded,
		collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	return m
}

// modelMetrics are those of the workers of one model.
type modelMetrics struct {
	batch                          prometheus.Observer
	examples, positions, truncated prometheus.Counter
}

func (m *metrics) of(model string) modelMetrics {
	return modelMetrics{m.batch.WithLabelValues(model), m.examples.WithLabelValues(model), m.tokens.WithLabelValues(model), m.changed.WithLabelValues(model)}
}

// watch shows a gauge of the jobs in a model's queue.
func (m *metrics) watch(model string, length func() int) {
	m.registry.MustRegister(prometheus.NewGaugeFunc(prometheus.GaugeOpts{
		Name: "dsp_queue_requests", Help: "Requests that wait or are being predicted.", ConstLabels: prometheus.Labels{"model": model},
	}, func() float64 { return float64(length()) }))
}

// watchMemory shows a gauge of what is taken of a budget.
func (m *metrics) watchMemory(of string, b *budget) {
	m.registry.MustRegister(prometheus.NewGaugeFunc(prometheus.GaugeOpts{
		Name: "dsp_memory_bytes", Help: "Estimated memory that requests, or predictions, have of --memory.", ConstLabels: prometheus.Labels{"of": of},
	}, func() float64 { return float64(b.inUse()) }))
}

// answered counts a request.
func (m *metrics) answered(route, model string, code int, spent time.Duration) {
	m.requests.WithLabelValues(route, model, strconv.Itoa(code)).Inc()
	m.seconds.WithLabelValues(route, model).Observe(spent.Seconds())
}
