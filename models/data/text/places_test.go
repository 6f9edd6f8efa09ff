package text

import (
	"strings"
	"testing"

	"github.com/dsp-go/dsp/structured"
)

func conlluOf(t *testing.T, text string) *structured.Dataset {
	t.Helper()
	d, err := Conllu{}.Read(strings.NewReader(text), "x.conllu")
	if err != nil {
		t.Fatal(err)
	}
	return d
}

func TestPlacesOfConllu(t *testing.T) {
	const rest = "\t_\tX\t_\t_\t_\t_\t_\t"
	for name, c := range map[string]struct {
		text       string
		first      int
		last       int
		start, end int
		known      bool
		words      string
	}{
		"comment": {"# text = Zoë’s  dog.\n1\tZoë" + rest + "_\n2\t’s" + rest + "_\n3\tdog" + rest + "_\n4\t." +
			rest + "_\n", 1, 2, 3, 10, true, "’s  dog"},
		"multiword token": {"# text = du pain\n1-2\tdu" + rest + "_\n1\tde" + rest + "_\n2\tle" + rest + "_\n3\tpain" + rest +
			"_\n", 1, 2, 0, 7, true, "du pain"},
		"only in part": {"# text = other words\n1\tZoë" + rest + "_\n2\tdog" + rest + "_\n", 0, 1, 0, 0, false, "Zoë dog"},
		"no text":      {"1\tZoë" + rest + "_\n2\tdog" + rest + "_\n", 0, 1, 0, 0, false, "Zoë dog"},
		"token range": {"# text = a b\n1\ta" + rest + "TokenRange=10:11\n2\tb" + rest +
			"SpaceAfter=No|TokenRange=12:13\n", 0, 1, 10, 13, true, "a b"},
		"ranges alone": {"1\ta" + rest + "TokenRange=10:11\n2\tb" + rest + "TokenRange=11:12\n3\tc" + rest +
			"TokenRange=14:15\n", 0, 2, 10, 15, true, "ab c"},
		"one range": {"1\ta" + rest + "TokenRange=10:11\n2\tb" + rest + "_\n", 0, 1, 0, 0, false, "a b"},
	} {
		p := PlacesOf(conlluOf(t, c.text), 0)
		start, end, known := p.Range(c.first, c.last)
		if start != c.start || end != c.end || known != c.known || p.Text(c.first, c.last) != c.words {
			t.Errorf("%s: %d to %d (%v), %q", name, start, end, known, p.Text(c.first, c.last))
		}
	}
}

// Ranges of the data win, and survive Subset; the second sentence counts from its own comment.
func TestPlacesOfData(t *testing.T) {
	d := conlluOf(t, "# text = a\n1\ta\t_\tX\t_\t_\t_\t_\t_\t_\n\n# text = b  c\n1\tb\t_\tX\t_\t_\t_\t_\t_\t_\n"+
		"2\tc\t_\tX\t_\t_\t_\t_\t_\t_\n")
	p := PlacesOf(d, 1)
	if start, end, ok := p.Range(1, 1); start != 3 || end != 4 || !ok {
		t.Errorf("range %d to %d", start, end)
	}
	d.Ranges = [][2]int64{{5, 6}, {7, 8}, {8, 9}}
	p = PlacesOf(d.Subset([]int{1}), 0)
	if start, end, ok := p.Range(0, 1); start != 7 || end != 9 || !ok || p.Text(0, 1) != "bc" {
		t.Errorf("range %d to %d, %q", start, end, p.Text(0, 1))
	}
	d.Ranges[1], d.Ranges[2] = [2]int64{-1, -1}, [2]int64{-1, -1} // unknown: its comment says it
	p = PlacesOf(d, 1)
	if start, end, ok := p.Range(1, 1); start != 3 || end != 4 || !ok {
		t.Errorf("range %d to %d", start, end)
	}
}
