package pieces

import (
	"encoding/json"
	"errors"
	"strings"

	"github.com/dsp-go/dsp/structured"
)

// file is a tokenizer.json. Settings of padding and truncation do not matter here: sequences are not padded, and long
// ones are read in windows.
type file struct {
	Added      []addedToken    `json:"added_tokens"`
	Normaliser json.RawMessage `json:"normalizer"`
	Splitter   json.RawMessage `json:"pre_tokenizer"`
	Around     json.RawMessage `json:"post_processor"`
	Model      json.RawMessage `json:"model"`

	unknown string // the model's unknown token, or ""
	size    int    // one more than the largest number of the model's pieces
}

// wrongJSON says where a file stops being JSON.
func wrongJSON(content []byte, err error) error {
	var syntax *json.SyntaxError
	if errors.As(err, &syntax) {
		if syntax.Error() == "unexpected end of JSON input" {
			return structured.BadInput("the file ends in the middle, after %d bytes; download it again", len(content))
		}
		return structured.BadInput("byte %d: %w", syntax.Offset, err)
	}
	return structured.BadInput("not what a tokenizer.json holds: %w", err)
}

// kind returns the type of a component of the file; empty for null.
func kind(raw json.RawMessage) (string, error) {
	if len(raw) == 0 || string(raw) == "null" {
		return "", nil
	}
	var t struct {
		Type *string `json:"type"`
	}
	if err := json.Unmarshal(raw, &t); err != nil || t.Type == nil {
		return "", structured.BadInput("a component without a type: %.60s", raw)
	}
	return *t.Type, nil
}

// decode fills a component's settings.
func decode(raw json.RawMessage, kind string, to any) error {
	if err := json.Unmarshal(raw, to); err != nil {
		return structured.BadInput("%s: %w", kind, err)
	}
	return nil
}

// model makes the model of the file.
func (f *file) model() (model, error) {
	if len(f.Model) == 0 {
		return nil, structured.BadInput("no model; is it the tokenizer.json of an encoder?")
	}
	var m struct {
		Type           string          `json:"type"`
		Unknown        *string         `json:"unk_token"`
		UnknownNumber  *int            `json:"unk_id"`
		Vocab          json.RawMessage `json:"vocab"`
		Merges         json.RawMessage `json:"merges"`
		Continuing     *string         `json:"continuing_subword_prefix"`
		End            *string         `json:"end_of_word_suffix"`
		MostCharacters *int            `json:"max_input_chars_per_word"`
		FuseUnknown    bool            `json:"fuse_unk"`
		ByteFallback   bool            `json:"byte_fallback"`
		IgnoreMerges   bool            `json:"ignore_merges"`
	}
	if err := json.Unmarshal(f.Model, &m); err != nil {
		return nil, structured.BadInput("model: %w", err)
	}
	if m.Type == "" { // older files leave it out
		switch {
		case len(m.Merges) > 0:
			m.Type = "BPE"
		case m.UnknownNumber != nil:
			m.Type = "Unigram"
		case m.Continuing != nil:
			m.Type = "WordPiece"
		}
	}
	if m.Unknown != nil {
		f.unknown = *m.Unknown
	}
	if m.Type == "Unigram" {
		u, err := newUnigram(m.Vocab, m.UnknownNumber, m.ByteFallback)
		if err != nil {
			return nil, err
		}
		if u.unknown >= 0 {
			f.unknown = u.pieces[u.unknown]
		}
		f.size = len(u.pieces)
		return u, nil
	}
	var vocab vocabulary
	if err := json.Unmarshal(m.Vocab, &vocab); err != nil {
		return nil, structured.BadInput("model: vocab: %w", err)
	}
	for piece, id := range vocab {
		if err := checkPiece(piece); err != nil {
			return nil, err
		}
		if id < 0 || id > mostPieces {
			return nil, structured.BadInput("model: vocab: %q has the number %d", piece, id)
		}
		f.size = max(f.size, int(id)+1)
	}
	text := func(s *string) string {
		if s == nil {
			return ""
		}
		return *s
	}
	switch m.Type {
	case "WordPiece":
		p := &wordPiece{vocabulary: vocab, continuing: "##", most: 100}
		if m.Continuing != nil {
			p.continuing = *m.Continuing
		}
		if m.MostCharacters != nil {
			if p.most = *m.MostCharacters; p.most < 0 || p.most > mostCharacters {
				return nil, structured.BadInput("model: max_input_chars_per_word is %d, expected 0 to %d", p.most, mostCharacters)
			}
		}
		var ok bool
		if p.unknown, ok = vocab[f.unknown]; !ok {
			return nil, structured.BadInput("model: unk_token %q is not in vocab", f.unknown)
		}
		for piece := range vocab {
			p.longest = max(p.longest, len(piece))
		}
		return p, nil
	case "BPE":
		b := &bpe{vocabulary: vocab, continuing: text(m.Continuing), end: text(m.End), fuse: m.FuseUnknown,
			bytes: m.ByteFallback, whole: m.IgnoreMerges, unknown: -1}
		if id, ok := vocab[f.unknown]; ok && m.Unknown != nil {
			b.unknown = id
		}
		return b, b.readMerges(m.Merges)
	}
	return nil, structured.BadInput("model %q; dsp reads WordPiece, BPE and Unigram", m.Type)
}

// The longest word that WordPiece may cut, in characters, and the longest piece of any model, in bytes: to find the
// pieces of a word takes the square of these.
const (
	mostCharacters = 1000
	mostPieceBytes = 1024
)

// vocabulary numbers pieces.
type vocabulary map[string]int32

// checkPiece refuses a piece that is too long.
func checkPiece(piece string) error {
	if len(piece) > mostPieceBytes {
		return structured.BadInput("model: vocab: a piece of %d bytes, %.20q…, expected at most %d",
			len(piece), piece, mostPieceBytes)
	}
	return nil
}

func (v vocabulary) number(piece string) (int32, bool) {
	id, ok := v[piece]
	return id, ok
}

// around returns the special tokens around a sequence.
func (f *file) around() (before, after []int32, err error) {
	return around(f.Around)
}

func around(raw json.RawMessage) (before, after []int32, err error) {
	name, err := kind(raw)
	if err != nil {
		return nil, nil, err
	}
	switch name {
	case "", "ByteLevel": // which moves offsets only
		return nil, nil, nil
	case "BertProcessing", "RobertaProcessing":
		var p struct{ Cls, Sep pieceAndNumber }
		err := decode(raw, name, &p)
		return []int32{p.Cls.id}, []int32{p.Sep.id}, err
	case "Sequence":
		var p struct{ Processors []json.RawMessage }
		if err := decode(raw, name, &p); err != nil {
			return nil, nil, err
		}
		for _, each := range p.Processors {
			b, a, err := around(each)
			if err != nil {
				return nil, nil, err
			}
			before, after = append(b, before...), append(after, a...)
		}
		return before, after, nil
	case "TemplateProcessing":
		var p struct {
			Single []struct {
				SpecialToken *struct{ ID string }
				Sequence     *struct{ ID string }
			}
			Special map[string]struct{ IDs []int32 } `json:"special_tokens"`
		}
		if err := decode(raw, name, &p); err != nil {
			return nil, nil, err
		}
		words := 0
		for _, item := range p.Single {
			switch {
			case item.Sequence != nil:
				words++
			case item.SpecialToken != nil:
				s, ok := p.Special[item.SpecialToken.ID]
				if !ok {
					return nil, nil, structured.BadInput("post_processor: no special token %q", item.SpecialToken.ID)
				}
				if words == 0 {
					before = append(before, s.IDs...)
				} else {
					after = append(after, s.IDs...)
				}
			}
		}
		if words != 1 {
			return nil, nil, structured.BadInput("post_processor: %d sequences in the template of a single one", words)
		}
		return before, after, nil
	}
	return nil, nil, structured.BadInput("post_processor %q; dsp reads TemplateProcessing, "+
		"BertProcessing and RobertaProcessing", name)
}

// pieceAndNumber is a pair such as ["[CLS]", 101].
type pieceAndNumber struct{ id int32 }

func (p *pieceAndNumber) UnmarshalJSON(text []byte) error {
	var piece string
	return json.Unmarshal(text, &[2]any{&piece, &p.id})
}

// addedToken is a token that is found in text before anything else is done to it.
type addedToken struct {
	ID         int32
	Content    string
	SingleWord bool `json:"single_word"`
	Left       bool `json:"lstrip"` // it takes the space on its left
	Right      bool `json:"rstrip"`
	Normalised bool `json:"normalized"` // it is looked for in normalised text
}

// addTokens sorts the added tokens by where they are looked for.
func (t *Tokenizer) addTokens(all []addedToken) error {
	for _, a := range all {
		if a.Normalised {
			var err error
			if a.Content, err = t.normalise(a.Content, mostNormalised(len(a.Content))); err != nil {
				return structured.BadInput("added token %.40q: %w", a.Content, err)
			}
			if a.Content != "" {
				t.rewritten.tokens = append(t.rewritten.tokens, a)
			}
		} else if a.Content != "" {
			t.raw.tokens = append(t.raw.tokens, a)
		}
	}
	t.raw.index()
	t.rewritten.index()
	return nil
}

// added finds tokens in text.
type added struct {
	tokens []addedToken
	first  map[byte][]int // the tokens that begin with a byte, the longest first
}

func (a *added) index() {
	a.first = map[byte][]int{}
	for k, t := range a.tokens {
		list := append(a.first[t.Content[0]], k)
		for i := len(list) - 1; i > 0 && len(a.tokens[list[i-1]].Content) < len(t.Content); i-- {
			list[i-1], list[i] = list[i], list[i-1]
		}
		a.first[t.Content[0]] = list
	}
}

// at returns the longest token at the beginning of s, or nil.
func (a *added) at(s string) *addedToken {
	for _, k := range a.first[s[0]] {
		if strings.HasPrefix(s, a.tokens[k].Content) {
			return &a.tokens[k]
		}
	}
	return nil
}

// split hands the tokens in s to yield, with their numbers, and what is between them, with number −1.
func (a *added) split(s string, yield func(id int32, text string)) {
	done := 0
	if len(a.tokens) > 0 {
		for i := 0; i < len(s); {
			t := a.at(s[i:])
			if t == nil {
				i++
				continue
			}
			from, to := i, i+len(t.Content)
			i = to
			if t.SingleWord && (endsWord(s[:from]) || beginsWord(s[to:])) {
				continue
			}
			if t.Left {
				from = max(done, len(strings.TrimRightFunc(s[:from], isSpace)))
			}
			if t.Right {
				to = len(s) - len(strings.TrimLeftFunc(s[to:], isSpace))
			}
			if from > done {
				yield(-1, s[done:from])
			}
			yield(t.ID, s[from:to])
			done, i = to, max(i, to)
		}
	}
	if done < len(s) {
		yield(-1, s[done:])
	}
}
