package server

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"mime"
	"net/http"
	"strconv"
	"strings"

	"github.com/dsp-go/dsp/cmd/dsp/server/examples"
	"github.com/dsp-go/dsp/models/data/masks"
	"github.com/dsp-go/dsp/models/data/segmentation"
	"github.com/dsp-go/dsp/models/data/tokens"
	"github.com/dsp-go/dsp/models/pictures/regionpicture"
	"github.com/dsp-go/dsp/models/predictions"
	"github.com/dsp-go/dsp/models/tasks"
	"github.com/dsp-go/dsp/structured"
)

// predict answers POST /predict: an object per line in, what dsp predict --json prints for it per line out.
func (s *Server) predict(w http.ResponseWriter, r *http.Request) error {
	e, err := s.named(r)
	if err != nil {
		return err
	}
	r.SetPathValue("model", e.name) // for the metrics
	if l := e.line.Load(); l != nil {
		return s.predictLine(w, r, l)
	}
	options, err := queryOptions(r)
	if err != nil {
		return err
	}
	body, held, err := s.body(w, r)
	if err != nil {
		return err
	}
	defer held.release()
	var lines [][]byte
	err = e.run(r.Context(), held, func(p *pool) (*job, error) {
		if !isImage(r) {
			extent, err := examples.ExtentOf(body)
			if err == nil {
				err = held.await(r.Context(), extent.Parsed(p.reader), "what the body holds")
			}
			if err != nil {
				return nil, err
			}
		}
		all, err := readBody(r, body, p.reader, s.o.Splitter)
		if err != nil {
			return nil, err
		}
		if options.truncate && !p.model.Truncates() {
			return nil, structured.BadInput("truncate is for cuts, which this model's outputs are not found with")
		}
		if options.overlay && p.task().Request != tasks.Regions {
			return nil, structured.BadInput("overlay: the model does not label the pixels of images (--task segment)")
		}
		if err := p.model.CheckEntities(options.Options); err != nil {
			return nil, err
		}
		if err := p.model.CheckQuestions(options.Options); err != nil {
			return nil, err
		}
		if err := p.keeps(all, options.Force); err != nil {
			return nil, err
		}
		if options.overlay {
			for k := range all {
				all[k].Bytes += examples.PerOverlay * all[k].Pixels
			}
		}
		if err := p.fits(all, options.Options); err != nil {
			return nil, err
		}
		lines = make([][]byte, len(all))
		size := answerSize{held: held}
		layout := p.model.JSONLayout(options.Options)
		return &job{examples: all, options: options.Options, use: func(k int, d *structured.Dataset, i int, prediction *predictions.Prediction) error {
			line, err := render(layout, k, d, i, prediction, all[k].Tokens)
			if err == nil && options.overlay {
				line, err = withOverlay(line, p.model.Labels, d, i, prediction)
			}
			if err == nil {
				lines[k], err = line, size.add(len(line))
			}
			return err
		}}, nil
	})
	if err != nil {
		return err
	}
	return answer(w, http.StatusOK, "application/x-ndjson", bytes.Join(lines, nil))
}

// keeps refuses examples of which predictions are to keep what they do not say, or say what predictions are not to keep.
func (p *pool) keeps(all []examples.Example, force bool) error {
	if force {
		if err := p.model.Keeps(); err != nil {
			return err
		}
	}
	for _, e := range all {
		at := ""
		if e.Line > 0 {
			at = fmt.Sprintf("line %d: ", e.Line)
		}
		switch {
		case force && !e.Given:
			return structured.BadInput("%sforce keeps what an object says of its output, expected %s", at, p.reader.Known())
		case e.Given && !force:
			return structured.BadInput("%swhat an object says of its output is kept with ?force; without, leave it out", at)
		}
	}
	return nil
}

// named returns the model that the path or the query of a request names.
func (s *Server) named(r *http.Request) (*entry, error) {
	name := r.PathValue("model")
	for _, inQuery := range r.URL.Query()["model"] {
		if name != "" && name != inQuery {
			return nil, structured.BadInput("the request names the model %s, and the model %s; give one of them", name, inQuery)
		}
		name = inQuery
	}
	return s.find(name)
}

// options are what a request asks for.
type options struct {
	predictions.Options
	overlay  bool
	truncate bool // the request says whether edges may be truncated
}

// queryOptions reads the query of a request. Flags are true without a value.
func queryOptions(r *http.Request) (o options, err error) {
	o.Probability = true
	seeded := false
	for key, values := range r.URL.Query() {
		value := values[len(values)-1]
		switch key {
		case "model": // named has read it
		case "nbest":
			o.NBest, err = strconv.Atoi(value)
			if err != nil || o.NBest < 0 || o.NBest > mostBest {
				return o, structured.BadInput("nbest=%s: expected a number from 0 to %d", value, mostBest)
			}
		case "beam":
			o.Beam, err = strconv.Atoi(value)
			if err != nil || o.Beam < 0 || o.Beam > mostBest {
				return o, structured.BadInput("beam=%s: expected a number from 0 to %d", value, mostBest)
			}
		case "samples":
			o.Samples, err = strconv.Atoi(value)
			if err != nil || o.Samples < 0 || o.Samples > mostBest {
				return o, structured.BadInput("samples=%s: expected a number from 0 to %d", value, mostBest)
			}
		case "temperature":
			o.SampleTemperature, err = strconv.ParseFloat(value, 64)
			if err != nil || !predictions.ValidTemperature(o.SampleTemperature) {
				return o, structured.BadInput("temperature=%s: expected %v to %v", value, float64(predictions.LeastTemperature), float64(predictions.MostTemperature))
			}
		case "seed":
			if o.Seed, err = strconv.ParseUint(value, 10, 64); err != nil {
				return o, structured.BadInput("seed=%s: expected a whole number from 0 on", value)
			}
			seeded = true
		case "decode":
			if value != "max" && value != "risk" && value != "f1" {
				return o, structured.BadInput("decode=%s: expected max, risk or f1", value)
			}
			o.LeastRisk, o.EntityF1 = value == "risk", value == "f1"
		case "threshold":
			o.EntityThreshold, err = strconv.ParseFloat(value, 64)
			if err != nil || !(o.EntityThreshold > 0 && o.EntityThreshold <= 1) {
				return o, structured.BadInput("threshold=%s: expected more than 0, and at most 1", value)
			}
		case "min_probability":
			o.MinProbability, err = strconv.ParseFloat(value, 64)
			if err != nil || !(o.MinProbability > 0 && o.MinProbability <= 1) {
				return o, structured.BadInput("min_probability=%s: expected more than 0, and at most 1", value)
			}
		case "marginals", "confidence", "entropy", "spans", "truncate", "overlay", "force":
			on := value == ""
			if !on {
				if on, err = strconv.ParseBool(value); err != nil {
					return o, structured.BadInput("%s=%s: expected true or false", key, value)
				}
			}
			switch key {
			case "marginals":
				o.Marginals = on
			case "confidence":
				o.Confidence = on
			case "entropy":
				o.Entropy = on
			case "spans":
				o.Spans = on
			case "truncate":
				o.Exact, o.truncate = !on, true
			case "overlay":
				o.overlay = on
			case "force":
				o.Force = on
			}
		default:
			return o, structured.BadInput("no option %s; there are model, nbest, beam, marginals, confidence, entropy, samples, temperature, seed, spans, min_probability, decode, threshold, truncate, overlay, force", key)
		}
	}
	switch {
	case o.MinProbability > 0 && !o.Spans:
		return o, structured.BadInput("min_probability is for spans")
	case (o.SampleTemperature > 0 || seeded) && o.Samples == 0:
		return o, structured.BadInput("temperature and seed are for samples")
	case o.EntityF1 != (o.EntityThreshold > 0):
		return o, structured.BadInput("decode=f1 and threshold go with each other: the decode f1 of dsp eval finds a threshold")
	}
	return o, nil
}

// isImage reports whether the body of a request is an image file.
func isImage(r *http.Request) bool {
	kind, _, _ := mime.ParseMediaType(r.Header.Get("Content-Type"))
	return strings.HasPrefix(kind, "image/")
}

// tooMany refuses requests of too many examples.
func tooMany(n int) error {
	if n > examples.MostExamples {
		return refuse(http.StatusRequestEntityTooLarge, "more than %d examples; send fewer at once", examples.MostExamples)
	}
	return nil
}

// readBody reads the examples of a body: an image file, or an object per line. Raw text has an example for each of its sentences.
func readBody(r *http.Request, body []byte, reader examples.Reader, split tokens.Splitter) ([]examples.Example, error) {
	if isImage(r) {
		kind, _, _ := mime.ParseMediaType(r.Header.Get("Content-Type"))
		if kind != "image/png" && kind != "image/jpeg" {
			return nil, refuse(http.StatusUnsupportedMediaType, "Content-Type %s: expected image/png, image/jpeg, or JSON", kind)
		}
		e, err := reader.Example(&examples.Object{Image: body})
		return []examples.Example{e}, err
	}
	var all []examples.Example
	lines := bytes.Lines(body)
	several := bytes.IndexByte(bytes.TrimSpace(body), '\n') >= 0
	if several && json.Valid(body) { // one object on several lines
		lines, several = func(yield func([]byte) bool) { yield(body) }, false
	}
	number, found := 0, 0
	for line := range lines {
		number++
		if line = bytes.TrimSpace(line); len(line) == 0 {
			continue
		}
		o, err := examples.Parse(line, reader)
		named := 0 // the line that messages name
		if several {
			named = number
		}
		if err == nil {
			all, err = appendSentences(all, o, reader, split, named)
		}
		if err != nil {
			if several && structured.IsBadInput(err) {
				err = structured.BadInput("line %d: %w", number, err)
			}
			return nil, err
		}
		found++
	}
	if found == 0 {
		return nil, structured.BadInput("an empty body, expected an object per line such as %s", reader.Sample())
	}
	return all, nil
}

// appendSentences appends the examples of an object; line is its number in the request, 0 if it is the only one.
func appendSentences(all []examples.Example, o *examples.Object, reader examples.Reader, split tokens.Splitter, line int) ([]examples.Example, error) {
	for sentence := range o.Sentences(split) {
		e, err := reader.Example(sentence)
		if errors.Is(err, examples.ErrNoWords) {
			continue // no sentence, no answer
		}
		if err != nil {
			return nil, err
		}
		e.Line = line
		all = append(all, e)
		if err := tooMany(len(all)); err != nil {
			return nil, err
		}
	}
	return all, nil
}

// render returns the line that dsp predict --json prints, and for raw text the tokens and where they are.
func render(layout predictions.Layout, k int, d *structured.Dataset, i int, p *predictions.Prediction, split []tokens.Token) ([]byte, error) {
	text, number := layout.Add(nil, d, i, p)
	if number >= 0 {
		text = append(text[:number:number], append(strconv.AppendInt(nil, int64(k), 10), text[number:]...)...)
	}
	if split == nil {
		return text, nil
	}
	words, places := make([]string, len(split)), make([][2]int, len(split))
	for t, token := range split {
		words[t], places[t] = token.Text, [2]int{token.Start, token.End}
	}
	return withMembers(text, map[string]any{"words": words, "offsets": places})
}

// withMembers adds members to the end of an object in a line of its own.
func withMembers(line []byte, members map[string]any) ([]byte, error) {
	var more bytes.Buffer
	encode := json.NewEncoder(&more)
	encode.SetEscapeHTML(false)
	if err := encode.Encode(members); err != nil {
		return nil, err
	}
	line = append(bytes.TrimSuffix(bytes.TrimRight(line, "\n"), []byte("}")), ',')
	return append(line, more.Bytes()[1:]...), nil
}

// withOverlay adds the image with the predicted mask over it, a PNG file in base64, and the names of the labels that the mask shows.
func withOverlay(line []byte, names *structured.Alphabet, d *structured.Dataset, i int, p *predictions.Prediction) ([]byte, error) {
	s := segmentation.Of(d)
	e, err := s.Load(i)
	if err != nil {
		return nil, err
	}
	mask, _ := s.Paint(e, p.Labels, nil)
	painted, err := encodePNG(regionpicture.Paint(e.Image, mask))
	if err != nil {
		return nil, err
	}
	legend := map[string]string{}
	for _, l := range p.Labels {
		if legend[names.Name(l)] == "" {
			c := masks.Colour(int(l))
			legend[names.Name(l)] = fmt.Sprintf("#%02x%02x%02x", c.R, c.G, c.B)
		}
	}
	return withMembers(line, map[string]any{"overlay": base64.StdEncoding.EncodeToString(painted), "colours": legend})
}
