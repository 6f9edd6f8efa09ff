package training

import (
	"bytes"
	"log/slog"
	"strings"
	"testing"

	"github.com/dsp-go/dsp/models/config"
	"github.com/dsp-go/dsp/train/record"
)

// An objective that rises in every pass is warned of once, with what to do.
func TestRisingObjective(t *testing.T) {
	c := config.Default()
	c.Method = "adam"
	for _, test := range []struct {
		dropout    float64
		objectives []record.Number
		earlier    []record.Record
		want       string // empty: no warning
	}{
		{0, []record.Number{1, 2, 3}, nil, ""},
		{0, []record.Number{1, 2, 3, 4}, nil, "pass=4 advice=\"Lower --lr\""},
		{0.4, []record.Number{1, 2, 3, 4}, nil, "--dropout 0.4"},
		{0, []record.Number{1, 2, 3, 2, 3, 4}, nil, ""},
		{0, []record.Number{9, 2, 3, 4, 5, 6, 7, 8, 9}, nil, "pass=5"},
		{0, []record.Number{2, 3, 4}, []record.Record{{Objective: 1}}, "pass=3"},
		{0, []record.Number{1, 1, 1, 1, 1}, nil, ""},
	} {
		c.Dropout = test.dropout
		var log bytes.Buffer
		r := newRising(slog.New(slog.NewTextHandler(&log, nil)), &c, test.earlier)
		for k, objective := range test.objectives {
			if err := r.Record(record.Record{Pass: k + 1, Objective: objective}); err != nil {
				t.Fatal(err)
			}
		}
		if test.want == "" && log.Len() > 0 || !strings.Contains(log.String(), test.want) || strings.Count(log.String(), "WARN") > 1 {
			t.Errorf("%v: %s, expected %s", test.objectives, log.String(), test.want)
		}
	}
}
