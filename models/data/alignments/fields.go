package alignments

import "strings"

const blanks = " \t\r\v\f"

// words splits a text at ASCII white space. The words are substrings of the text.
func words(text string) []string {
	return strings.FieldsFunc(text, func(r rune) bool { return r < 128 && strings.IndexByte(blanks, byte(r)) >= 0 })
}

// sections splits a line at separators: three bars in a row, not more. They need no blanks around them, but where that
// gives more fields than a pair has, only those with blanks on both sides count, and others are parts of words.
func sections(line string) []string {
	const most = 3
	all, apart := []string{}, []string{}
	from, fromApart := 0, 0
	for at := 0; at < len(line); {
		if line[at] != Separator[0] {
			at++
			continue
		}
		start := at
		for at < len(line) && line[at] == Separator[0] {
			at++
		}
		if at-start != len(Separator) {
			continue
		}
		all, from = append(all, line[from:start]), at
		if (start == 0 || strings.IndexByte(blanks, line[start-1]) >= 0) &&
			(at == len(line) || strings.IndexByte(blanks, line[at]) >= 0) {
			apart, fromApart = append(apart, line[fromApart:start]), at
		}
	}
	if all, apart = append(all, line[from:]), append(apart, line[fromApart:]); len(all) > most && len(apart) > 1 {
		return apart
	}
	return all
}

// IsPair reports whether a line looks like a pair: two fields or three, with words in the first two.
func IsPair(line string) bool {
	fields := sections(line)
	return (len(fields) == 2 || len(fields) == 3) && len(words(fields[0])) > 0 && len(words(fields[1])) > 0
}
