package features

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// function is a function of a cell. It returns false if it has no value; a total function always has one. A function of
// several values has several in place of apply, and no values beyond the ends of a sequence.
type function struct {
	total   bool // it has a value for every cell, and leaves the marks beyond the ends of a sequence unchanged
	counted bool // a number n from 1 follows its name
	outside bool // it has a value beyond the ends of a sequence only, where it leaves the marks unchanged
	apply   func(cell string, n int) (string, bool)
	several func(cell string, n int, yield func(value string))
}

// functions are the functions of the template language; x is the cell itself.
var functions = map[string]function{
	"x":         totalFunction(func(cell string) string { return cell }),
	"lower":     totalFunction(strings.ToLower),
	"zero":      totalFunction(zero),
	"shape":     totalFunction(func(cell string) string { return shape(cell, 2, 10) }),
	"short":     totalFunction(func(cell string) string { return shape(cell, 1, len(cell)) }),
	"prefix":    {counted: true, apply: prefix},
	"suffix":    {counted: true, apply: suffix},
	"ifcapital": filter(func(cell string) bool { return strings.ContainsFunc(cell, unicode.IsUpper) }),
	"ifletters": filter(func(cell string) bool { return strings.IndexFunc(cell, notLetter) < 0 }),
	"first":     {counted: true, apply: first},
	"ngrams":    {counted: true, several: ngrams},
	"each":      {several: each},
	"outside":   {outside: true, apply: func(string, int) (string, bool) { return "", false }},
	"given":     filter(func(cell string) bool { return cell != "_" }),
	"caps":      optionalFunction(caps),
	"digits":    optionalFunction(digits),
	"kind":      optionalFunction(kind),
	"isupper":   predicate(func(cell string) bool { return caps(cell) == "upper" }),
	"istitle":   predicate(func(cell string) bool { return caps(cell) == "initial" }),
	"islower":   predicate(func(cell string) bool { return caps(cell) == "lower" }),
	"isdigit":   everyRune(unicode.IsDigit),
	"isalpha":   everyRune(unicode.IsLetter),
	"isalnum":   everyRune(isAlnum),
	"ispunct":   everyRune(isSign),
	"hasupper":  someRune(unicode.IsUpper),
	"haslower":  someRune(unicode.IsLower),
	"hasdigit":  someRune(unicode.IsDigit),
	"haspunct":  someRune(isSign),
	"hashyphen": someRune(func(r rune) bool { return r == '-' }),
	"hasdot":    someRune(func(r rune) bool { return r == '.' }),
}

func totalFunction(f func(cell string) string) function {
	return function{total: true, apply: func(cell string, _ int) (string, bool) { return f(cell), true }}
}

// optionalFunction turns f, which has few distinct values, into a function; "" means no value.
func optionalFunction(f func(cell string) string) function {
	return function{apply: func(cell string, _ int) (string, bool) { v := f(cell); return v, v != "" }}
}

func predicate(holds func(cell string) bool) function {
	return function{apply: func(cell string, _ int) (string, bool) { return "yes", holds(cell) }}
}

// filter returns the function that keeps the cells for which holds, and has no value for others and for empty cells.
func filter(holds func(cell string) bool) function {
	return function{apply: func(cell string, _ int) (string, bool) { return cell, cell != "" && holds(cell) }}
}

func everyRune(is func(rune) bool) function {
	return predicate(func(cell string) bool {
		return cell != "" && strings.IndexFunc(cell, func(r rune) bool { return !is(r) }) < 0
	})
}

func someRune(is func(rune) bool) function {
	return predicate(func(cell string) bool { return strings.ContainsFunc(cell, is) })
}

func notLetter(r rune) bool { return !unicode.IsLetter(r) }

func isAlnum(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) }

// isSign reports whether r is punctuation or another sign, not a letter or digit.
func isSign(r rune) bool { return !isAlnum(r) && !unicode.IsMark(r) }

func zero(cell string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsDigit(r) {
			return '0'
		}
		return r
	}, cell)
}

// shape replaces upper case letters by X, other letters by x and digits by d, and keeps other characters. It shortens a
// run of equal characters to run, and the whole to longest.
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

// first returns the first n letters of a cell, or all of them if there are fewer. An empty cell has none.
func first(cell string, n int) (string, bool) {
	if start, ok := prefix(cell, n); ok {
		return start, true
	}
	return cell, cell != ""
}

// caps describes the case of a cell's letters: upper (all, at least two), initial (only the first is upper), lower or
// mixed. It returns "" if no letter has a case.
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

// digits describes the digits of a cell: all characters are digits, a number with signs, or some digits.
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

// kind recognises tokens of the web and a few others by their spelling.
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

// ordinal reports whether a cell in lower case reads like 1st, 22nd, 3rd or 10th.
func ordinal(lower string) bool {
	number := strings.TrimRight(lower, "stndrh")
	switch lower[len(number):] {
	case "st", "nd", "rd", "th":
		return number != "" && strings.IndexFunc(number, func(r rune) bool { return !unicode.IsDigit(r) }) < 0
	}
	return false
}
