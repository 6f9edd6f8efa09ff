// Package encodedtest makes folders with tiny encoders for tests.
package encodedtest

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"
)

// Folder returns a new folder with the encoder nets/encoders/testdata/NAME and a tokenizer for it, whose pieces are
// letters.
func Folder(t testing.TB, name string) string {
	t.Helper()
	from, to := filepath.Join(root(t), "nets", "encoders", "testdata", name), t.TempDir()
	for _, file := range []string{"config.json", "model.safetensors"} {
		content, err := os.ReadFile(filepath.Join(from, file))
		if err == nil {
			err = os.WriteFile(filepath.Join(to, file), content, 0o666)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	var config struct {
		Vocab int `json:"vocab_size"`
	}
	text, err := os.ReadFile(filepath.Join(to, "config.json"))
	if err == nil {
		err = json.Unmarshal(text, &config)
	}
	if err == nil {
		err = os.WriteFile(filepath.Join(to, "tokenizer.json"), Tokenizer(config.Vocab), 0o666)
	}
	if err != nil {
		t.Fatal(err)
	}
	return to
}

// Tokenizer returns a tokenizer.json with so many pieces: those of BERT's special tokens, the letters, and others that
// hardly occur.
func Tokenizer(size int) []byte {
	vocab := map[string]int{}
	for _, piece := range []string{"[PAD]", "[UNK]", "[CLS]", "[SEP]"} {
		vocab[piece] = len(vocab)
	}
	for c := 'a'; len(vocab) < size; c++ {
		vocab[string(c)] = len(vocab)
	}
	special := func(name string) map[string]any {
		return map[string]any{"id": name, "ids": []int{vocab[name]}, "tokens": []string{name}}
	}
	text, err := json.Marshal(map[string]any{
		"normalizer": map[string]any{"type": "BertNormalizer", "clean_text": true, "handle_chinese_chars": true,
			"strip_accents": nil, "lowercase": true},
		"pre_tokenizer": map[string]any{"type": "BertPreTokenizer"},
		"post_processor": map[string]any{
			"type": "TemplateProcessing",
			"single": []any{map[string]any{"SpecialToken": map[string]any{"id": "[CLS]", "type_id": 0}},
				map[string]any{"Sequence": map[string]any{"id": "A", "type_id": 0}},
				map[string]any{"SpecialToken": map[string]any{"id": "[SEP]", "type_id": 0}}},
			"special_tokens": map[string]any{"[CLS]": special("[CLS]"), "[SEP]": special("[SEP]")},
		},
		"model": map[string]any{"type": "WordPiece", "unk_token": "[UNK]", "continuing_subword_prefix": "", "vocab": vocab},
	})
	if err != nil {
		panic(err) // maps of texts and numbers
	}
	return text
}

// root returns the folder of the module.
func root(t testing.TB) string {
	dir, err := os.Getwd()
	for ; err == nil; dir = filepath.Dir(dir) {
		if _, missing := os.Stat(filepath.Join(dir, "go.mod")); missing == nil || dir == filepath.Dir(dir) {
			return dir
		}
	}
	t.Fatal(err)
	return ""
}
