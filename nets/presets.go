package nets

import "slices"

// Preset describes a network that dsp makes by its name, for those who choose one: what it reads, and which settings of Config have an
// effect on it. Its layers are in Config.body.
type Preset struct {
	Name, Summary string
	Settings      []string // of Config, by their names in YAML, beside net
	Words         bool     // it reads words, or dense features in their place
	Attributes    bool     // it reads attributes of positions, arcs or pairs
	Positions     bool     // it scores chains, and every structure with a row for each position
}

// Presets lists the presets, in the order of help texts.
var Presets = []Preset{
	{Name: "linear", Summary: "dense features in a window, or attributes, as they are", Attributes: true, Positions: true,
		Settings: []string{"window"}},
	{Name: "mlp", Summary: "dense features in a window, and dense layers", Positions: true,
		Settings: hiddenAnd("window", "edge-units", "submodular")},
	{Name: "cnn", Summary: "convolutions over positions with dense features", Positions: true,
		Settings: hiddenAnd("window", "channels")},
	{Name: "cnn-image", Summary: "convolutions over an image of 16×8 pixels at each position", Positions: true,
		Settings: hiddenAnd("channels")},
	{Name: "conv-map", Summary: "a convolution over a map of features at each position", Positions: true,
		Settings: hiddenAnd("window", "channels")},
	{Name: "conv-crop", Summary: "convolutions with stride 2 over a crop of pixels at each position", Positions: true,
		Settings: hiddenAnd("window", "channels", "edge-units", "submodular")},
	{Name: "embed", Summary: "embedded words in a window", Words: true, Positions: true,
		Settings: hiddenAnd("window", "channels", "embed")},
	{Name: "rnn", Summary: "words or dense features, and recurrent layers in both directions", Words: true, Positions: true,
		Settings: hiddenAnd("recurrent", "embed")},
	{Name: "attention", Summary: "words or dense features, and self-attention over whole sequences", Words: true, Positions: true,
		Settings: hiddenAnd("window", "channels", "embed", "layers", "heads", "block-units")},
	{Name: "deep", Summary: "words, their characters and attributes, which it weights beside", Words: true, Attributes: true, Positions: true,
		Settings: hiddenAnd("window", "channels", "recurrent", "embed", "char-embed", "char-window", "char-channels", "attribute-units")},
	{Name: "biaffine", Summary: "words; scores the arcs of trees", Words: true,
		Settings: hiddenAnd(slices.Concat(sentence, []string{"arc-units", "label-units"})...)},
	{Name: "bilinear", Summary: "words of sentence pairs and attributes of word pairs; scores links", Words: true, Attributes: true,
		Settings: hiddenAnd(slices.Concat(sentence, []string{"pair-units"})...)},
	{Name: StackNet, Summary: "layers that a file lists (--net FILE.yaml)",
		Settings: []string{"stack", "activation", "dropout", "edge-units", "submodular", "arc-units", "label-units", "pair-units"}},
}

// sentence are the settings of the layers over sentences below biaffine and bilinear.
var sentence = []string{"window", "channels", "recurrent", "embed", "layers", "heads", "block-units", "char-embed", "char-window", "char-channels"}

// hiddenAnd returns settings, and those of every network with hidden layers.
func hiddenAnd(settings ...string) []string {
	return append([]string{"hidden", "activation", "dropout"}, settings...)
}

// Nets lists the names of the presets, and PositionNets of those that score positions: chains, and every other structure whose parts have
// a row for each position, are shared by all examples, or have a row for each example.
var (
	Nets         = namesOf(func(Preset) bool { return true })
	PositionNets = namesOf(func(p Preset) bool { return p.Positions })
)

func namesOf(wanted func(p Preset) bool) []string {
	var names []string
	for _, p := range Presets {
		if wanted(p) {
			names = append(names, p.Name)
		}
	}
	return names
}

// FindPreset returns the preset of that name.
func FindPreset(name string) (Preset, bool) {
	k := slices.IndexFunc(Presets, func(p Preset) bool { return p.Name == name })
	if k < 0 {
		return Preset{}, false
	}
	return Presets[k], true
}
