package chains

import "github.com/dsp-go/dsp/structured"

// SchemeOf returns the scheme that sequences of tags are written in, iob1, iob2 or bioes, by how their entities begin and end. It returns "" for
// labels that are no tags, and where nothing tells: iob1 and iob2 differ in the first tag of an entity that touches none of its type. Where both
// occur, the more frequent one counts. offsets are those of a data set.
func SchemeOf(tags []string, offsets []int) string {
	names := structured.NewAlphabet()
	numbers := make([]int32, len(tags))
	for t, name := range tags {
		numbers[t] = names.Add(name)
	}
	s := parseTags(names)
	switch {
	case s == nil:
		return ""
	case s.ends:
		return "bioes"
	}
	begun, inside := 0, 0 // entities behind none of their type, by their first tag
	for i := range len(offsets) - 1 {
		before := outside
		for _, l := range numbers[offsets[i]:offsets[i+1]] {
			now := s.tags[l]
			switch {
			case now.part == 'O' || now.typ == before.typ:
			case now.part == 'B':
				begun++
			default:
				inside++
			}
			before = now
		}
	}
	switch {
	case inside > begun:
		return "iob1"
	case begun > inside:
		return "iob2"
	}
	return ""
}
