package cli

import (
	"bytes"
	"path/filepath"
	"strings"
	"testing"
)

// smallAttention holds the flags of a small network with attention.
var smallAttention = []string{"--net", "attention", "--channels", "16", "--heads", "2", "--block-units", "24"}

// The attention network reads images: it trains to the same bits with any number of threads and after resuming, and its model loads.
func TestAttentionReadsWords(t *testing.T) {
	flags := with([]string{"train", "--examples", "80,20,30", "--method", "sgd", "--dropout", "0.1", "--baselines", "off", "--quiet"}, smallAttention...)
	var want []byte
	for _, threads := range []string{"1", "3"} {
		out := filepath.Join(t.TempDir(), threads)
		dsp(t, with(flags, "--passes", "12", "--threads", threads, "--out", out)...).ok()
		if got := modelOf(t, out); want == nil {
			want = got
		} else if !bytes.Equal(got, want) {
			t.Errorf("another model with %s threads", threads)
		}
		var m metricsJSON
		dsp(t, "eval", "--model", out, "--data", "builtin", "--json").ok().json(&m)
		if m.Tokens == 0 || m.TokenError > 0.8 {
			t.Errorf("got %+v", m)
		}
		info := dsp(t, "info", out).ok().stdout
		for _, line := range []string{"net         attention", "block1.attention.in", "heads: 2", "layers: 1", "block-units: 24"} {
			if !strings.Contains(info, line) {
				t.Errorf("info lacks %q:\n%s", line, info)
			}
		}
	}
	parts := filepath.Join(t.TempDir(), "parts")
	dsp(t, with(flags, "--passes", "4", "--out", parts)...).ok()
	dsp(t, "train", "--resume", parts, "--passes", "12", "--quiet").ok()
	if !bytes.Equal(modelOf(t, parts), want) {
		t.Error("another model after resuming")
	}
	dsp(t, with(flags, "--heads", "3")...).refused(exitBadInput, "3 heads", "multiple of 6")
	dsp(t, "train", "--net", "cnn", "--heads", "2").refused(exitBadInput, "--heads 2", "attention")
}

// The attention network reads the words of a text, too, and learns tags that depend on the words before.
func TestAttentionTagsText(t *testing.T) {
	dir := t.TempDir()
	text, out := write(t, "train.conll", strings.Repeat(sentences+"\n", 10)), filepath.Join(dir, "run")
	dsp(t, with([]string{"train", "--task", "tag", "--train", text, "--method", "sgd", "--passes", "20", "--window", "1", "--edges", "none", "--out", out, "--quiet"},
		smallAttention...)...).ok()
	var m metricsJSON
	dsp(t, "eval", "--model", out, "--data", text, "--json").ok().json(&m)
	if m.TokenError > 0.1 {
		t.Errorf("got %+v", m)
	}
}

// The network for trees takes blocks of attention.
func TestAttentionParser(t *testing.T) {
	data, out := drawnTrees(t), filepath.Join(t.TempDir(), "run")
	dsp(t, with([]string{"train", "--train", filepath.Join(data, "train.conllu"), "--method", "sgd", "--passes", "4", "--quiet", "--layers", "1", "--heads", "3", "--out", out},
		smallBiaffine...)...).ok()
	var m attachmentJSON
	dsp(t, "eval", "--model", out, "--data", filepath.Join(data, "test.conllu"), "--json").ok().json(&m)
	if m.UAS < 0.4 || m.LAS < 0.3 {
		t.Errorf("got %+v", m)
	}
}
