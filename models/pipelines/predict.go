package pipelines

import (
	"bufio"
	"cmp"
	"context"
	"io"

	"github.com/dsp-go/dsp/models"
	"github.com/dsp-go/dsp/models/data/conllu"
	"github.com/dsp-go/dsp/models/data/remarks"
	"github.com/dsp-go/dsp/models/data/text"
	"github.com/dsp-go/dsp/models/data/tokens"
	"github.com/dsp-go/dsp/models/tasks"
	"github.com/dsp-go/dsp/structured"
)

// Options say how predictions are made and written.
type Options struct {
	Fill    Fill
	Given   Given // what of the splitting of raw text is
	JSON    bool  // an object for each sentence instead of CoNLL-U
	Threads int   // 0: all cores; the answers do not depend on it

	Remarks *remarks.Remarks // on sentences of CoNLL-U; nil refuses bad ones
}

// PredictText reads raw text and writes its sentences, chunk by chunk as the text arrives. The name is for messages.
func (p *Pipeline) PredictText(ctx context.Context, in io.Reader, name string, w io.Writer, o Options) error {
	if p.stages[charactersStage] == nil && o.Given != GivenTokens {
		return structured.BadInput("--text: the pipeline was trained without the stage %s; --pretokenised reads "+
			"text that is split already", charactersStage)
	}
	chunks := tokens.NewChunks(in, name, tokens.Rules{Splitter: tokens.Unicode{}, Lines: o.Given >= GivenLines})
	return write(ctx, p, chunks.Next, w, o, true, func(worker *Worker, chunk tokens.Chunk) ([]conllu.Sentence, error) {
		all, err := worker.Split(chunk.Text, chunk.Start, o.Given)
		if err == nil {
			all, err = p.KeepShort(all, name, o.Fill, nil)
		}
		if err != nil {
			return nil, err
		}
		return all, worker.Annotate(all, o.Fill)
	})
}

// PredictTreebank reads CoNLL-U and writes it with the fields that are to be filled; everything else stays as it is.
func (p *Pipeline) PredictTreebank(ctx context.Context, in io.Reader, name string, w io.Writer, o Options) error {
	chunks := text.NewChunks(in, name, "")
	chunks.Most = tasks.Task{}.MostLines(p.longestSentence(o.Fill))
	first := true
	next := func() (text.Chunk, bool, error) {
		chunk, more, err := chunks.Next()
		if first && more && err == nil && !o.Remarks.Skips() {
			if line, number, found := text.ProseInConllu(chunk.Text); found {
				err = text.NoProse(name, number, line)
			}
		}
		first = false
		return chunk, more, err
	}
	return write(ctx, p, next, w, o, false, func(worker *Worker, chunk text.Chunk) ([]conllu.Sentence, error) {
		all, err := conllu.ReadChunk(chunk.Text, name, chunk.Line, o.Remarks)
		if err == nil {
			all, err = p.KeepShort(all, name, o.Fill, o.Remarks)
		}
		if err != nil {
			return nil, err
		}
		return all, worker.Annotate(all, o.Fill)
	})
}

// write writes what predict makes of chunks. Sentences of raw text get numbers.
func write[I any](ctx context.Context, p *Pipeline, next func() (I, bool, error), w io.Writer, o Options, raw bool,
	predict func(worker *Worker, chunk I) ([]conllu.Sentence, error)) error {
	out := bufio.NewWriterSize(w, 1<<16)
	sentences := 0
	var line []byte
	return models.InOrder(ctx, p.ranks, o.Threads, next, p.NewWorker, predict, func(all []conllu.Sentence) error {
		for i := range all {
			s := &all[i]
			sentences++
			id, _ := s.Comment("sent_id")
			switch {
			case o.JSON:
				object, err := MarshalSentence(s, cmp.Or(id, number(sentences)))
				if err != nil {
					return err
				}
				line = append(append(line[:0], object...), '\n')
			case raw:
				line = appendSentence(line[:0], s, sentences)
			default:
				line = s.Append(line[:0])
			}
			if _, err := out.Write(line); err != nil {
				return err
			}
		}
		return out.Flush()
	})
}
