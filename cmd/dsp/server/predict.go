package server

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"mime"
	"net/http"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/dsp-go/dsp/cmd/dsp/server/requests"
	"github.com/dsp-go/dsp/models/data/masks"
	"github.com/dsp-go/dsp/models/data/segmentation"
	"github.com/dsp-go/dsp/models/data/tokens"
	"github.com/dsp-go/dsp/models/pictures/regionpicture"
	"github.com/dsp-go/dsp/models/predictions"
	"github.com/dsp-go/dsp/models/settings"
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
			extent, err := requests.ExtentOf(body)
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
		if options.Given.Has("truncate") && !p.model.Truncates() {
			return nil, structured.BadInput("?truncate is for cuts, which this model's outputs are not found with")
		}
		if options.Overlay && p.task().Request != tasks.Regions {
			return nil, structured.BadInput("?overlay: the model does not label the pixels of images (--task segment)")
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
		if options.Overlay {
			for k := range all {
				all[k].Bytes += requests.PerOverlay * all[k].Pixels
			}
		}
		if err := p.fits(all, options.Options); err != nil {
			return nil, err
		}
		lines = make([][]byte, len(all))
		size := answerSize{held: held}
		layout := p.model.Layout(options.Options, true)
		return &job{examples: all, options: options.Options, use: func(k int, d *structured.Dataset, i int, prediction *predictions.Prediction) error {
			line, err := render(layout, k, d, i, prediction, all[k].Tokens)
			if err == nil && options.Overlay {
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

// keeps refuses examples of which predictions are to keep what they do not say, or say what predictions are not to
// keep.
func (p *pool) keeps(all []requests.Example, force bool) error {
	if force {
		if err := p.model.Keeps(settings.Query); err != nil {
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
			return structured.BadInput("%s?force keeps what an object says of its output, expected %s", at, p.reader.Known())
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
	predictions.Asked
	Overlay bool `yaml:"overlay" help:"of images: a picture of the regions"`
}

// notInQuery are settings of predictions that requests do not have: answers are no columns, and always have scores.
var notInQuery = []string{"into", "scheme", "score"}

// settings returns the options that a query may give.
func (o *options) settings() []settings.Setting {
	all := slices.DeleteFunc(settings.Of(o), func(s settings.Setting) bool { return slices.Contains(notInQuery, s.Name) })
	for k := range all {
		all[k].Asker = settings.Query
		switch all[k].Name {
		case "nbest", "beam", "samples":
			all[k] = all[k].AtMost(mostBest)
		case "decode": // no answer says how far that of alpha-expansion may be from the best
			all[k].Values = []string{predictions.Best, predictions.LeastRisk, predictions.EntityF1}
		}
	}
	return all
}

// QueryOptions lists the options of POST /predict, as queries name them.
func QueryOptions() []string { return optionNames(new(options).settings()) }

// optionNames lists the names of options in queries.
func optionNames(all []settings.Setting) []string {
	names := []string{"model"}
	for _, s := range all {
		names = append(names, strings.ReplaceAll(s.Name, "-", "_"))
	}
	return names
}

// queryOptions reads the query of a request. Flags are true without a value.
func queryOptions(r *http.Request) (*options, error) {
	o := &options{Asked: predictions.Ask(settings.Query)}
	all := o.settings()
	for key, values := range r.URL.Query() {
		if key == "model" { // named has read it
			continue
		}
		s, known := settings.Named(all, strings.ReplaceAll(key, "_", "-"))
		if !known || strings.Contains(key, "-") {
			return nil, structured.BadInput("no option %s; there are %s", key, strings.Join(optionNames(all), ", "))
		}
		value := values[len(values)-1]
		if value == "" && s.Value.Kind() == reflect.Bool {
			value = "true"
		}
		if err := s.Set(value); err != nil {
			return nil, structured.BadInput("%s: %w", s.Asker.Name(s.Name), err)
		}
	}
	if err := o.Check(all); err != nil {
		return nil, err
	}
	if o.Probability = true; o.Decode == predictions.EntityF1 && o.EntityThreshold == 0 {
		return nil, structured.BadInput("%s needs %s: dsp eval --decode f1 finds one", o.Asker.Name("decode", o.Decode), o.Asker.Name("threshold"))
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
	if n > requests.MostExamples {
		return refuse(http.StatusRequestEntityTooLarge, "more than %d examples; send fewer at once", requests.MostExamples)
	}
	return nil
}

// readBody reads the examples of a body: an image file, or an object per line. Raw text has an example for each of its
// sentences.
func readBody(r *http.Request, body []byte, reader requests.Reader, split tokens.Splitter) ([]requests.Example, error) {
	if isImage(r) {
		kind, _, _ := mime.ParseMediaType(r.Header.Get("Content-Type"))
		if kind != "image/png" && kind != "image/jpeg" {
			return nil, refuse(http.StatusUnsupportedMediaType, "Content-Type %s: expected image/png, image/jpeg, or JSON", kind)
		}
		e, err := reader.Example(&requests.Object{Image: body})
		return []requests.Example{e}, err
	}
	var all []requests.Example
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
		o, err := requests.Parse(line, reader)
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
func appendSentences(all []requests.Example, o *requests.Object, reader requests.Reader, split tokens.Splitter, line int) ([]requests.Example, error) {
	for sentence := range o.Sentences(split) {
		e, err := reader.Example(sentence)
		if errors.Is(err, requests.ErrNoWords) {
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

// withOverlay adds the image with the predicted mask over it, a PNG file in base64, and the names of the labels that
// the mask shows.
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
