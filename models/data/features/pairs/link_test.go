package pairs

import (
	"reflect"
	"testing"
)

// Words are joined in the order of falling coefficients, each once, and not below the threshold.
func TestLink(t *testing.T) {
	s := count(t, 1, corpus(t, "das haus ||| the house", "das buch ||| the book", "ein haus ||| a house ."))
	// das-the 1, haus-house 1, buch-book 1, ein-a 1, ein-. 1, haus-. 2/3, haus-the 1/2, das-house 1/2
	for _, c := range []struct {
		source, target []string
		want           []int32
	}{
		{[]string{"Das", "Haus"}, []string{"The", "House"}, []int32{1, 2}},
		{[]string{"das", "das"}, []string{"house", "the"}, []int32{2, 1}}, // the second one takes what is left
		{[]string{"ein", "haus"}, []string{"."}, []int32{1, 0}},
		{[]string{"neu", "buch"}, []string{"a", "house"}, []int32{0, 0}},
	} {
		if got := s.Link(c.source, c.target); !reflect.DeepEqual(got, c.want) {
			t.Errorf("%v with %v: %v, expected %v", c.source, c.target, got, c.want)
		}
	}
}
