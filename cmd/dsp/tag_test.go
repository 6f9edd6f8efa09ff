package main

import (
	"path/filepath"
	"strings"
	"testing"
)

// items are the sentences as attribute files of CRFsuite have them.
func items() string {
	var b strings.Builder
	before := "_"
	for line := range strings.Lines(strings.Repeat(sentences+"\n", 5)) {
		word, tag, ok := strings.Cut(strings.TrimSpace(line), "\t")
		if !ok {
			b.WriteString("\n")
			before = "_"
			continue
		}
		b.WriteString(tag + "\tw=" + word + "\tbefore\\:=" + before + ":0.5\tbias\n")
		before = word
	}
	return b.String()
}

// Attribute files are trained on, evaluated and labelled; their columns are the gold label and the predicted one.
func TestTagAttributes(t *testing.T) {
	text := write(t, "train.crfsuite", items())
	run := filepath.Join(t.TempDir(), "run")
	var r resultJSON
	dsp(t, "train", "--train", text, "--dev", text, "--out", run, "--quiet", "--json").ok().json(&r)
	if r.Task != "tag" || r.Net != "linear" || r.Gap == nil || r.Dev == nil || r.Dev.F1 != 1 {
		t.Errorf("got %+v", r)
	}
	o := dsp(t, "predict", "--model", run, "--input", text).ok()
	var want strings.Builder
	for line := range strings.Lines(items()) {
		tag, _, _ := strings.Cut(strings.TrimSpace(line), "\t")
		if tag != "" {
			tag += "\t" + tag
		}
		want.WriteString(tag + "\n")
	}
	if got := strings.TrimRight(o.stdout, "\n"); got != strings.TrimRight(want.String(), "\n") {
		t.Errorf("got\n%s\nwant\n%s", got, want.String())
	}
	o = dspWith(t, "\tw=the\n\tw=red\tbefore\\:=the\n\tw=fox\n", "predict", "--model", run).ok()
	if o.stdout != "O\nB-X\nI-X\n\n" {
		t.Errorf("of attributes alone on standard input: %q", o.stdout)
	}
}
