package features

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// function is a function of a cell. Its value may be none (false), unless it is total.
type function struct {
	total   bool // it has a value everywhere, and leaves the marks beyond the ends of a sequence as they are
	counted bool // its name is followed by a number n from 1
	apply   func(cell string, n int) (string, bool)
}

// functions are those of the language; %x is the cell itself.
var functions = map[string]function{
	"x":         everywhere(func(cell string) string { return cell }),
	"lower":     everywhere(strings.ToLower),
	"zero":      everywhere(zero),
	"shape":     everywhere(func(cell string) string { return shape(cell, 2, 10) }),
	"short":     everywhere(func(cell string) string { return shape(cell, 1, len(cell)) }),
	"prefix":    {counted: true, apply: prefix},
	"suffix":    {counted: true, apply: suffix},
	"caps":      oneOf(caps),
	"digits":    oneOf(digits),
	"kind":      oneOf(kind),
	"isupper":   predicate(func(cell string) bool { return caps(cell) == "upper" }),
	"istitle":   predicate(func(cell string) bool { return caps(cell) == "initial" }),
	"islower":   predicate(func(cell string) bool { return caps(cell) == "lower" }),
	"isdigit":   all(unicode.IsDigit),
	"isalpha":   all(unicode.IsLetter),
	"isalnum":   all(isAlnum),
	"ispunct":   all(isSign),
	"hasupper":  some(unicode.IsUpper),
	"haslower":  some(unicode.IsLower),
	"hasdigit":  some(unicode.IsDigit),
	"haspunct":  some(isSign),
	"hashyphen": some(func(r rune) bool { return r == '-' }),
	"hasdot":    some(func(r rune) bool { return r == '.' }),
}

func everywhere(f func(cell string) string) function {
	return function{total: true, apply: func(cell string, _ int) (string, bool) { return f(cell), true }}
}

// oneOf is a function with few values, of which "" means none.
func oneOf(f func(cell string) string) function {
	return function{apply: func(cell string, _ int) (string, bool) { v := f(cell); return v, v != "" }}
}

func predicate(holds func(cell string) bool) function {
	return function{apply: func(cell string, _ int) (string, bool) { return "yes", holds(cell) }}
}

func all(of func(rune) bool) function {
	return predicate(func(cell string) bool {
		return cell != "" && strings.IndexFunc(cell, func(r rune) bool { return !of(r) }) < 0
	})
}

func some(of func(rune) bool) function {
	return predicate(func(cell string) bool { return strings.ContainsFunc(cell, of) })
}

func isAlnum(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) }

// isSign reports whether r is punctuation or another sign, neither letter nor digit.
func isSign(r rune) bool { return !isAlnum(r) && !unicode.IsMark(r) }

func zero(cell string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsDigit(r) {
			return '0'
		}
		return r
	}, cell)
}

// shape writes X for upper case, x for other letters, d for digits and keeps the rest; of a run of the same it keeps so
// many, and of all no more than longest.
func shape(cell string, run, longest int) string {
	var s strings.Builder
	var last rune
	same, length := 0, 0
	for _, r := range cell {
		switch {
		case unicode.IsUpper(r):
			r = 'X'
		case unicode.IsLetter(r):
			r = 'x'
		case unicode.IsDigit(r):
			r = 'd'
		}
		if length > 0 && r == last {
			same++
		} else {
			last, same = r, 1
		}
		if same > run {
			continue
		}
		s.WriteRune(r)
		if length++; length == longest {
			break
		}
	}
	return s.String()
}

func prefix(cell string, n int) (string, bool) {
	end := 0
	for range n {
		if end == len(cell) {
			return "", false
		}
		_, size := utf8.DecodeRuneInString(cell[end:])
		end += size
	}
	return cell[:end], true
}

func suffix(cell string, n int) (string, bool) {
	start := len(cell)
	for range n {
		if start == 0 {
			return "", false
		}
		_, size := utf8.DecodeLastRuneInString(cell[:start])
		start -= size
	}
	return cell[start:], true
}

// caps says how the letters of cell are written: all upper case, at least two of them; only the first upper; all lower;
// mixed. A cell whose letters have no case has none.
func caps(cell string) string {
	upper, lower := 0, 0
	first := false // the first letter is upper case
	for _, r := range cell {
		switch {
		case unicode.IsUpper(r):
			first = first || upper+lower == 0
			upper++
		case unicode.IsLower(r):
			lower++
		}
	}
	switch {
	case upper+lower == 0:
		return ""
	case upper == 0:
		return "lower"
	case lower == 0 && upper > 1:
		return "upper"
	case first && upper == 1:
		return "initial"
	}
	return "mixed"
}

// digits says how digits occur in cell: it has nothing else; it is a number, with signs; it has some.
func digits(cell string) string {
	count, letters, signs := 0, 0, 0
	for _, r := range cell {
		switch {
		case unicode.IsDigit(r):
			count++
		case isSign(r):
			signs++
		default:
			letters++
		}
	}
	switch {
	case count == 0:
		return ""
	case letters+signs == 0:
		return "all"
	case letters == 0:
		return "number"
	}
	return "some"
}

// kind tells tokens of the web and a few others by their spelling.
func kind(cell string) string {
	switch lower := strings.ToLower(cell); {
	case strings.Contains(lower, "://") || strings.HasPrefix(lower, "www.") || strings.Contains(lower, ".com"):
		if strings.Contains(cell, "@") && !strings.Contains(cell, "/") {
			return "email"
		}
		return "url"
	case len(cell) > 1 && cell[0] == '@':
		return "mention"
	case len(cell) > 1 && cell[0] == '#':
		return "hashtag"
	case strings.Contains(cell, "@") && strings.Contains(cell, "."):
		return "email"
	case ordinal(lower):
		return "ordinal"
	case strings.IndexFunc(cell, isAlnum) < 0:
		return "symbols"
	}
	return ""
}

// ordinal reports whether a cell in lower case is like 1st, 22nd, 3rd or 10th.
func ordinal(lower string) bool {
	number := strings.TrimRight(lower, "stndrh")
	switch lower[len(number):] {
	case "st", "nd", "rd", "th":
		return number != "" && strings.IndexFunc(number, func(r rune) bool { return !unicode.IsDigit(r) }) < 0
	}
	return false
}
