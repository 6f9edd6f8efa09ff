package server

import (
	"errors"
	"log/slog"
	"net/http"
	"sync"
	"sync/atomic"

	"github.com/dsp-go/dsp/cmd/dsp/server/examples"
	"github.com/dsp-go/dsp/models"
	"github.com/dsp-go/dsp/models/predictions"
	"github.com/dsp-go/dsp/structured"
	"github.com/dsp-go/dsp/structured/machine/host"
)

// batchPositions is how many positions a worker takes from the queue at once: as many as a model scores at once.
const batchPositions = 1024

// pool is the workers of a model with their queue.
type pool struct {
	*queue
	model   *models.Model
	reader  examples.Reader
	metrics modelMetrics
	running sync.WaitGroup
}

// start starts the workers.
func (p *pool) start(threads int) {
	for range host.Threads(threads) {
		p.running.Go(p.work)
	}
}

// work predicts until the queue is closed and empty.
func (p *pool) work() {
	a := p.model.NewAnswerer()
	for {
		batch, ok := p.take(batchPositions)
		if !ok {
			return
		}
		n, positions := 0, 0
		for _, piece := range batch {
			for _, e := range piece.of.examples[piece.from:piece.to] {
				n, positions = n+1, positions+e.Size
			}
		}
		p.metrics.batch.Observe(float64(n))
		p.metrics.examples.Add(float64(n))
		p.metrics.positions.Add(float64(positions))
		err := p.predict(a, batch)
		if crashed(err) {
			slog.Error("a request caused an internal error", "error", err)
			a = p.model.NewAnswerer() // the memory of the old one may be in any state
		}
		switch {
		case err == nil:
			for _, piece := range batch {
				p.finished(piece)
			}
		case n == 1:
			p.fail(batch[0], batch[0].from, err)
		default:
			a = p.alone(a, batch)
		}
	}
}

// alone predicts the examples of a batch one by one after one of them failed, so that it fails no other.
func (p *pool) alone(a *models.Answerer, batch []piece) *models.Answerer {
	for _, of := range batch {
		for k := of.from; k < of.to; k++ {
			one := piece{of.of, k, k + 1}
			err := p.predict(a, []piece{one})
			if err == nil {
				p.finished(one)
				continue
			}
			p.fail(one, k, err)
			if crashed(err) {
				a = p.model.NewAnswerer()
			}
		}
	}
	return a
}

func crashed(err error) bool {
	_, ok := errors.AsType[*host.PanicError](err)
	return ok
}

// predict predicts a batch and hands the predictions to the jobs. If it fails, some may have been handed over.
func (p *pool) predict(a *models.Answerer, batch []piece) error {
	return host.Guard(func() error {
		var all []examples.Example
		var of []piece // of each example
		var places []uint64
		for _, piece := range batch {
			all = append(all, piece.of.examples[piece.from:piece.to]...)
			for k := piece.from; k < piece.to; k++ {
				of, places = append(of, piece), append(places, uint64(k))
			}
		}
		d, err := p.reader.Dataset(all)
		if err != nil {
			return err
		}
		first, before := 0, -1 // the first example in d of the current piece
		truncated := a.Truncated()
		defer func() { p.metrics.truncated.Add(float64(a.Truncated() - truncated)) }()
		return a.PredictAt(places, d, batch[0].of.options, func(i int, prediction *predictions.Prediction) error {
			if piece := of[i]; before < 0 || piece != of[before] {
				first = i
			}
			before = i
			return of[i].of.use(of[i].from+i-first, d, i, prediction)
		})
	})
}

// stop lets the workers finish what is in the queue and waits for them.
func (p *pool) stop() {
	p.close()
	p.running.Wait()
}

// mostNumbers bounds the numbers that the scores of an example, or its n-best lists, may take.
const mostNumbers = 1 << 27

// fits refuses examples whose predictions would take too much memory.
func (p *pool) fits(all []examples.Example, o predictions.Options) error {
	width, form := 0, p.model.Net.Form()
	for _, part := range form.Parts {
		if structured.PerPosition(part.Rows) {
			width += part.Width
		}
	}
	for _, e := range all {
		if e.Size > mostNumbers/max(1, width) || o.NBest > 0 && e.Size > mostNumbers/8/max(1, form.Parts[0].Width)/o.NBest ||
			o.Samples > 0 && e.Size > mostNumbers/o.Samples {
			return structured.BadInput("%d positions with %d labels, nbest=%d and samples=%d, would take too much memory; send shorter examples", e.Size, p.model.Labels.Len(), o.NBest, o.Samples)
		}
	}
	return nil
}

// answerSize bounds the bytes of the answer to one request, for which its examples share a count.
type answerSize struct{ bytes atomic.Int64 }

// mostAnswer is the most bytes of an answer.
const mostAnswer = 64 << 20

// add refuses an answer that has become too large.
func (a *answerSize) add(bytes int) error {
	if a.bytes.Add(int64(bytes)) > mostAnswer {
		return refuse(http.StatusRequestEntityTooLarge, "the answer is larger than %d bytes; send fewer examples at once, or ask for less about them", mostAnswer)
	}
	return nil
}
