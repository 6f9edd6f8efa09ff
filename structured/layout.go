package structured

import "strings"

// Layout is what a text file of columns had beside its tokens, so that predictions can be written in its place.
type Layout struct {
	Separator byte   // between columns: a tab or a space
	Filler    string // what lines that are no tokens, no comments and not blank get where columns are added

	// Before[t] are the lines that stood before position t, and Before[ΣT] those at the end, where they are not just the
	// usual: nothing before the first position and inside of sequences, else one blank line.
	Before map[int]string
}

// Count returns how many columns a line has.
func (l *Layout) Count(line string) int {
	if l.Separator == '\t' && strings.Contains(line, "\t") {
		return strings.Count(line, "\t") + 1
	}
	return len(strings.Fields(line))
}

func (l *Layout) Set(t int, lines string) {
	if l.Before == nil {
		l.Before = map[int]string{}
	}
	l.Before[t] = lines
}

// LinesBefore returns the lines that stood before position t of d, or, for ΣT, at the end. first says that a sequence
// starts there.
func (d *Dataset) LinesBefore(t int, first bool) string {
	if d.Layout != nil {
		if lines, ok := d.Layout.Before[t]; ok {
			return lines
		}
	}
	if t > 0 && (first || t == d.Positions()) {
		return "\n"
	}
	return ""
}
