package structured

import "strings"

// Layout is what a text file of columns has beside its tokens. It lets predictions be written in the file's own layout.
type Layout struct {
	Separator byte   // between columns: a tab or a space
	Filler    string // what added columns hold on lines that are neither tokens nor comments nor blank

	// Before[t] holds the lines before position t, and Before[ΣT] those at the end. Entries exist only where the lines
	// differ from the default: nothing before the first position and inside a sequence, one blank line between
	// sequences.
	Before map[int]string

	// Item is the key of the item in the last column that holds the label, "" for an item without a key; nil: the label
	// has a column of its own.
	Item *string
}

// Count returns the number of columns of a line.
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

// LinesBefore returns the lines before position t of d, or for t = ΣT those at the end. first says that a sequence
// starts at t.
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
