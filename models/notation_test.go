package models

import (
	"context"
	"path/filepath"
	"strings"
	"testing"

	"github.com/dsp-go/dsp/models/predictions"
)

// Predictions have the notation of the input's labels or, where it has none, of the training data, whatever the model's own is; the model file keeps that. Data in other
// notations are scored alike.
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
