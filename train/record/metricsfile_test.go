package record

import (
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/dsp-go/dsp/structured"
	"github.com/dsp-go/dsp/structured/chains"
)

// A line of metrics.jsonl has exactly the keys that scripts rely on; unknown values are null.
func TestRecordJSON(t *testing.T) {
	nan, dev := Number(math.NaN()), chains.Metrics{TokenError: 0.5, Tokens: 4}.General()
	line := text(t, Record{Pass: 2, Seconds: 0.5, OracleCalls: 10, FullPasses: 3, Objective: 0.25, Dual: nan, Gap: nan,
		Smoothed: Number(math.Inf(1)), Step: 0.1, ExactTopK: nan, ProxGradient: nan, Dev: &dev})
	want := `{"pass":2,"seconds":0.5,"oracle_calls":10,"full_passes":3,"objective":0.25,"dual":null,"gap":null,"smoothed":null,` +
		`"mu":0,"kappa":0,"exact_topk":null,"nonzero":0,"step":0.1,"prox_gradient":null,` +
		`"dev":{"token_error":0.5,"token_accuracy":0,"sequence_error":0,"tokens":4,"sequences":0},"test":null,"relative_gap":null}`
	if line != want {
		t.Errorf("got  %s\nwant %s", line, want)
	}
	var back Record
	if err := json.Unmarshal([]byte(line), &back); err != nil {
		t.Fatal(err)
	}
	if text(t, back) != line || !math.IsNaN(float64(back.Dual)) {
		t.Errorf("read back as %s", text(t, back))
	}
}

func TestRecordJSONHasBothGaps(t *testing.T) {
	if line := text(t, Record{Objective: 0.5, Dual: 0.25, Gap: 0.25}); !strings.Contains(line, `"gap":0.25`) || !strings.Contains(line, `"relative_gap":0.5`) {
		t.Errorf("got %s", line)
	}
}

// A relaxed objective is called relaxed, and others are not.
func TestRelaxedRecord(t *testing.T) {
	for _, relaxed := range []bool{false, true} {
		r := Record{Objective: 0.5, Relaxed: relaxed}
		if got := strings.Contains(text(t, r), `"relaxed":true`); got != relaxed {
			t.Errorf("relaxed %v: %s", relaxed, text(t, r))
		}
		if got := strings.HasPrefix(summary(r), "relaxed objective 0.5"); got != relaxed {
			t.Errorf("relaxed %v: %s", relaxed, summary(r))
		}
	}
}

func TestRelativeGapAndDevError(t *testing.T) {
	nan := Number(math.NaN())
	for _, c := range []struct {
		r    Record
		want float64
	}{{Record{Objective: 2, Gap: 1}, .5}, {Record{Objective: -2, Gap: 1}, .5}, {Record{}, 0}, {Record{Objective: 1, Gap: nan}, math.NaN()}} {
		if got := c.r.RelativeGap(); got != c.want && !(math.IsNaN(got) && math.IsNaN(c.want)) {
			t.Errorf("relative gap of %+v is %v, want %v", c.r, got, c.want)
		}
	}
	dev := chains.Metrics{TokenError: 0.1}.General()
	m := &dev
	if name, e := (Record{Dev: m}).DevError(); name != "token error" || e != 0.1 {
		t.Error(name, e)
	}
	m.Measures = append(m.Measures, structured.Measure{Name: "f1", Value: 0.75})
	if name, e := (Record{Dev: m}).DevError(); name != "entity error (1 − F1)" || e != 0.25 {
		t.Error(name, e)
	}
}

func passesOf(records []Record) (p []int) {
	for _, r := range records {
		p = append(p, r.Pass)
	}
	return p
}

func TestMetricsFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "metrics.jsonl")
	write := func(after int, wantEarlier []int, add ...int) {
		t.Helper()
		m, earlier, err := OpenMetrics(path, after)
		if err != nil {
			t.Fatal(err)
		}
		if got := passesOf(earlier); !slices.Equal(got, wantEarlier) {
			t.Errorf("after pass %d: earlier passes %v, want %v", after, got, wantEarlier)
		}
		for _, p := range add {
			if err := m.Record(Record{Pass: p}); err != nil {
				t.Fatal(err)
			}
		}
		if err := m.Close(); err != nil {
			t.Fatal(err)
		}
	}
	check := func(want ...int) {
		t.Helper()
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		records, _, err := firstRecords(path, text, math.MaxInt)
		if err != nil || !slices.Equal(passesOf(records), want) {
			t.Errorf("file holds passes %v, %v; want %v", passesOf(records), err, want)
		}
	}
	write(0, nil, 1, 2, 3)
	check(1, 2, 3)
	write(2, []int{1, 2}, 3, 4)
	check(1, 2, 3, 4)
	text, _ := os.ReadFile(path)
	if err := os.WriteFile(path, append(text, `{"pass": 5, "sec`...), 0o666); err != nil {
		t.Fatal(err)
	}
	write(4, []int{1, 2, 3, 4}, 5)
	check(1, 2, 3, 4, 5)
	write(0, nil, 1)
	check(1)
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	write(3, nil, 4)
	check(4)
	for _, damaged := range []string{"rubbish", "null", "{}", `{"pass": 1}`, `{"pass": "2"}`} {
		if err := os.WriteFile(path, []byte("{\"pass\": 1}\n"+damaged+"\n{\"pass\": 3}\n"), 0o666); err != nil {
			t.Fatal(err)
		}
		_, _, err := OpenMetrics(path, 3)
		_, again := ReadMetrics(path)
		for _, err := range []error{err, again} {
			if !structured.IsBadInput(err) || !strings.HasPrefix(err.Error(), path+":2: not a record") {
				t.Errorf("%s: %v", damaged, err)
			}
		}
	}
}

func text(t *testing.T, r Record) string {
	t.Helper()
	b, err := json.Marshal(r)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}
