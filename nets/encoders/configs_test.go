package encoders

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/dsp-go/dsp/structured"
)

// What a family's config.json may say is refused beyond its limits and read up to them: each setting is changed alone,
// in the family's own folder. Settings that are null are as if they were not there.
func TestConfigsOfFamilies(t *testing.T) {
	type settings = map[string]any
	for family, changes := range map[string][]struct {
		settings settings
		want     string // "": it is read
	}{
		"bert": {
			{settings{}, ""}, {settings{"hidden_size": nil}, "no hidden_size"},
			{settings{"hidden_size": 0}, "hidden_size is 0, expected 1 to"},
			{settings{"vocab_size": mostSize + 1}, "vocab_size is 67108865"},
			{settings{"vocab_size": mostSize}, ""},
			{settings{"num_hidden_layers": mostLayers + 1}, "num_hidden_layers is 1001, expected 1 to 1000"},
			{settings{"num_hidden_layers": mostLayers}, ""},
			{settings{"hidden_dropout_prob": 1}, "hidden_dropout_prob is 1, expected a rate"},
			{settings{"hidden_dropout_prob": 0.999}, ""},
			{settings{"hidden_dropout_prob": 0}, ""},
			{settings{"attention_probs_dropout_prob": -0.1}, "attention_probs_dropout_prob is -0.1"},
			{settings{"type_vocab_size": 0}, "type_vocab_size is 0"}, {settings{"max_position_embeddings": 1}, ""},
			{settings{"is_decoder": true}, "is a decoder"},
			{settings{"num_attention_heads": 5}, "does not divide into 5 heads"},
			{settings{"num_attention_heads": 16}, ""},
		},
		"roberta": {
			{settings{}, ""},
			{settings{"max_position_embeddings": 2}, "max_position_embeddings is 2, expected more than 2"},
			{settings{"max_position_embeddings": 3}, ""},
		},
		"mpnet": {
			{settings{}, ""},
			{settings{"relative_attention_num_buckets": 6}, "relative_attention_num_buckets is 6, expected a multiple of 4"},
			{settings{"relative_attention_num_buckets": 8}, ""},
		},
		"deberta-v2": {
			{settings{}, ""},
			{settings{"attention_head_size": 8}, ""},
			{settings{"attention_head_size": 4}, "attention_head_size is 4"},
			{settings{"attention_head_size": 0}, ""},
			{settings{"max_relative_positions": mostSize + 1}, "max_relative_positions is 67108865 and " +
				"position_buckets 8, expected at most"},
			{settings{"max_relative_positions": mostSize}, ""},
			{settings{"position_buckets": mostSize + 1}, "position_buckets 67108865, expected at most"},
			{settings{"position_buckets": 3}, "position_buckets is 3 for distances up to 64"},
			{settings{"position_buckets": 4}, ""},
			{settings{"position_buckets": -1}, ""},
			{settings{"max_relative_positions": 5}, "position_buckets is 8 for distances up to 5"},
			{settings{"max_relative_positions": 6}, ""},
			{settings{"pos_att_type": []string{"c2p", "p2p"}}, `pos_att_type is "p2p"; dsp knows c2p, p2c`},
			{settings{"pos_att_type": "C2P | p2c"}, ""},
			{settings{"type_vocab_size": -1}, "type_vocab_size is -1, expected 0 to"},
			{settings{"type_vocab_size": mostSize + 1}, "type_vocab_size is 67108865"},
		},
		"deberta-v2-xlarge": {
			{settings{}, ""},
			{settings{"conv_kernel_size": 4}, "a convolution of width 4 in 1 groups"},
			{settings{"conv_groups": 2}, "a convolution of width 3 in 2 groups"},
			{settings{"conv_kernel_size": 0, "conv_groups": 2}, ""},
			{settings{"conv_act": "mish"}, `conv_act is "mish"`},
		},
		"modernbert": {
			{settings{}, ""},
			{settings{"layer_types": []string{"full_attention"}}, "layer_types has 1 entries for 4 layers"},
			{settings{"layer_types": nil}, ""},
			{settings{"layer_types": []string{"full_attention", "full_attention", "full_attention", "linear"}},
				`layer_types is "linear"`},
			{settings{"rope_parameters": settings{"full_attention": 3}}, "rope_parameters of full_attention"},
			{settings{"rope_parameters": settings{"sliding_attention": settings{"rope_type": "yarn"}}}, `rope_type is "yarn"`},
			{settings{"rope_parameters": settings{"full_attention": settings{"rope_theta": 1}}},
				"the base of rotations is 1, expected more than 1"},
			{settings{"rope_parameters": nil}, ""},
			{settings{"num_attention_heads": 16}, "heads of 1 channels, expected an even number"},
			{settings{"num_attention_heads": 8}, ""},
			{settings{"global_attn_every_n_layers": 0}, "global_attn_every_n_layers is 0"},
		},
	} {
		text, err := os.ReadFile(filepath.Join("testdata", family, "config.json"))
		must(t, err)
		for _, c := range changes {
			all, dir := settings{}, t.TempDir()
			must(t, json.Unmarshal(text, &all))
			for name, value := range c.settings {
				all[name] = value
			}
			changed, err := json.Marshal(all)
			must(t, err)
			must(t, os.WriteFile(filepath.Join(dir, "config.json"), changed, 0o644))
			switch _, _, err := readConfig(dir); {
			case c.want == "" && err != nil:
				t.Errorf("%s with %v: %v", family, c.settings, err)
			case c.want != "" && (err == nil || !structured.IsBadInput(err) || !strings.Contains(err.Error(), c.want)):
				t.Errorf("%s with %v: error %v, want bad input about %q", family, c.settings, err, c.want)
			}
		}
	}
}
