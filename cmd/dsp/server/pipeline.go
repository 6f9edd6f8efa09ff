package server

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"mime"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"unicode"
	"unicode/utf8"

	"github.com/dsp-go/dsp/cmd/dsp/server/requests"
	"github.com/dsp-go/dsp/models"
	"github.com/dsp-go/dsp/models/data/characters"
	"github.com/dsp-go/dsp/models/data/conllu"
	"github.com/dsp-go/dsp/models/pipelines"
	"github.com/dsp-go/dsp/models/predictions"
	"github.com/dsp-go/dsp/structured"
	"github.com/dsp-go/dsp/structured/sys/host"
)

// line is a pipeline that is served: its workers, and how many requests wait for one or have one.
type line struct {
	pipeline *pipelines.Pipeline
	workers  chan *pipelines.Worker
	requests atomic.Int64
	most     int64
	memory   *budget // for predictions
	kept     int64   // bytes of scratch memory that a worker keeps
}

func newLine(p *pipelines.Pipeline, threads, queue int, memory *budget, kept int64) *line {
	l := &line{pipeline: p, workers: make(chan *pipelines.Worker, threads), most: int64(queue), memory: memory, kept: kept}
	for range threads {
		l.workers <- p.NewWorker()
	}
	return l
}

// enter counts a request until leave is called. It returns errFull if there are too many.
func (l *line) enter() (leave func(), err error) {
	if l.requests.Add(1) > l.most {
		l.requests.Add(-1)
		return nil, errFull
	}
	return func() { l.requests.Add(-1) }, nil
}

// run lets a worker do something that takes so many bytes, unless ctx has ended. One that crashed is replaced, because
// its memory may be in any state, and one that took much, because its scratch memory never shrinks.
func (l *line) run(ctx context.Context, bytes int64, do func(w *pipelines.Worker) error) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	var w *pipelines.Worker
	select {
	case w = <-l.workers:
	case <-ctx.Done():
		return ctx.Err()
	}
	taken := l.memory.take(bytes)
	err := host.Guard(func() error { return do(w) })
	if crashed(err) || bytes > l.kept {
		w = l.pipeline.NewWorker()
	}
	l.memory.give(taken)
	l.workers <- w
	return err
}

// splitting estimates the memory of splitting a paragraph, in bytes.
func (l *line) splitting(text string) int64 {
	return l.largest(models.Extent{Positions: utf8.RuneCountInString(text), Pairs: 1, Characters: len(text)})
}

// annotating estimates the memory of annotating some sentences, in bytes.
func (l *line) annotating(all []conllu.Sentence) (bytes int64) {
	for i := range all {
		e := models.Extent{Positions: len(all[i].Words)}
		for _, t := range all[i].Tokens {
			e.Characters += len(t.Form)
		}
		bytes += l.largest(e)
	}
	return bytes
}

// largest estimates the memory of the stage that takes most for an example: one works after the other.
func (l *line) largest(e models.Extent) int64 {
	most := 0.0
	for _, stage := range l.pipeline.Stages() {
		if m := l.pipeline.Model(stage); m != nil {
			most = max(most, m.Footprint(e, predictions.Options{}))
		}
	}
	return int64(most)
}

// charactersPerPosition is how many characters a paragraph may have for each position that an example may have: its
// first stage labels characters, and the positions of the others are words.
const charactersPerPosition = 10

// sentencesAtOnce is how many sentences a worker annotates before it looks whether somebody still waits for them.
const sentencesAtOnce = 16

// predictLine answers POST /predict for a pipeline: raw text, or an object per line, {"text": …} or a sentence
// {"words": […]}. The answer has an object per sentence, or is CoNLL-U with ?format=conllu.
func (s *Server) predictLine(w http.ResponseWriter, r *http.Request, l *line) error {
	o, err := lineOptions(r)
	if err != nil {
		return err
	}
	body, held, err := s.body(w, r)
	if err != nil {
		return err
	}
	defer held.release()
	extent, err := textExtent(r, body)
	if err == nil {
		err = held.await(r.Context(), extent.RawText(), "the text")
	}
	if err != nil {
		return err
	}
	texts, err := lineTexts(r, body)
	if err != nil {
		return err
	}
	leave, err := l.enter()
	if err != nil {
		return err
	}
	defer leave()
	var paragraphs []lineText
	for _, t := range texts {
		for _, p := range pipelines.Pieces(t.Text, o.given) {
			if n, most := utf8.RuneCountInString(p.Text), charactersPerPosition*s.o.Limits.Positions; n > most {
				what, instead := "paragraph", "part it by empty lines, or send shorter texts"
				if t.words {
					what, instead = "sentence", "send shorter ones"
				}
				return structured.BadInput("a %s of %d characters, expected at most %d (%d times --max-positions); %s",
					what, n, most, charactersPerPosition, instead)
			}
			paragraphs = append(paragraphs, lineText{p, t.words})
		}
	}
	var to []byte
	size := answerSize{held: held}
	id := 0
	for _, p := range paragraphs {
		var sentences []conllu.Sentence
		err := l.run(r.Context(), l.splitting(p.Text), func(worker *pipelines.Worker) (err error) {
			if p.words {
				sentences, err = worker.Split(p.Text, 0, pipelines.GivenTokens)
			} else {
				sentences, err = worker.Split(p.Text, p.Start, o.given)
			}
			return err
		})
		if err != nil {
			return err
		}
		if sentences, err = l.pipeline.KeepShort(sentences, "the text", pipelines.All(), nil); err != nil {
			return err
		}
		// A few sentences at a time, so that a client that has gone, or a time that is up, ends the work.
		for all := range slices.Chunk(sentences, sentencesAtOnce) {
			if err := l.run(r.Context(), l.annotating(all), func(worker *pipelines.Worker) error { return worker.Annotate(all, pipelines.All()) }); err != nil {
				return err
			}
			before := len(to)
			for i := range all {
				id++
				if to, err = pipelines.AppendSentence(to, &all[i], id, !o.conllu); err != nil {
					return err
				}
			}
			if err := size.add(len(to) - before); err != nil {
				return err
			}
		}
	}
	kind := "application/x-ndjson"
	if o.conllu {
		kind = "text/plain; charset=utf-8"
	}
	return answer(w, http.StatusOK, kind, to)
}

// lineQuery is what the query of a request asks of a pipeline.
type lineQuery struct {
	conllu bool
	given  pipelines.Given
}

func lineOptions(r *http.Request) (o lineQuery, err error) {
	for key, values := range r.URL.Query() {
		value := values[len(values)-1]
		switch {
		case key == "model": // named has read it
		case key == "format" && (value == "conllu" || value == "json"):
			o.conllu = value == "conllu"
		case key == "format":
			return o, structured.BadInput("format=%s: expected json or conllu", value)
		case key == "lines" || key == "presegmented":
			on := true
			if value != "" {
				if on, err = strconv.ParseBool(value); err != nil {
					return o, structured.BadInput("%s=%s: expected true or false", key, value)
				}
			}
			if on && key == "lines" {
				o.given = max(o.given, pipelines.GivenLines)
			} else if on {
				o.given = pipelines.GivenSentences
			}
		default:
			return o, structured.BadInput("a pipeline has no option %q; it takes format, lines and presegmented", key)
		}
	}
	return o, nil
}

// textExtent counts what the body of a request for a pipeline holds.
func textExtent(r *http.Request, body []byte) (requests.Extent, error) {
	if isPlain(r) {
		return requests.Extent{Bytes: len(body)}, nil
	}
	return requests.ExtentOf(body)
}

// isPlain reports whether the body of a request is raw text as it is.
func isPlain(r *http.Request) bool {
	kind, _, err := mime.ParseMediaType(r.Header.Get("Content-Type"))
	return err == nil && kind == "text/plain"
}

// lineText is a text, or the words of a sentence with blanks between them.
type lineText struct {
	characters.Paragraph
	words bool
}

func lineTexts(r *http.Request, body []byte) ([]lineText, error) {
	if !utf8.Valid(body) {
		return nil, structured.BadInput("the body is not UTF-8")
	}
	if isPlain(r) {
		return []lineText{{Paragraph: characters.Paragraph{Text: string(body)}}}, nil
	}
	var texts []lineText
	number := 0
	for text := range bytes.Lines(body) {
		number++
		if len(bytes.TrimSpace(text)) == 0 {
			continue
		}
		var object struct {
			Text  *string  `json:"text"`
			Words []string `json:"words"`
		}
		d := json.NewDecoder(bytes.NewReader(text))
		d.DisallowUnknownFields()
		err := d.Decode(&object)
		if err == nil {
			if _, end := d.Token(); end != io.EOF {
				err = fmt.Errorf("more text after the object")
			}
		}
		switch {
		case err != nil:
		case object.Text != nil && object.Words != nil:
			err = fmt.Errorf("text and words")
		case object.Text != nil:
			texts = append(texts, lineText{Paragraph: characters.Paragraph{Text: *object.Text}})
		case len(object.Words) == 0:
			err = fmt.Errorf("no text")
		default:
			for k, w := range object.Words {
				if w == "" || strings.ContainsFunc(w, unicode.IsSpace) || w != conllu.Empty && characters.Seen(w) == conllu.Empty {
					err = fmt.Errorf("word %d, %q, has white space or nothing that is seen", k+1, w)
					break
				}
			}
			texts = append(texts, lineText{characters.Paragraph{Text: strings.Join(object.Words, " ")}, true})
		}
		if err != nil {
			return nil, structured.BadInput(`line %d: %w; expected an object {"text": "…"} or {"words": ["…"]} per line, `+
				"or raw text with Content-Type: text/plain", number, err)
		}
	}
	return texts, nil
}

// lineMetadata describes a pipeline.
func lineMetadata(w http.ResponseWriter, name string, l *line) error {
	return answerJSON(w, http.StatusOK, struct {
		Name        string           `json:"name"`
		Versions    []string         `json:"versions"`
		Platform    string           `json:"platform"`
		Inputs      []tensorMetadata `json:"inputs"`
		Outputs     []tensorMetadata `json:"outputs"`
		Task        string           `json:"task"`
		Labels      []string         `json:"labels"`
		Stages      []string         `json:"stages"`
		Fingerprint string           `json:"fingerprint"`
		Example     string           `json:"example"`
		Text        bool             `json:"text"`
	}{name, []string{onlyVersion}, "dsp", []tensorMetadata{}, []tensorMetadata{}, pipelines.Task, []string{}, l.pipeline.Stages(), l.pipeline.Fingerprint, `{"text": "A sentence."}`, true})
}
