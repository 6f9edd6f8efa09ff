// Package config holds the settings of a training: their names, values and help texts, their files in YAML, and which of them have an
// effect with which others.
package config

import (
	"github.com/dsp-go/dsp/models/drawn/ocr"
	"github.com/dsp-go/dsp/models/optimisers"
	"github.com/dsp-go/dsp/models/settings"
	"github.com/dsp-go/dsp/nets"
	"github.com/dsp-go/dsp/nets/graph"
)

// Config holds all settings of a training run. Its tags define the command line's flags, the configuration file's keys and
// their help (see Settings): yaml is the name, help the help text, unit the placeholder of the value, values the allowed values,
// min the least value, only the values of other settings that it needs; run marks settings that do not change the model. Which tasks,
// formats, networks and methods take a setting is said by their descriptors.
type Config struct {
	Task       string         `yaml:"task" json:"task" group:"Data" values:"auto" help:"what to learn: ocr reads words from images of their letters, tag labels tokens of text or rows of features, parse predicts dependency trees, localise finds the box of an object in an image, align links the words of sentence pairs, graph labels the variables of graphs, segment labels the pixels of images; auto: ocr for formats builtin and letters, localise for coco and voc, align for pairs, else tag"`
	Train      string         `yaml:"train" json:"train" group:"Data" unit:"FILE,..." help:"training data: a file, several (separated by commas, or the flag again), a pattern such as 'data/*.conll', or a folder of files; without it, ocr draws words, parse draws sentences with trees, align draws sentence pairs, graph draws graphs, and localise and segment draw scenes; for segment, a folder of images"`
	Dev        string         `yaml:"dev" json:"dev" group:"Data" unit:"FILE,..." help:"development data, one file or several, measured after every pass; the model keeps the weights of the best pass"`
	Test       string         `yaml:"test" json:"test" group:"Data" unit:"FILE,..." help:"test data, one file or several, measured after every pass and never used to choose anything"`
	Dense      string         `yaml:"dense" json:"dense" group:"Data" unit:"TRAIN,DEV,TEST" help:"npz files with dense features of the tokens, for nets that read words or attributes: an array features [tokens×features] for each of train, dev and test, in this order"`
	Format     string         `yaml:"format" json:"format" group:"Data" values:"|builtin" help:"layout of data files: builtin (drawn data), letters (the letter.data of the OCR set), conll (columns), conllu (CoNLL-U), pairs (one sentence pair per line, source ||| target ||| links), crfsuite (one label and its attributes per line), npz (dense features, with words or without; for localise: of candidate boxes; for graph: of variables and edges), coco (a JSON file with boxes of objects in images), voc (a folder of XML files with boxes), images (a folder of images: for segment, and for localise to predict on); empty: recognised from the name and the first lines"`
	Columns    string         `yaml:"columns" json:"columns" group:"Data" help:"names of the columns of a conll file, such as word=0,pos=1,label=-1; columns count from 0, negative numbers from the end; columns other than word and label are additional inputs; empty: word first, label last"`
	Label      string         `yaml:"label" json:"label" group:"Data" unit:"upos|xpos|feats|deprel|misc:KEY" help:"field of a conllu file to use as the label; misc:KEY takes the value of KEY= in the last field; empty: upos"`
	Scheme     string         `yaml:"scheme" json:"scheme" group:"Data" values:"keep|iob1|iob2|bioes" help:"convert entity tags to this scheme on reading; keep leaves them unchanged"`
	Partial    bool           `yaml:"partial" json:"partial" group:"Data" help:"accept partial labels: ? (or _) means any label, A|B one of these; without this flag they are ordinary labels"`
	Fold       int            `yaml:"fold" json:"fold" group:"Data" min:"-1" help:"letters only: fold of the training file to hold out as test data; -1: none"`
	Examples   settings.Sizes `yaml:"examples" json:"examples" group:"Data" min:"1" unit:"TRAIN,DEV,TEST" help:"how many words (for parse: sentences, for localise and segment: scenes; for graph: graphs; for align: sentence pairs) to draw for training, development and test"`
	Difficulty float64        `yaml:"difficulty" json:"difficulty" group:"Data" min:"0" help:"how strongly drawn letters are distorted (0 clean, 1 ambiguous out of context, 2 hardly legible), how much clutter, moss and noise drawn scenes have, or how much noise the features of drawn graphs"`

	Tree     string `yaml:"tree" json:"tree" group:"Data" values:"projective|nonprojective" help:"which trees a parser may predict: projective (no crossing arcs) or nonprojective (any)"`
	Crossing string `yaml:"crossing" json:"crossing" group:"Data" values:"lift|refuse" only:"tree=projective" help:"how to treat training trees with crossing arcs: lift reattaches the dependents of such arcs to their head's head until no arcs cross, refuse stops at the first such tree"`

	Search      string `yaml:"search" json:"search" group:"Data" values:"candidates|windows" help:"how the box of an object is found: the best of the image's candidate boxes (candidates), or the best of all boxes of a grid, by branch and bound (windows)"`
	SearchLimit int    `yaml:"search-limit" json:"search-limit" group:"Data" min:"0" only:"search=windows" unit:"N" help:"stop the search for a window after N sets of boxes, with the best box so far and an upper bound of its score; 0: search to the end"`
	Class       string `yaml:"class" json:"class" group:"Data" unit:"NAME" help:"class of the object to find; images with exactly one are used; empty: the only class of the data"`
	Boxes       string `yaml:"boxes" json:"boxes" group:"Data" only:"search=candidates" unit:"TRAIN,DEV,TEST" help:"files with the candidate boxes of train, dev and test, in this order, in COCO's format of results; without it, sliding windows of several sizes and shapes"`
	Images      string `yaml:"images" json:"images" group:"Data" unit:"TRAIN,DEV,TEST" help:"folders of the images of train, dev and test; one folder is for all; empty: the folder of the JSON file, or JPEGImages beside the folder of the XML files"`
	Cells       int    `yaml:"cells" json:"cells" group:"Data" min:"2" only:"search=windows" unit:"N" help:"cells per side of an image, on whose lines windows begin and end"`
	Crop        int    `yaml:"crop" json:"crop" group:"Data" min:"8" only:"search=candidates" unit:"N" help:"pixels per side that a candidate is resized to; with --features descriptor a multiple of 8, as a cell has 8×8 pixels"`
	Candidates  int    `yaml:"candidates" json:"candidates" group:"Data" min:"1" only:"search=candidates" unit:"N" help:"the most candidate boxes per image"`
	Stream      bool   `yaml:"stream" json:"stream" group:"Data" run:"true" help:"keep the features of boxes out of memory: read them from the npz archive, or compute them from the images, whenever they are needed; always so if they do not fit"`
	Links       string `yaml:"links" json:"links" group:"Data" unit:"TRAIN,DEV,TEST" help:"files of the links of sentence pairs, one line per pair, for each of train, dev and test, in this order; empty: the links are the third field of each line"`
	Bitext      string `yaml:"bitext" json:"bitext" group:"Data" unit:"FILE" help:"more sentence pairs, source ||| target, from which the association of words is counted beside the training data; links are not needed"`
	Unmatched   string `yaml:"unmatched" json:"unmatched" group:"Data" values:"learned|never" help:"whether source words may stay without a link: learned (at a learned price) or never, which needs at least as many target words as source words in every pair, and a sure link for each in training"`

	Masks       string  `yaml:"masks" json:"masks" group:"Data" unit:"TRAIN,DEV,TEST" help:"folders of the masks of train, dev and test, in this order: PNG files with the names of the images, whose palette indices or grey values are labels; 255 is void, which counts nowhere"`
	LabelNames  string  `yaml:"label-names" json:"label-names" group:"Data" unit:"FILE" help:"names of the labels in masks, one per line, from label 0 on; empty: their numbers"`
	Classes     int     `yaml:"classes" json:"classes" group:"Data" min:"2" unit:"N" help:"classes of drawn scenes: ground and stone (2), or also water and leaf (4); or labels of drawn graphs, 2 to 10"`
	Shape       string  `yaml:"shape" json:"shape" group:"Data" values:"random|tree|grid" help:"shape of drawn graphs: trees with a few edges more (random), trees, or grids"`
	Cell        int     `yaml:"cell" json:"cell" group:"Data" min:"1" unit:"N" help:"side of a cell of the grid that an image is divided into, in pixels; a cell has one label"`
	Superpixels int     `yaml:"superpixels" json:"superpixels" group:"Data" min:"0" unit:"N" help:"divide an image into about N superpixels (SLIC) instead of cells; 0: cells"`
	Patch       int     `yaml:"patch" json:"patch" group:"Data" min:"4" unit:"N" help:"pixels per side of the image of a region and its surroundings that net conv-crop reads"`
	Context     float64 `yaml:"context" json:"context" group:"Data" min:"0.1" unit:"X" help:"side of that image, in sides of a cell or of a mean superpixel: images are resized so that it has as many pixels as patch says"`
	Neighbours  int     `yaml:"neighbours" json:"neighbours" group:"Data" min:"4" unit:"4|8" help:"neighbours of a cell: 4, or 8 with those whose corners touch"`

	FormatSettings settings.Texts `yaml:"format-settings" json:"format_settings,omitempty" group:"Data" help:"settings of the format that only this program has (dsp info --formats)"`
	TaskSettings   settings.Texts `yaml:"task-settings" json:"task_settings,omitempty" group:"Data" help:"settings of the task that only this program has (dsp info --tasks)"`

	Oracle   string  `yaml:"oracle" json:"oracle" group:"Objective" values:"auto|exact|cut|relaxed" help:"how the best labels of a graph are found: exact (forests, and junction trees of graphs with loops), cut (a minimum cut, for two labels and edges that favour equal ones), or relaxed (upper bounds and good labels, for any graph); auto: exact for graph; for segment cut with two labels, else relaxed"`
	MaxTable float64 `yaml:"max-table" json:"max-table" group:"Objective" min:"1" only:"oracle=auto,exact" unit:"ENTRIES" help:"the most table entries that the junction tree of a graph may have, 8 bytes each; other graphs are refused"`

	Net            string         `yaml:"net" json:"net" group:"Network" values:"auto" help:"network from inputs to potentials: linear, mlp and cnn read dense features in a window of positions; linear also reads attributes of tokens, arcs or pairs of words (see features), and mlp those of pairs; cnn-image reads an image at each position; conv-map reads a map of features at each position (a convolution of its cells, then a linear layer), and conv-crop a crop of pixels (convolutions with stride 2, then a dense layer; for segment beside the features of the region); embed reads words in a window; rnn reads words or dense features, and their contexts on both sides with recurrent layers; attention reads words or dense features, and whole sequences with self-attention; deep reads words, their characters and the attributes of tokens, whose weights it adds to what it computes from the words; biaffine reads words and scores trees; bilinear reads the words of sentence pairs and the attributes of word pairs, and scores links; FILE.yaml describes a stack of layers (docs/networks.md); auto: linear for text, for localise, graph and segment, cnn-image for images of letters, mlp for other dense features"`
	Features       string         `yaml:"features" json:"features" group:"Network" values:"auto|ner|pos|chunk|parse|descriptor|pixels|pixels+descriptor|align|none" help:"what a network reads of a candidate box: colours and gradients of its cells (descriptor), or its pixels (pixels; the default for net conv-crop); of a region of an image: its colours, gradients, place and neighbours (descriptor), the pixels of it and its surroundings (pixels), or both (pixels+descriptor; the default for nets that read pixels); or attributes of tokens, arcs or pairs of words, for nets linear, deep and bilinear: a built-in set (dsp info --features SET prints it); none for nets embed, rnn and attention, and for nets deep and bilinear without attributes; auto: none if net is embed, rnn or attention, or a template is given, else chunk for entity tags on data with a pos column, ner for other entity tags, pos for other labels, parse for trees, align for sentence pairs"`
	Template       string         `yaml:"template" json:"template" group:"Network" unit:"FILE" help:"template of attributes, for nets linear, deep and bilinear, in the style of CRF++ (docs/templates.md), instead of a built-in set"`
	Clusters       string         `yaml:"clusters" json:"clusters" group:"Network" unit:"FILE" help:"clusters of words, from which attributes are made: lines of a path of bits, a word and its count, separated by tabs (Brown clusters; docs/templates.md); the model keeps them"`
	Gazetteer      string         `yaml:"gazetteer" json:"gazetteer" group:"Network" unit:"FILE,..." help:"lists of names, from which attributes are made: lines of a name of one or more words and, after a tab, its type; without a type, the file's name is the type; the model keeps them"`
	HashBits       int            `yaml:"hash-bits" json:"hash-bits" group:"Network" min:"0" unit:"N" help:"hash attributes to N bits, which needs no dictionary but loses their names; 0 keeps a dictionary"`
	Edges          string         `yaml:"edges" json:"edges" group:"Network" values:"transition|position|own|typed|potts|none" help:"potentials of neighbouring labels: one learned matrix (transition), a matrix that the network computes at every position (position), or none, so that labels are independent; in graphs: a matrix that the network computes for every edge (own), a learned matrix for every type of edges (typed), a number for every edge that counts if both ends have the same label (potts), or none; by default transition for sequences, own for graph, potts for segment"`
	EdgeUnits      int            `yaml:"edge-units" json:"edge-units" group:"Network" min:"0" only:"edges=own,potts" unit:"N" help:"units of a hidden layer over the features of an edge and its two ends; 0: scores of edges are linear in their features"`
	Submodular     string         `yaml:"submodular" json:"submodular" group:"Network" values:"|softplus" help:"keep the scores of edges such that cuts are exact: softplus; empty: leave them free"`
	Hidden         settings.Sizes `yaml:"hidden" json:"hidden" group:"Network" min:"1" help:"units of each dense hidden layer; empty: the network's default"`
	Window         int            `yaml:"window" json:"window" group:"Network" min:"0" help:"positions in a window, or cells along each side of one in a grid, an odd number; 0: the network's default (1 for linear and mlp, 3 for cnn and attention, 5 for embed, deep and biaffine)"`
	Channels       settings.Sizes `yaml:"channels" json:"channels" group:"Network" min:"1" help:"channels of each convolution; blocks of attention keep those of the last one; empty: the network's default"`
	Recurrent      settings.Sizes `yaml:"recurrent" json:"recurrent" group:"Network" min:"1" help:"units in each direction of each recurrent layer; empty: 128 for rnn and deep, none for biaffine; in deep and biaffine they take the place of the convolutions over positions unless channels are given"`
	Layers         int            `yaml:"layers" json:"layers" group:"Network" min:"0" help:"blocks of self-attention, behind the convolutions or recurrent layers; 0: 1 for attention, none for biaffine"`
	Heads          int            `yaml:"heads" json:"heads" group:"Network" min:"0" help:"heads of each block of attention, which share its channels out evenly; 0: 4"`
	BlockUnits     int            `yaml:"block-units" json:"block-units" group:"Network" min:"0" unit:"N" help:"units of the wide dense layer in each block of attention; 0: twice the channels"`
	Embed          settings.Sizes `yaml:"embed" json:"embed" group:"Network" min:"1" help:"dimensions of the embedding of each discrete input; empty: chosen by the size of its vocabulary"`
	Vectors        string         `yaml:"vectors" json:"vectors" group:"Network" unit:"FILE" help:"vectors of words that were trained elsewhere, in the format of GloVe, word2vec (text or binary) or fastText (.vec), for words as they are written or else in lower case; the model keeps those of words in the training, development and test data; training adds an embedding of the same size, which is zero at first"`
	Freeze         bool           `yaml:"freeze-vectors" json:"freeze_vectors" group:"Network" help:"train no corrections of the vectors of words; the network reads them beside the embeddings of words that it trains"`
	ArcUnits       int            `yaml:"arc-units" json:"arc-units" group:"Network" min:"0" help:"units of the layers that feed the arc scores; 0: 128"`
	LabelUnits     int            `yaml:"label-units" json:"label-units" group:"Network" min:"0" help:"units of the layers that feed the relation scores; 0: 64"`
	PairUnits      int            `yaml:"pair-units" json:"pair-units" group:"Network" min:"0" help:"units of the layers over source and target words whose outputs a bilinear form compares; 0: 64"`
	CharEmbed      int            `yaml:"char-embed" json:"char-embed" group:"Network" min:"0" help:"dimensions of the embedding of a character; 0: 25"`
	CharWindow     int            `yaml:"char-window" json:"char-window" group:"Network" min:"0" help:"characters that a filter of the convolution over a word's characters spans, an odd number; 0: 3"`
	CharChannels   int            `yaml:"char-channels" json:"char-channels" group:"Network" min:"0" help:"channels of the convolution over a word's characters, of which the largest value counts; 0: 50 for deep, no characters for biaffine"`
	AttributeUnits int            `yaml:"attribute-units" json:"attribute-units" group:"Network" min:"0" help:"hidden units into which the attributes of a token are summed, beside its words and characters; 0: none"`
	Init           string         `yaml:"init" json:"init" group:"Network" unit:"MODEL" help:"start from a trained model, a file or the folder of a run: its labels, words, attributes and weights, and those that the training data adds, whose weights start at zero; settings of the network are the model's; net deep also starts from a linear model on attributes (docs/continue.md)"`
	MinCount       int            `yaml:"min-count" json:"min-count" group:"Network" min:"0" unit:"N" help:"least number of times an attribute must occur in the training data to get weights, or a word or character to get its own embedding; 0: 1 for attributes of tokens, 2 for attributes of arcs and pairs, words and characters"`
	Activation     string         `yaml:"activation" json:"activation" group:"Network" values:"elu|tanh|relu|gelu|silu|sigmoid" help:"function between layers; prox-linear works best with a smooth one (elu, tanh, gelu, silu)"`
	Dropout        float64        `yaml:"dropout" json:"dropout" group:"Network" min:"0" only:"method" help:"probability that a step drops a hidden unit"`
	Stack          string         `yaml:"stack" json:"stack" group:"Network" unit:"YAML" help:"the layers of net stack; --net FILE.yaml reads them from a file"`

	Loss         string                `yaml:"loss" json:"loss" group:"Objective" values:"auto|hinge|crf|softmax-margin" help:"structured loss: hinge (max-margin), crf (negative log-likelihood), softmax-margin (crf with the task loss inside); auto: crf for linear nets on attributes and for net deep; hinge for other nets and for methods {hinge}"`
	Smoothing    string                `yaml:"smoothing" json:"smoothing" group:"Objective" values:"auto|l2|entropy|none" only:"loss=hinge method" help:"how the hinge's max is smoothed: l2 over the K best outputs, entropy (log-sum-exp over all outputs), or none; auto: none for {plain}, which need no smoothing; else l2 if k is given or outputs have no sums (align), entropy if not"`
	Mu           float64               `yaml:"mu" json:"mu" group:"Objective" min:"0" only:"loss=hinge smoothing=l2,entropy method" help:"smoothing of the max; larger is smoother and faster to optimise, and biases the optimum by at most mu·D (D = 1/2 for l2, log of the number of outputs for entropy); 0 starts large and lowers it as the certificate allows"`
	K            settings.Count        `yaml:"k" json:"k" group:"Objective" only:"loss=hinge smoothing=l2" unit:"N|auto" help:"number of best outputs in l2 smoothing; auto increases it until the smoothing is exact"`
	Reg          settings.Strength     `yaml:"reg" json:"reg" group:"Objective" unit:"C|auto" help:"regulariser C: the objective has (λ/2)‖w‖² with λ = C/n for n training examples; auto: 10 for segment, whose examples have many variables, else 1"`
	Prior        string                `yaml:"prior" json:"prior" group:"Objective" unit:"MODEL" only:"method" help:"regularise towards a trained model instead of towards zero: the objective has (λ/2)‖w−w0‖² with the weights w0 of the model, which are zero for what only the training data has; labels, words, attributes and network are the model's, as with init, and training starts there (docs/continue.md)"`
	L1           float64               `yaml:"l1" json:"l1" group:"Objective" min:"0" help:"sparsity C1: adds λ₁‖w‖₁ with λ₁ = C1/n, which leaves most weights at zero (elastic net; CRFsuite's c1); where net linear reads dense features beside attributes, it is on the weights of attributes only; for --method {l1}"`
	LabelWeights settings.LabelWeights `yaml:"label-weights" json:"label-weights" group:"Objective" only:"loss=hinge,softmax-margin" unit:"LABEL=COST,..." help:"task loss of a mistake at a position whose gold label is LABEL; 1 for labels not listed"`
	LossByLength bool                  `yaml:"loss-by-length" json:"loss-by-length" group:"Objective" only:"loss=hinge,softmax-margin" help:"divide the task loss by the length of the sequence, which makes it an error rate"`
	MissCost     float64               `yaml:"miss-cost" json:"miss-cost" group:"Objective" min:"0" only:"loss=hinge" help:"task loss of a gold link that is missed"`
	FalseCost    float64               `yaml:"false-cost" json:"false-cost" group:"Objective" min:"0" only:"loss=hinge" help:"task loss of a link that is not in the gold alignment, not even as a possible one"`
	ClassWeights settings.LabelWeights `yaml:"class-weights" json:"class-weights" group:"Objective" unit:"LABEL=WEIGHT,..." help:"weight each sequence, for any loss, by the mean weight of its gold labels; 1 for labels not listed"`
	Constraints  string                `yaml:"constraints" json:"constraints" group:"Objective" values:"none|iob1|iob2|bioes" help:"forbid transitions that violate this scheme of entity tags; the gold labels must follow it (scheme converts them)"`

	optimisers.Settings

	Baselines string `yaml:"baselines" json:"baselines" group:"Run" run:"true" values:"auto|on|off" help:"for comparison, also train the same network for as many passes by sgd (or prox-linear), and without edges; auto: on for built-in data"`

	Seed      uint64 `yaml:"seed" json:"seed" group:"Run" help:"random seed; the same seed gives the same model, bit for bit"`
	Device    string `yaml:"device" json:"device" group:"Run" run:"true" unit:"auto|cpu|cuda[:N]" help:"where to compute: cpu, or cuda for a GPU (cuda:N for GPU N, from 0); auto takes the first GPU if there is one and it supports these settings; the same seed gives the same model on each kind of device"`
	TF32      bool   `yaml:"tf32" json:"tf32" group:"Run" run:"true" help:"multiply matrices in TF32 on the GPU: faster, with 10 fraction bits instead of 23"`
	Threads   int    `yaml:"threads" json:"threads" group:"Run" run:"true" min:"0" help:"number of threads; the model does not depend on it; 0: all cores"`
	Out       string `yaml:"out" json:"out" group:"Run" run:"true" unit:"DIR" help:"folder for the model, metrics and curves; empty: runs/NAME-TIME"`
	Resume    string `yaml:"resume,omitempty" json:"resume,omitempty" group:"Run" run:"true" unit:"DIR" help:"continue the run in this folder from its last checkpoint"`
	Quiet     bool   `yaml:"quiet,omitempty" json:"quiet,omitempty" group:"Run" run:"true" help:"no progress on standard error"`
	stackFile string // that Stack was read from, for messages

	JSON bool `yaml:"json,omitempty" json:"json,omitempty" group:"Run" run:"true" help:"print one JSON object with the results last on standard output"`

	// Given has the names of the settings that were given, by flags, in files, or in a sweep. Whether a setting was given is a question to
	// Gives, because code sets fields, too.
	Given settings.Given `json:"given,omitempty"`
}

// Default returns the configuration of a run without flags.
func Default() Config {
	words := ocr.DefaultOCRWords()
	return Config{
		Task:       "auto",
		Examples:   settings.Sizes{words.Train, words.Dev, words.Test},
		Difficulty: words.Difficulty,
		Fold:       -1,
		Scheme:     "keep",
		Tree:       "projective",
		Crossing:   "lift",
		Search:     "candidates",
		Cells:      16,
		Crop:       32,
		Candidates: 400,
		Classes:    2,
		Shape:      "random",
		Cell:       8,
		Patch:      16,
		Context:    3,
		Neighbours: 4,
		Oracle:     "auto",
		MaxTable:   1e7,
		Unmatched:  "learned",

		Net:        "auto",
		Features:   "auto",
		Edges:      nets.EdgesTransition,
		Activation: string(graph.ELU),

		Loss:        "auto",
		Smoothing:   "auto",
		K:           5,
		MissCost:    1,
		FalseCost:   1,
		Reg:         settings.AutoStrength,
		Constraints: "none",

		Settings: optimisers.Default(),

		Baselines: "auto",

		Seed:   1,
		Device: "auto",
	}
}

// MaxHashBits bounds the numbers of hashed attributes: rows of weights for more do not fit into memory.
const MaxHashBits = 28

// MethodGroup is the group of the settings that say how the objective is minimised. A trained model does not depend on them any more.
const MethodGroup = "Method"
