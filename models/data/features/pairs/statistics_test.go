package pairs

import (
	"bytes"
	"math"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"

	"github.com/dsp-go/dsp/models/data/alignments"
	"github.com/dsp-go/dsp/structured"
)

func corpus(t testing.TB, lines ...string) *alignments.Corpus {
	t.Helper()
	c, err := alignments.Reader{Unlabeled: true}.Read(strings.NewReader(strings.Join(lines, "\n")), "test.pairs")
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func count(t testing.TB, threads int, corpora ...*alignments.Corpus) *Statistics {
	t.Helper()
	s, err := Count(threads, corpora...)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// drawn draws pairs of words a to t with random links.
func drawn(seed uint64, size int) *alignments.Corpus {
	rng := rand.New(rand.NewPCG(seed, 9))
	c := &alignments.Corpus{Name: "drawn", Offsets: []int{0}}
	side := func(first rune) []string {
		words := make([]string, 1+rng.IntN(8))
		for k := range words {
			words[k] = strings.Repeat(string(first+rune(rng.IntN(20))), 1+rng.IntN(4))
		}
		return words
	}
	for range size {
		source, target := side('a'), side('A')
		links := []alignments.Link{}
		for i := range min(len(source), len(target)) {
			links = append(links, alignments.Link{Source: int32(i), Target: int32(i), Sure: i%3 > 0})
		}
		c.Add(source, target, links)
	}
	return c
}

func TestDice(t *testing.T) {
	s := count(t, 1, corpus(t, "Das Haus das ||| the house", "das buch ||| the book ."), corpus(t, "haus ||| house ."))
	for _, c := range []struct {
		source, target string
		want           float64
	}{{"das", "the", 1}, {"haus", "house", 1}, {"das", "house", 0.5}, {"das", ".", 0.5}, {"buch", "house", 0},
		{"new", "the", 0}, {"das", "new", 0}} {
		if got := s.Dice(c.source, c.target); got != c.want {
			t.Errorf("Dice of %s and %s is %v, expected %v", c.source, c.target, got, c.want)
		}
	}
}

// Every coefficient equals the one counted directly, in the whole corpus and without one of its pairs.
func TestDiceOfRandomPairs(t *testing.T) {
	c := drawn(1, 150)
	s := count(t, 2, c)
	has := func(words []string, w string) int32 {
		for _, x := range words {
			if strings.ToLower(x) == w {
				return 1
			}
		}
		return 0
	}
	tested := 0
	for _, source := range s.source.words.Names() {
		for _, target := range s.target.words.Names() {
			var a, b, both int32
			for i := range c.Len() {
				x, y := has(c.Source(i), source), has(c.Target(i), target)
				a, b, both = a+x, b+y, both+x*y
			}
			want := 2 * float64(both) / float64(a+b)
			if want < leastDice {
				want = 0
			}
			if got := s.Dice(source, target); math.Abs(got-want) > 1e-12 {
				t.Fatalf("Dice of %s and %s is %v, expected %v", source, target, got, want)
			}
			if both > 1 {
				tested++
				want := 2 * float64(both-1) / float64(a+b-2)
				if got := s.dice(s.source.words.Index(source), s.target.words.Index(target), 1); want >= leastDice &&
					math.Abs(got-want) > 1e-12 {
					t.Fatalf("Dice of %s and %s without a pair is %v, expected %v", source, target, got, want)
				}
			}
		}
	}
	if tested < 100 {
		t.Errorf("only %d words occur together more than once", tested)
	}
}

func TestStatisticsDoNotDependOnThreads(t *testing.T) {
	c := drawn(2, 2000)
	want := count(t, 1, c)
	for _, threads := range []int{2, 7} {
		if got := count(t, threads, c); !reflect.DeepEqual(encoded(t, got), encoded(t, want)) {
			t.Errorf("%d threads count differently from 1", threads)
		}
	}
}

func encoded(t testing.TB, s *Statistics) []byte {
	t.Helper()
	data, err := s.MarshalBinary()
	if err != nil {
		t.Fatal(err)
	}
	return data
}

func TestEncoding(t *testing.T) {
	s := count(t, 0, drawn(3, 40))
	data := encoded(t, s)
	var again Statistics
	if err := again.UnmarshalBinary(data); err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(encoded(t, &again), data) {
		t.Error("decoding and encoding changes the bytes")
	}
	for _, w := range s.source.words.Names() {
		for _, v := range s.target.words.Names() {
			if a, b := s.Dice(w, v), again.Dice(w, v); a != b {
				t.Fatalf("Dice of %s and %s is %v, decoded %v", w, v, a, b)
			}
		}
	}
	if !again.has(lowered(drawn(3, 40).Source(7)), lowered(drawn(3, 40).Target(7))) {
		t.Error("a counted pair is not known after decoding")
	}
	for n := range len(data) {
		var cut Statistics
		if err := cut.UnmarshalBinary(data[:n]); !structured.IsBadInput(err) {
			t.Fatalf("%d of %d bytes decode with error %v", n, len(data), err)
		}
	}
	rng := rand.New(rand.NewPCG(1, 1))
	for range 2000 { // no damage makes it panic
		broken := bytes.Clone(data)
		broken[len(statisticsMagic)+rng.IntN(len(data)-len(statisticsMagic))] ^= byte(1 << rng.IntN(8))
		var s Statistics
		if err := s.UnmarshalBinary(broken); err == nil {
			for _, w := range s.source.words.Names() {
				s.Dice(w, "a")
			}
		} else if !structured.IsBadInput(err) {
			t.Fatal(err)
		}
	}
}

func TestCountNeedsWords(t *testing.T) {
	if _, err := Count(1, &alignments.Corpus{Name: "f.npz"}); !structured.IsBadInput(err) {
		t.Errorf("error %v, expected bad input", err)
	}
}
