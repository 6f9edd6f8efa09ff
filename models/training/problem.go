package training

import (
	"context"

	"github.com/dsp-go/dsp/models"
	"github.com/dsp-go/dsp/models/config"
	"github.com/dsp-go/dsp/structured"
	"github.com/dsp-go/dsp/structured/sys/host"
	"github.com/dsp-go/dsp/train"
	"github.com/dsp-go/dsp/train/engine"
	"github.com/dsp-go/dsp/train/methods/sdca"
	"github.com/dsp-go/dsp/train/record"
)

// Problem is what a training minimises, and by which method: an untrained model, the objective on the data, and the
// optimiser. All settings are resolved but for those that depend on the device.
type Problem struct {
	config  config.Config
	data    *models.Data
	model   *models.Model
	problem *train.Problem
	method  train.Method
	o       TrainOptions
	taught  string // fingerprint of the targets that a teacher gives, empty without
	prints  map[*structured.Dataset]string
}

// NewProblem makes the model and the optimiser, and resolves the settings that c left open.
func NewProblem(c config.Config, data *models.Data, o TrainOptions) (*Problem, error) {
	m, err := models.NewModel(c, data)
	if err != nil {
		return nil, err
	}
	m.Version = o.Version
	p := &Problem{data: data, model: m, o: o}
	var lesson *lesson
	training := data.Train
	if data.Taught() {
		if lesson, err = learn(&m.Config, data, m, o.Log); err != nil {
			return nil, err
		}
		training = lesson.data
	}
	objective, err := objective(&m.Config, m, training)
	if err != nil {
		return nil, err
	}
	if lesson != nil {
		lesson.give(objective)
	}
	p.problem = &train.Problem{
		Engine: engine.NewEngine(objective, host.Threads(c.Threads)),
		Seed:   c.Seed,
	}
	why := ""
	if p.config, p.method, why, err = resolve(c, m, objective, o.ranks().Size()); err != nil {
		return nil, err
	}
	if _, dual := p.method.(*sdca.SDCA); !dual {
		objective.Origin = nil // nobody else begins there
	}
	if p.problem.Smoothing, err = smoothing(&p.config); err != nil {
		return nil, err
	}
	if why != "" {
		bound := p.method.Traits().Convex && objective.Relaxed() != ""
		o.Log.Info("method " + p.config.Method + ": " + record.Certified(why, bound))
	}
	if how := objective.Relaxed(); how != "" {
		o.Log.Warn("outputs may not be the best: " + how + "; objectives count an upper bound of their scores")
	}
	m.Config = p.config
	if err := p.problem.Join(o.ranks()); err != nil {
		return nil, err
	}
	if err := p.keepShare(); err != nil || lesson == nil {
		return p, err
	}
	if data.Share.Size() == 1 {
		if err := lesson.complete(objective); err != nil {
			return nil, err
		}
	}
	p.taught, err = lesson.fingerprint()
	return p, err
}

// TrainOnly trains without writing files. With choose, it evaluates after every pass and Best is the pass that does
// best on the development data, as in Train; otherwise Best is the last pass, and only its weights are evaluated.
func (p *Problem) TrainOnly(ctx context.Context, choose bool) (*train.Result, error) {
	r, err := p.open()
	if err != nil {
		return nil, err
	}
	defer r.close()
	trainer := r.trainer()
	if !choose {
		trainer.Evaluate, trainer.Begin = nil, nil
	}
	out, err := trainer.Run(ctx, newState(r.model.W))
	if err != nil {
		return nil, r.advise(err)
	}
	if !choose {
		out.Best.Dev, out.Best.Test, err = r.evaluate(ctx, out.W)
	}
	return out, err
}

// ModelWith returns the model with other weights.
func (p *Problem) ModelWith(w []float32) *models.Model {
	m := *p.model
	m.W = w
	return &m
}

// Curve trains without writing files and returns the record of every pass, with the metrics on the development and test
// data. After an error, such as a run that diverges, it returns the records up to there with it.
func (p *Problem) Curve(ctx context.Context) ([]record.Record, error) {
	r, err := p.open()
	if err != nil {
		return nil, err
	}
	defer r.close()
	history := &record.History{}
	trainer := r.trainer()
	trainer.Recorders, trainer.Lazy = []record.Recorder{history}, false
	_, err = trainer.Run(ctx, newState(r.model.W))
	return history.Records, err
}
