package models

import (
	"context"
	"encoding/json"
	"io"
	"math"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/dsp-go/dsp/models/predictions"
)

// Predictions have the notation of the input's labels or, where it has none, of the training data, whatever the model's
// own is; the model file keeps that. Data in other notations are scored alike.
func TestNotations(t *testing.T) {
	notations := map[string]string{
		"iob1": "a I-X\nb I-X\nc B-X\nd O\n", "iob2": "a B-X\nb I-X\nc B-X\nd O\n", "bioes": "a B-X\nb E-X\nc S-X\nd O\n", "bilou": "a B-X\nb L-X\nc U-X\nd O\n",
		"bmewo": "a B-X\nb E-X\nc W-X\nd O\n", "under": "a B_X\nb I_X\nc B_X\nd O\n", "behind": "a X-B\nb X-I\nc X-B\nd O\n", "small": "a b-X\nb i-X\nc b-X\nd o\n",
	}
	for trained, train := range notations {
		for _, scheme := range []string{keepScheme, "bioes"} {
			c := textConfig(file(t, "train.conll", train))
			c.Columns, c.Scheme, c.Template = "", scheme, file(t, "template", "U:%x[0,0]\n")
			m, d := attributeModel(t, c)
			clear(m.W)
			for _, array := range m.Net.Layout() {
				for k, l := range d.Train.Labels { // each word has an attribute of its own, in the order of the file
					if array.Name == "attributes" {
						array.Of(m.W)[k*m.Labels.Len()+int(l)] = 100
					}
				}
			}
			path := filepath.Join(t.TempDir(), "model")
			if err := m.Save(path); err != nil {
				t.Fatal(err)
			}
			m, err := Load(path)
			if err != nil {
				t.Fatal(err)
			}
			tags := func(lines string) (column []string) {
				for line := range strings.Lines(lines) {
					if fields := strings.Fields(line); len(fields) > 0 {
						column = append(column, fields[len(fields)-1])
					}
				}
				return column
			}
			want := strings.Join(tags(train), " ")
			if got := strings.Join(tags(streamed(t, m, strings.NewReader("a\nb\nc\nd\n"), predictions.Options{}, false)), " "); got != want {
				t.Errorf("%s, --scheme %s: %s, expected %s as in the training data", trained, scheme, got, want)
			}
			for in, text := range notations {
				want := strings.Join(tags(text), " ")
				if got := strings.Join(tags(streamed(t, m, strings.NewReader(text), predictions.Options{}, false)), " "); got != want {
					t.Errorf("%s, --scheme %s, input in %s: %s, expected %s", trained, scheme, in, got, want)
				}
				d, err := m.ReadData(Request{Path: file(t, "in.conll", text), Labels: true})
				if err != nil {
					t.Fatal(err)
				}
				if r, err := m.Evaluate(context.Background(), d, false, 1); err != nil || r.Get("f1") != 1 || d.Alphabet != m.Labels {
					t.Errorf("%s, --scheme %s, data in %s: %v, %v", trained, scheme, in, r, err)
				}
			}
		}
	}
}

// The probabilities of tags that are written otherwise take a table of steps for each position, which a server must
// know.
func TestFootprintOfTagsInOtherNotations(t *testing.T) {
	c := textConfig(file(t, "train.conll", "a B-X\nb I-X\nc B-X\nd O\n\nb B-Y\na O\n"))
	c.Columns, c.Scheme = "", "bioes"
	m, _ := attributeModel(t, c)
	const n = 1000
	y := m.Labels.Len()
	of := func(o predictions.Options) float64 { return m.Footprint(Extent{Positions: n}, o) }
	plain := of(predictions.Options{})
	if got, least := of(predictions.Options{Marginals: true, Scheme: "iob1"})-plain, float64(4*4*n*y*y); got < least {
		t.Errorf("%g bytes more, expected at least %g: potentials, marginals, and the oracle's tables of float64", got, least)
	}
	if got := of(predictions.Options{Scheme: "iob1"}); got != plain {
		t.Errorf("%g bytes for tags without probabilities, and %g in the model's own scheme", got, plain)
	}
}

// Who reads the probabilities of the model's own labels alone gets no others.
func TestOwnLabelsAlone(t *testing.T) {
	c := textConfig(file(t, "train.conll", "a B-X\nb I-X\nc B-X\nd O\n\nb B-Y\na O\n"))
	c.Columns, c.Scheme = "", "bioes"
	m, _ := attributeModel(t, c)
	d, err := m.ReadData(Request{Path: file(t, "in.conll", "a B-X\nb I-X\n")})
	if err != nil {
		t.Fatal(err)
	}
	for _, own := range []bool{false, true} {
		o := predictions.Options{Confidence: true, OwnLabels: own}
		err := m.Predict(t.Context(), d, o, func(_ int, p *predictions.Prediction) error {
			if (p.Tags == nil) != own || p.Marginals == nil {
				t.Errorf("own labels alone %t: %d probabilities of tags, %d of labels", own, len(p.Tags), len(p.Marginals))
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
}

// Probabilities are those of the tags that are written, in columns and in objects, as text arrives and of data that are
// read whole; a model whose tags depend on more than their neighbours keeps its own tags.
func TestProbabilitiesOfTagsInOtherNotations(t *testing.T) {
	train := "a B-X\nb I-X\nc B-X\nd O\n\nb B-Y\na O\n"
	for _, order := range []int{1, 2} {
		c := textConfig(file(t, "train.conll", train))
		c.Columns, c.Scheme, c.Order = "", "bioes", order
		m, _ := attributeModel(t, c)
		for in, text := range map[string]string{"iob1": "a I-X\nb I-X\nc B-X\nd O\n", "bilou": "a B-X\nb L-X\nc U-X\nd O\n", "under": "a B_X\nb I_X\nc B_X\nd O\n", "none": "a\nb\nc\nd\n"} {
			tags := map[string]string{
				"iob1": "B-X B-Y I-X I-Y O", "bilou": "B-X B-Y I-X I-Y L-X L-Y O U-X U-Y", "under": "B_X B_Y I_X I_Y O", "none": "B-X B-Y I-X I-Y O",
			}[in]
			if order == 2 {
				tags = "B-X B-Y E-X E-Y I-X I-Y O S-X S-Y"
			}
			o := predictions.Options{Marginals: true, Confidence: true}
			arrived := streamed(t, m, strings.NewReader(text), o, false)
			d, err := m.ReadData(Request{Path: file(t, "in.conll", text)})
			if err != nil {
				t.Fatal(err)
			}
			var whole, objects strings.Builder
			if err := m.Print(t.Context(), d, &whole, o, false); err != nil || whole.String() != arrived {
				t.Errorf("order %d, %s: whole %v\n%s\nas it arrives\n%s", order, in, err, whole.String(), arrived)
			}
			if err := m.Print(t.Context(), d, &objects, o, true); err != nil {
				t.Fatal(err)
			}
			var object struct {
				Labels, Tags []string
				Confidence   []float64
				Marginals    [][]float64
			}
			if err := json.Unmarshal([]byte(objects.String()), &object); err != nil {
				t.Fatal(err)
			}
			if object.Tags != nil && strings.Join(object.Tags, " ") != tags || (object.Tags == nil) != (order == 2) {
				t.Errorf("order %d, %s: an object of the tags %q, expected %q", order, in, object.Tags, tags)
			}
			for k, line := range strings.Split(strings.TrimSpace(arrived), "\n") {
				fields := strings.Fields(line)
				n := len(strings.Fields(tags))
				fields = fields[len(fields)-n-2:]
				sum, of := 0.0, map[string]string{}
				var names []string
				for _, field := range fields[:n] {
					name, p, _ := strings.Cut(field, "/")
					x, err := strconv.ParseFloat(p, 64)
					if err != nil {
						t.Fatal(err)
					}
					names, of[name], sum = append(names, name), p, sum+x
				}
				if strings.Join(names, " ") != tags || math.Abs(sum-1) > 1e-5 || of[fields[n+1]] != fields[n] || object.Labels[k] != fields[n+1] ||
					strconv.FormatFloat(object.Confidence[k], 'f', 6, 32) != fields[n] || len(object.Marginals[k]) != n {
					t.Errorf("order %d, %s: %s\n%s", order, in, line, objects.String())
				}
			}
		}
		explicit := predictions.Options{Marginals: true, Scheme: "io"}
		err := m.PredictText(t.Context(), strings.NewReader("a\n"), io.Discard, Request{Path: "x"}, explicit, false)
		if (err != nil) != (order == 2) {
			t.Errorf("--scheme io --marginals, order %d: %v", order, err)
		}
	}
}
