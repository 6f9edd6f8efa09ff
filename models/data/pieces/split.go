package pieces

import (
	"encoding/json"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/dsp-go/dsp/structured"
)

// splitter splits text into parts, which a model cuts one by one, and hands them to yield.
type splitter func(s string, yield func(part string))

// newSplitter makes the splitter that a tokenizer.json describes, inside of that many sequences. With space it expects
// a space before each word.
func newSplitter(raw json.RawMessage, inside int) (split splitter, space bool, err error) {
	name, err := kind(raw)
	if err != nil {
		return nil, false, structured.BadInput("pre_tokenizer: %w", err)
	}
	switch name {
	case "":
		return func(s string, yield func(string)) { yield(s) }, false, nil
	case "BertPreTokenizer":
		return bertSplit, false, nil
	case "WhitespaceSplit":
		return spaceSplit, false, nil
	case "Whitespace":
		return wordSplit, false, nil
	case "ByteLevel":
		p := struct {
			Prefix bool  `json:"add_prefix_space"`
			Regex  *bool `json:"use_regex"`
		}{}
		if err := decode(raw, name, &p); err != nil {
			return nil, false, err
		}
		cut := gpt2Split
		if p.Regex != nil && !*p.Regex {
			cut = func(s string, yield func(string)) { yield(s) }
		}
		return func(s string, yield func(string)) {
			if p.Prefix && !strings.HasPrefix(s, " ") {
				s = " " + s
			}
			cut(s, func(part string) { yield(bytesAsCharacters(part)) })
		}, true, nil
	case "Metaspace":
		p := struct {
			Replacement string
			Split       *bool
		}{Replacement: "▁"}
		if err := decode(raw, name, &p); err != nil {
			return nil, false, err
		}
		if p.Replacement == "" {
			return nil, false, structured.BadInput("Metaspace: replacement is empty")
		}
		if len(p.Replacement) > utf8.UTFMax {
			return nil, false, structured.BadInput("Metaspace: replacement is %.20q, expected one character", p.Replacement)
		}
		return metaspace(p.Replacement, p.Split == nil || *p.Split), false, nil
	case "Punctuation", "Split", "Digits":
		p := struct {
			Behaviour  string `json:"behavior"`
			Invert     bool
			Pattern    *pattern
			Individual bool `json:"individual_digits"`
		}{Behaviour: "Isolated"}
		if err := decode(raw, name, &p); err != nil {
			return nil, false, err
		}
		var find func(s string) [][]int
		switch {
		case name == "Split" && p.Pattern == nil:
			return nil, false, structured.BadInput("Split: no pattern")
		case name == "Split":
			find = p.Pattern.matches
		case name == "Punctuation":
			find = func(s string) [][]int { return runesWith(s, isPunctuation) }
		default:
			if !p.Individual {
				p.Behaviour = "Contiguous"
			}
			find = func(s string) [][]int { return runesWith(s, isNumeric) }
		}
		split, err = behave(p.Behaviour, p.Invert, find)
		return split, false, err
	case "Sequence":
		var p struct{ Pretokenizers []json.RawMessage }
		if err := decode(raw, name, &p); err != nil {
			return nil, false, err
		}
		if err := checkSequence(len(p.Pretokenizers), inside); err != nil {
			return nil, false, structured.BadInput("pre_tokenizer: %w", err)
		}
		split = func(s string, yield func(string)) { yield(s) }
		for k := len(p.Pretokenizers) - 1; k >= 0; k-- {
			first, needs, err := newSplitter(p.Pretokenizers[k], inside+1)
			if err == nil && needs && space {
				err = structured.BadInput("pre_tokenizer: ByteLevel twice, expected it once: each writes its text anew, in up " +
					"to twice as many bytes")
			}
			if err != nil {
				return nil, false, err
			}
			then := split
			space = space || needs
			split = func(s string, yield func(string)) {
				first(s, func(part string) { then(part, yield) })
			}
		}
		return split, space, nil
	}
	return nil, false, structured.BadInput("pre_tokenizer %q, which dsp does not know", name)
}

// runes hands the parts of s to yield that lie between the characters that drop reports; those that alone reports are
// parts of their own.
func runes(s string, drop, alone func(r rune) bool, yield func(string)) {
	from := 0
	for i, r := range s {
		single := alone(r)
		if !single && !drop(r) {
			continue
		}
		if from < i {
			yield(s[from:i])
		}
		from = i + utf8.RuneLen(r)
		if single {
			yield(s[i:from])
		}
	}
	if from < len(s) {
		yield(s[from:])
	}
}

func never(rune) bool { return false }

// bertSplit splits at white space, and around each punctuation mark.
func bertSplit(s string, yield func(string)) { runes(s, isSpace, isPunctuation, yield) }

// spaceSplit splits at white space.
func spaceSplit(s string, yield func(string)) { runes(s, isSpace, never, yield) }

// wordSplit splits at white space, and between words and other characters.
func wordSplit(s string, yield func(string)) {
	spaceSplit(s, func(part string) {
		from, word := 0, false
		for i, r := range part {
			if w := isWord(r); w != word {
				if from < i {
					yield(part[from:i])
				}
				from, word = i, w
			}
		}
		yield(part[from:])
	})
}

// gpt2Split splits as the expression of GPT-2 matches:
//
//	's|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+
func gpt2Split(s string, yield func(string)) {
	for s != "" {
		n := gpt2Match(s)
		yield(s[:n])
		s = s[n:]
	}
}

// gpt2Match returns the length of the match at the beginning of s, which is not empty.
func gpt2Match(s string) int {
	if s[0] == '\'' {
		for _, short := range []string{"'s", "'t", "'re", "'ve", "'m", "'ll", "'d"} {
			if strings.HasPrefix(s, short) {
				return len(short)
			}
		}
	}
	from := 0
	if s[0] == ' ' && len(s) > 1 {
		from = 1
	}
	r, _ := utf8.DecodeRuneInString(s[from:])
	for _, of := range []func(rune) bool{unicode.IsLetter, unicode.IsNumber, isSign} {
		if of(r) {
			return from + length(s[from:], of)
		}
	}
	n := length(s, unicode.IsSpace) // white space, and what follows one that is not a single space
	if n == len(s) {
		return n
	}
	if _, last := utf8.DecodeLastRuneInString(s[:n]); last < n {
		return n - last
	}
	return n
}

func isSign(r rune) bool { return !unicode.IsSpace(r) && !unicode.IsLetter(r) && !unicode.IsNumber(r) }

// length returns how many bytes at the beginning of s are characters of a class.
func length(s string, of func(rune) bool) int {
	for i, r := range s {
		if !of(r) {
			return i
		}
	}
	return len(s)
}

// characterOfByte is the printable character that stands for each byte in the vocabulary of a byte-level BPE.
var characterOfByte = func() (table [256]rune) {
	next := rune(256)
	for b := range table {
		if r := rune(b); r >= '!' && r <= '~' || r >= '¡' && r <= '¬' || r >= '®' {
			table[b] = r
		} else {
			table[b] = next
			next++
		}
	}
	return table
}()

// bytesAsCharacters writes a printable character for each byte.
func bytesAsCharacters(s string) string {
	var b strings.Builder
	for i := range len(s) {
		b.WriteRune(characterOfByte[s[i]])
	}
	return b.String()
}

// metaspace writes a mark for each space and in front, and splits before each mark.
func metaspace(mark string, split bool) splitter {
	return func(s string, yield func(string)) {
		if s = strings.ReplaceAll(s, " ", mark); !strings.HasPrefix(s, mark) {
			s = mark + s
		}
		for split {
			next := strings.Index(s[len(mark):], mark)
			if next < 0 {
				break
			}
			yield(s[:len(mark)+next])
			s = s[len(mark)+next:]
		}
		yield(s)
	}
}

// runesWith returns where the characters of a class are, each by itself.
func runesWith(s string, of func(rune) bool) (all [][]int) {
	for i, r := range s {
		if of(r) {
			all = append(all, []int{i, i + utf8.RuneLen(r)})
		}
	}
	return all
}

func isNumeric(r rune) bool { return unicode.IsNumber(r) }

// behave splits where find matches. With invert, what does not match separates.
func behave(behaviour string, invert bool, find func(s string) [][]int) (splitter, error) {
	type segment struct {
		from, to int
		match    bool
	}
	segments := func(s string) (all []segment) {
		done := 0
		for _, m := range find(s) {
			if m[0] > done {
				all = append(all, segment{done, m[0], invert})
			}
			if m[1] > m[0] {
				all = append(all, segment{m[0], m[1], !invert})
			}
			done = m[1]
		}
		if done < len(s) {
			all = append(all, segment{done, len(s), invert})
		}
		return all
	}
	var joined func(before, next segment) bool // whether next goes on with what is before it
	switch strings.ToLower(behaviour) {
	case "removed":
		return func(s string, yield func(string)) {
			for _, g := range segments(s) {
				if !g.match {
					yield(s[g.from:g.to])
				}
			}
		}, nil
	case "isolated":
		joined = func(segment, segment) bool { return false }
	case "contiguous":
		joined = func(before, next segment) bool { return before.match == next.match }
	case "mergedwithprevious":
		joined = func(before, next segment) bool { return next.match && !before.match }
	case "mergedwithnext":
		joined = func(before, next segment) bool { return before.match && !next.match }
	default:
		return nil, structured.BadInput("pre_tokenizer: behavior %q, which dsp does not know", behaviour)
	}
	return func(s string, yield func(string)) {
		all := segments(s)
		for i := 0; i < len(all); {
			from := all[i].from
			for i++; i < len(all) && joined(all[i-1], all[i]); i++ {
			}
			yield(s[from:all[i-1].to])
		}
	}, nil
}
