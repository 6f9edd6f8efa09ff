package server

import (
	"encoding/json"
	"net/http"
	"slices"
	"strings"
	"testing"
)

// A pipeline keeps the words that a request gives as a sentence, however many, and answers texts beside them in order.
func TestWordsForAPipeline(t *testing.T) {
	s := newServer(t, func(o *Options) { o.Models = []string{"pipeline=" + trainedPipeline(t)} })
	given := [][]string{{"the", "fox", "sees."}, {"the", "fox", "sees", ".", "the", "fox", "sees", "."}, {"_", "fox"}, slices.Repeat([]string{"fox"}, 401)}
	var body strings.Builder
	for _, words := range given {
		text, _ := json.Marshal(words)
		body.WriteString(`{"words": ` + string(text) + "}\n")
	}
	status, answer, _ := ask(s, http.MethodPost, "/predict", `{"text": "the fox sees."}`+"\n"+body.String())
	if status != http.StatusOK {
		t.Fatalf("%d: %s", status, answer)
	}
	sentences := 0
	for line := range strings.Lines(answer) {
		var o struct {
			Words []struct{ Form, UPOS string }
		}
		if err := json.Unmarshal([]byte(line), &o); err != nil {
			t.Fatal(err)
		}
		var forms []string
		for _, w := range o.Words {
			forms = append(forms, w.Form)
		}
		want := []string{"the", "fox", "sees", "."}
		if sentences > 0 && sentences <= len(given) {
			want = given[sentences-1]
		}
		if !slices.Equal(forms, want) || o.Words[1].UPOS != "NOUN" {
			t.Errorf("sentence %d: %s, expected the words %q", sentences, line, want)
		}
		sentences++
	}
	if sentences != 1+len(given) {
		t.Errorf("%d sentences: %s", sentences, answer)
	}
	for wrong, want := range map[string]string{
		`{"words": []}`:                      "no text",
		`{"words": ["New York"]}`:            `word 1, \"New York\", has white space`,
		`{"words": ["a", ""]}`:               "word 2",
		`{"words": ["\u200b"]}`:              "or nothing that is seen",
		`{"words": ["a"], "text": "a"}`:      "text and words",
		`{"words": ["a"], "upos": ["NOUN"]}`: "unknown field",
	} {
		if status, answer, _ := ask(s, http.MethodPost, "/predict", wrong); status != http.StatusBadRequest || !strings.Contains(answer, want) {
			t.Errorf("%s: %d %s, expected %q", wrong, status, answer, want)
		}
	}
}
