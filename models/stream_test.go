package models

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/dsp-go/dsp/models/predictions"
	"github.com/dsp-go/dsp/structured"
)

// streamed returns what PredictText writes for a text.
func streamed(t *testing.T, m *Model, r io.Reader, o predictions.Options, asJSON bool) string {
	t.Helper()
	var out strings.Builder
	if err := m.PredictText(context.Background(), r, &out, Request{Path: "new"}, o, asJSON); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

// Labelling block by block equals labelling at once, for all options, threads and ways to read.
func TestPredictTextIsPredict(t *testing.T) {
	var text strings.Builder
	for i := range 3000 {
		if i%5 == 0 {
			fmt.Fprintf(&text, "# %d %d %d\n#begin\n", i, i, i)
		}
		fmt.Fprintf(&text, "the DT O\nbig%d JJ B-X\ndog NN I-X\n\n", i%50)
		if i%7 == 0 {
			text.WriteString("-DOCSTART- -X- O\n\na DT O\n# DT O\n# DT 7\n\n")
		}
	}
	text.WriteString("# the end\n")
	m, _ := attributeModel(t, textConfig(file(t, "train.conll", trainConll)))
	d, err := m.ReadData(Request{Path: file(t, "new", text.String())})
	if err != nil {
		t.Fatal(err)
	}
	for _, o := range []predictions.Options{{}, {Confidence: true, Probability: true}, {NBest: 2, Marginals: true}} {
		for _, asJSON := range []bool{false, true} {
			var want bytes.Buffer
			if err := m.Print(t.Context(), d, &want, o, asJSON); err != nil {
				t.Fatal(err)
			}
			for _, threads := range []int{1, 3} {
				o.Threads = threads
				if got := streamed(t, m, strings.NewReader(text.String()), o, asJSON); got != want.String() {
					t.Errorf("%+v, JSON %v: other than all at once", o, asJSON)
				}
			}
			if got := streamed(t, m, iotest.HalfReader(strings.NewReader(text.String())), o, asJSON); got != want.String() {
				t.Errorf("%+v, JSON %v: depends on how it is read", o, asJSON)
			}
		}
	}
}

// A mark between documents is kept, however it arrives.
func TestPredictTextKeepsMarks(t *testing.T) {
	m, _ := attributeModel(t, textConfig(file(t, "train.conll", trainConll)))
	text := "-DOCSTART- -X-\n\nthe DT\n\n-DOCSTART- -X-\n\nthe DT\n\n"
	answer := strings.TrimSpace(streamed(t, m, strings.NewReader("the DT\n\n"), predictions.Options{}, false))
	want := strings.NewReplacer("X-", "X- O", "the DT", answer).Replace(text)
	if got := streamed(t, m, iotest.OneByteReader(strings.NewReader(text)), predictions.Options{}, false); got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

// Sequences are answered as soon as they are complete, so that a writer can wait for the answer.
func TestPredictTextAnswersAtOnce(t *testing.T) {
	m, _ := attributeModel(t, textConfig(file(t, "train.conll", trainConll)))
	questions, ask := io.Pipe()
	answer, answers := io.Pipe()
	done := make(chan error, 1)
	go func() {
		done <- m.PredictText(context.Background(), questions, answers, Request{Path: "new"}, predictions.Options{}, false)
		answers.Close()
	}()
	for range 3 {
		fmt.Fprint(ask, "the DT\ndog NN\n\n")
		got := make([]byte, 200)
		n, err := answer.Read(got)
		if err != nil || strings.Count(string(got[:n]), "\n") != 3 {
			t.Fatalf("answered %q, %v", got[:n], err)
		}
	}
	ask.Close()
	if rest, _ := io.ReadAll(answer); len(rest) > 0 {
		t.Errorf("at the end %q", rest)
	}
	if err := <-done; err != nil {
		t.Error(err)
	}
}

func TestPredictTextErrors(t *testing.T) {
	m, _ := attributeModel(t, textConfig(file(t, "train.conll", trainConll)))
	for text, want := range map[string]string{
		"": "new: no tokens",
		strings.Repeat("the DT\n\n", 50000) + "dog\n":              "new:100001: 1 column",
		strings.Repeat("the DT\n\n", 50000) + "-DOCSTART- x\n\n\n": "",
	} {
		var out strings.Builder
		err := m.PredictText(context.Background(), strings.NewReader(text), &out, Request{Path: "new"}, predictions.Options{}, false)
		if want == "" && err == nil {
			continue
		}
		if !structured.IsBadInput(err) || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want bad input with %q", err, want)
		}
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	r, _ := io.Pipe() // nothing comes
	if err := m.PredictText(ctx, r, io.Discard, Request{Path: "new"}, predictions.Options{}, false); !errors.Is(err, context.Canceled) {
		t.Errorf("interrupted: got %v", err)
	}
}
