package alignments

import "strings"

const blanks = " \t\r\v\f"

// words splits a text at ASCII white space. The words are substrings of the text.
func words(text string) []string {
	return strings.FieldsFunc(text, func(r rune) bool { return r < 128 && strings.IndexByte(blanks, byte(r)) >= 0 })
}

// sections splits a line at the words that are separators.
func sections(line string) []string {
	var all []string
	from := 0
	for at := 0; at < len(line); {
		found := strings.Index(line[at:], Separator)
		if found < 0 {
			break
		}
		start := at + found
		end := start + len(Separator)
		if (start == 0 || strings.IndexByte(blanks, line[start-1]) >= 0) && (end == len(line) || strings.IndexByte(blanks, line[end]) >= 0) {
			all = append(all, line[from:start])
			from = end
			at = end
			continue
		}
		at = start + 1
	}
	return append(all, line[from:])
}
