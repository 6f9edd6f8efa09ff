package pieces

import (
	"encoding/json"
	"regexp"
	"strings"
	"unicode"

	"golang.org/x/text/unicode/norm"

	"github.com/dsp-go/dsp/structured"
)

// normaliser changes text before it is split. An error is that it would make more than most bytes of it.
type normaliser func(s string, most int) (string, error)

// mostNormalised returns how many bytes a text of n bytes may become. Unicode's own forms make up to eleven times as
// much of it.
func mostNormalised(n int) int { return 64*n + 4096 }

// plainly makes a normaliser of a function that makes little more of a text.
func plainly(f func(s string) string) normaliser {
	return func(s string, most int) (string, error) {
		s = f(s)
		return s, checkGrowth(len(s), most)
	}
}

// checkGrowth refuses a text of n bytes where at most most are expected. A short tokenizer.json can ask for any number.
func checkGrowth(n, most int) error {
	if n > most {
		return structured.BadInput("normalizer: it makes %d bytes of it or more, expected at most %d", n, most)
	}
	return nil
}

// The largest sequence of normalisers or splitters, and how deep sequences are nested.
const (
	mostComponents = 64
	mostNested     = 8
)

// newNormaliser makes the normaliser that a tokenizer.json describes, inside of that many sequences.
func newNormaliser(raw json.RawMessage, inside int) (normaliser, error) {
	name, err := kind(raw)
	if err != nil {
		return nil, structured.BadInput("normalizer: %w", err)
	}
	switch name {
	case "":
		return plainly(func(s string) string { return s }), nil
	case "NFC":
		return plainly(norm.NFC.String), nil
	case "NFD":
		return plainly(norm.NFD.String), nil
	case "NFKC":
		return plainly(norm.NFKC.String), nil
	case "NFKD":
		return plainly(norm.NFKD.String), nil
	case "Lowercase":
		return plainly(lower), nil
	case "StripAccents":
		return plainly(func(s string) string { return without(s, unicode.M) }), nil
	case "BertNormalizer":
		return newBertNormaliser(raw)
	case "Precompiled":
		return newPrecompiled(raw)
	case "Strip":
		var p struct {
			Left  bool `json:"strip_left"`
			Right bool `json:"strip_right"`
		}
		err := decode(raw, name, &p)
		return plainly(func(s string) string {
			if p.Left {
				s = strings.TrimLeftFunc(s, isSpace)
			}
			if p.Right {
				s = strings.TrimRightFunc(s, isSpace)
			}
			return s
		}), err
	case "Prepend":
		var p struct{ Prepend string }
		err := decode(raw, name, &p)
		return func(s string, most int) (string, error) {
			if s == "" {
				return s, nil
			}
			return p.Prepend + s, checkGrowth(len(p.Prepend)+len(s), most)
		}, err
	case "Replace":
		var p struct {
			Pattern *pattern
			Content string
		}
		if err := decode(raw, name, &p); err != nil {
			return nil, err
		}
		if p.Pattern == nil {
			return nil, structured.BadInput("Replace: no pattern")
		}
		return func(s string, most int) (string, error) {
			places := p.Pattern.matches(s)
			size := len(s) + len(places)*len(p.Content)
			for _, at := range places {
				size -= at[1] - at[0]
			}
			if err := checkGrowth(size, most); err != nil {
				return "", err
			}
			var b strings.Builder
			done := 0
			for _, at := range places {
				b.WriteString(s[done:at[0]])
				b.WriteString(p.Content)
				done = at[1]
			}
			b.WriteString(s[done:])
			return b.String(), nil
		}, nil
	case "Sequence":
		var p struct{ Normalizers []json.RawMessage }
		if err := decode(raw, name, &p); err != nil {
			return nil, err
		}
		if err := checkSequence(len(p.Normalizers), inside); err != nil {
			return nil, structured.BadInput("normalizer: %w", err)
		}
		var all []normaliser
		for _, each := range p.Normalizers {
			n, err := newNormaliser(each, inside+1)
			if err != nil {
				return nil, err
			}
			all = append(all, n)
		}
		return func(s string, most int) (string, error) {
			for _, n := range all {
				var err error
				if s, err = n(s, most); err != nil {
					return "", err
				}
			}
			return s, nil
		}, nil
	}
	return nil, structured.BadInput("normalizer %q, which dsp does not know", name)
}

// checkSequence refuses a sequence of n components inside of that many others that no tokenizer has.
func checkSequence(n, inside int) error {
	if n > mostComponents || inside >= mostNested {
		return structured.BadInput("a sequence of %d components inside of %d others, expected at most %d, inside of %d", n,
			inside, mostComponents, mostNested-1)
	}
	return nil
}

// newBertNormaliser makes the normaliser of BERT: it cleans text, sets Chinese characters apart, strips accents and
// lower-cases.
func newBertNormaliser(raw json.RawMessage) (normaliser, error) {
	p := struct {
		Clean   bool  `json:"clean_text"`
		Chinese bool  `json:"handle_chinese_chars"`
		Strip   *bool `json:"strip_accents"`
		Lower   bool  `json:"lowercase"`
	}{Clean: true, Chinese: true, Lower: true}
	if err := decode(raw, "BertNormalizer", &p); err != nil {
		return nil, err
	}
	strip := p.Lower
	if p.Strip != nil {
		strip = *p.Strip
	}
	return plainly(func(s string) string {
		if p.Clean {
			s = clean(s)
		}
		if p.Chinese {
			s = apart(s)
		}
		if strip {
			s = without(norm.NFD.String(s), unicode.Mn)
		}
		if p.Lower {
			s = lower(s)
		}
		return s
	}), nil
}

// clean drops control and format characters, and makes all white space spaces.
func clean(s string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r == '\t' || r == '\n' || r == '\r':
			return ' '
		case r == 0 || r == unicode.ReplacementChar || isOther(r):
			return -1
		case isSpace(r):
			return ' '
		}
		return r
	}, s)
}

// apart puts spaces around Chinese characters.
func apart(s string) string {
	if strings.IndexFunc(s, isChinese) < 0 {
		return s
	}
	var b strings.Builder
	for _, r := range s {
		if isChinese(r) {
			b.WriteByte(' ')
			b.WriteRune(r)
			b.WriteByte(' ')
		} else {
			b.WriteRune(r)
		}
	}
	return b.String()
}

// without drops the characters of a table.
func without(s string, table *unicode.RangeTable) string {
	return strings.Map(func(r rune) rune {
		if r >= 0x80 && unicode.Is(table, r) {
			return -1
		}
		return r
	}, s)
}

// lower lower-cases character by character, without regard to what follows.
func lower(s string) string {
	s = strings.ReplaceAll(s, "\u0130", "i\u0307") // the one that becomes two
	return strings.Map(unicode.ToLower, s)
}

// isSpace reports white space, as Unicode has it.
func isSpace(r rune) bool { return unicode.IsSpace(r) }

// isOther reports what BERT drops: controls, formats and private use.
func isOther(r rune) bool { return unicode.In(r, unicode.Cc, unicode.Cf, unicode.Co) }

// isChinese reports the ideographs that BERT sets apart.
func isChinese(r rune) bool {
	return r >= 0x4E00 && r <= 0x9FFF || r >= 0x3400 && r <= 0x4DBF || r >= 0x20000 && r <= 0x2A6DF ||
		r >= 0x2A700 && r <= 0x2B73F ||
		r >= 0x2B740 && r <= 0x2B81F || r >= 0x2B920 && r <= 0x2CEAF || r >= 0xF900 && r <= 0xFAFF ||
		r >= 0x2F800 && r <= 0x2FA1F
}

// isPunctuation reports what BERT counts as punctuation: signs of ASCII such as $ and + as well.
func isPunctuation(r rune) bool {
	return r >= '!' && r <= '/' || r >= ':' && r <= '@' || r >= '[' && r <= '`' || r >= '{' &&
		r <= '~' || unicode.IsPunct(r)
}

// isWord reports the characters of words, \w of regular expressions.
func isWord(r rune) bool {
	return unicode.In(r, unicode.L, unicode.Nl, unicode.Other_Alphabetic, unicode.M, unicode.Nd,
		unicode.Pc, unicode.Join_Control)
}

func endsWord(s string) bool   { return s != "" && isWord([]rune(s)[len([]rune(s))-1]) }
func beginsWord(s string) bool { return s != "" && isWord([]rune(s)[0]) }

// pattern is a text or a regular expression to look for.
type pattern struct {
	text  string
	regex *regexp.Regexp
}

func (p *pattern) UnmarshalJSON(raw []byte) error {
	var either struct {
		String *string
		Regex  *string
	}
	if err := json.Unmarshal(raw, &either); err != nil {
		return err
	}
	switch {
	case either.String != nil && *either.String != "":
		p.text = *either.String
		return nil
	case either.Regex != nil:
		var err error
		if p.regex, err = regexp.Compile(*either.Regex); err != nil {
			return structured.BadInput("the pattern %q is not one that Go knows (%w)", *either.Regex, err)
		}
		return nil
	}
	return structured.BadInput("pattern %s: expected a String or a Regex", raw)
}

// matches returns where the pattern matches, from left to right.
func (p *pattern) matches(s string) [][]int {
	if p.regex != nil {
		return p.regex.FindAllStringIndex(s, -1)
	}
	var all [][]int
	for from := 0; ; {
		k := strings.Index(s[from:], p.text)
		if k < 0 {
			return all
		}
		all = append(all, []int{from + k, from + k + len(p.text)})
		from += k + len(p.text)
	}
}
