// Package config holds the settings of a training: their names, values and help texts, their files in YAML, and which
// of them have an effect with which others.
package config

import (
	"github.com/dsp-go/dsp/models/drawn/ocr"
	"github.com/dsp-go/dsp/models/optimisers"
	"github.com/dsp-go/dsp/models/settings"
	"github.com/dsp-go/dsp/nets"
	"github.com/dsp-go/dsp/nets/graph"
)

// Config holds all settings of a training run, in sections. Their tags define the command line's flags, the
// configuration file's keys and their help (see Settings): yaml is the name, help the help text, unit the placeholder
// of the value, values the allowed values, min the least value, was the name in earlier versions, only the values of
// other settings that it needs, needs a setting without which it has no effect, reads the inputs of a network that it
// is about (nets.Inputs, or layers for networks that say themselves what they read); run marks settings that do not
// change the model; heading and beside say where the help shows them. Which tasks, formats, networks and methods take a
// setting is said by their descriptors.
type Config struct {
	DataSettings
	SegmentSettings
	EncoderSettings `heading:"Encoder"`
	TreeSettings
	BoxSettings
	PairSettings
	RegionSettings
	OwnSettings
	PipelineSettings
	OracleSettings
	NetSettings
	ObjectiveSettings
	optimisers.Settings
	RunSettings

	stackFile string // that Stack was read from, for messages

	// Given has the names of the settings that were given, by flags, in files, or in a sweep. Whether a setting was
	// given is a question to Gives, because code sets fields, too.
	Given settings.Given `json:"given,omitempty"`
}

// DataSettings say which data are read or drawn.
type DataSettings struct {
	Task        string         `yaml:"task" json:"task" group:"Data" values:"auto" help:"what to learn (dsp info --tasks); auto: as the data suggest"`
	Train       string         `yaml:"train" json:"train" group:"Data" unit:"FILE,..." help:"training data: files, patterns, or a folder; without it, data are drawn"`
	Dev         string         `yaml:"dev" json:"dev" group:"Data" unit:"FILE,..." help:"development data; the model keeps the weights of the best pass on them"`
	Test        string         `yaml:"test" json:"test" group:"Data" unit:"FILE,..." help:"test data, measured after every pass and never used to choose"`
	Dense       string         `yaml:"dense" json:"dense" group:"Data" reads:"words|attributes" unit:"TRAIN,DEV,TEST" help:"npz files with dense features of the tokens of text"`
	Standardise bool           `yaml:"standardise" json:"standardise" group:"Data" help:"shift and scale each dense feature to mean 0 and deviation 1; kept in the model"`
	Format      string         `yaml:"format" json:"format" group:"Data" values:"|builtin" help:"layout of data files (dsp info --formats); empty: recognised"`
	Columns     string         `yaml:"columns" json:"columns" group:"Data" help:"names of conll's columns, as word=0,pos=1,label=-1; empty: word first, label last"`
	Comments    string         `yaml:"comments" json:"comments,omitempty" group:"Data" unit:"PREFIX|none" help:"what lines of conll start with that are comments, or none; empty: # where the file shows it"`
	Label       string         `yaml:"label" json:"label" group:"Data" unit:"upos|xpos|feats|deprel|misc[:KEY]" help:"field of conllu that is the label; empty: upos"`
	Scheme      string         `yaml:"scheme" json:"scheme" group:"Data" values:"keep|io|iob1|iob2|bioes|bilou|bmes|bmewo" help:"convert entity tags to this scheme on reading; --constraints keeps predictions to it"`
	Order       int            `yaml:"order" json:"order" group:"Data" min:"1" max:"2" unit:"1|2" help:"1: two labels in a row, or a head and its dependent, score together; 2: one more does"`
	Partial     bool           `yaml:"partial" json:"partial" group:"Data" help:"labels may be known in part: ? is any, A|B one of these"`
	Bad         string         `yaml:"bad" json:"bad" group:"Data" values:"refuse|skip" help:"bad examples in data files: refuse the file, or leave them out and list them"`
	MaxWords    int            `yaml:"max-words" json:"max_words" group:"Data" run:"true" min:"0" unit:"N" help:"longest sentence, in words; 0: 1,000,000, or 5,000 for trees and links"`
	Fold        int            `yaml:"fold" json:"fold" group:"Data" min:"-1" help:"letters only: fold of the training file to hold out as test data; -1: none"`
	Examples    settings.Sizes `yaml:"examples" json:"examples" group:"Data" min:"1" unit:"TRAIN,DEV,TEST" max:"10000000" help:"how many examples to draw"`
	Difficulty  float64        `yaml:"difficulty" json:"difficulty" group:"Data" min:"0" help:"how hard drawn data are: 0 clean, 1 ambiguous, 2 hardly legible"`
}

// SegmentSettings are those of sequences that are divided into segments.
type SegmentSettings struct {
	Structure   string `yaml:"structure" json:"structure" group:"Data" values:"chain|segments" help:"label tokens one by one, or whole segments of them (docs/guide/text-segments.md)"`
	MaxLength   int    `yaml:"max-length" json:"max-length" group:"Data" min:"0" only:"structure=segments" unit:"N" max:"10000" help:"most tokens of a segment; 0: as many as in the training data"`
	Overlong    string `yaml:"overlong" json:"overlong" group:"Data" values:"refuse|split" only:"structure=segments" help:"longer segments in the training data: refuse the file, or split them"`
	SegmentLoss string `yaml:"segment-loss" json:"segment-loss" group:"Objective" values:"tags|segments" only:"structure=segments loss=hinge,softmax-margin" help:"what the task loss counts: wrong tags, or wrong and missing segments"`
	SegmentEnds bool   `yaml:"segment-ends" json:"segment-ends" group:"Data" only:"structure=segments" help:"score the last tokens of segments, too"`
}

// EncoderSettings say which pretrained encoder reads the text.
type EncoderSettings struct {
	Encoder            string `yaml:"encoder" json:"encoder" group:"Data" unit:"DIR" help:"pretrained encoder of text, a folder of Hugging Face (docs/guide/encoders.md)"`
	EncoderLayers      string `yaml:"encoder-layers" json:"encoder_layers" group:"Data" needs:"encoder" unit:"auto|last|meanK|N" help:"hidden states that the encoder's rows are taken from; auto: the last four, or all"`
	Pieces             string `yaml:"pieces" json:"pieces" group:"Data" needs:"encoder" values:"first|mean" help:"the row of a word is that of its first piece, or the mean of all"`
	EncoderRows        string `yaml:"encoder-rows" json:"encoder_rows" group:"Data" needs:"encoder" values:"float32|float16" help:"precision of the encoder's rows"`
	EncoderPrecision   string `yaml:"encoder-precision" json:"encoder_precision" group:"Data" needs:"encoder" values:"float32|int8" help:"precision of the encoder's products; int8 is faster with AVX2, about three times with VNNI"`
	EncoderCache       string `yaml:"encoder-cache" json:"encoder_cache" group:"Data" needs:"encoder" run:"true" unit:"DIR|none" help:"folder of files of rows, which other runs find there"`
	EncoderByReference bool   `yaml:"encoder-by-reference" json:"encoder_by_reference" group:"Data" needs:"encoder" run:"true" help:"the model keeps the name of the encoder, not the encoder"`

	TuneEncoder  bool   `yaml:"tune-encoder" json:"tune_encoder" group:"Network" needs:"encoder" help:"train the encoder's weights, too (docs/guide/encoders.md)"`
	Adapter      string `yaml:"adapter" json:"adapter" group:"Network" needs:"tune-encoder" unit:"lora:R[:ALPHA]" help:"train adapters of rank R in the encoder's attention, not its weights"`
	FreezeLayers int    `yaml:"freeze-layers" json:"freeze_layers" group:"Network" needs:"tune-encoder" min:"-1" unit:"N" max:"1000" help:"the encoder's first N layers stay as they are, with its embeddings; -1: none"`
	Recompute    bool   `yaml:"recompute" json:"recompute" group:"Run" needs:"tune-encoder" run:"true" help:"compute the encoder's layers again for gradients: less memory, more time"`
}

// TreeSettings are those of dependency trees.
type TreeSettings struct {
	Tree     string `yaml:"tree" json:"tree" group:"Data" values:"projective|nonprojective" help:"trees without crossing arcs (projective), or any (nonprojective)"`
	Crossing string `yaml:"crossing" json:"crossing" group:"Data" values:"lift|refuse" only:"tree=projective" help:"training trees with crossing arcs: lift them, or refuse the file"`
}

// BoxSettings are those of objects in images.
type BoxSettings struct {
	Search      string `yaml:"search" json:"search" group:"Data" values:"candidates|windows" help:"find a box among candidates, or among all windows of a grid"`
	SearchLimit int    `yaml:"search-limit" json:"search-limit" group:"Data" min:"0" only:"search=windows" unit:"N" help:"stop a search after N sets of windows, with a bound; 0: never"`
	Class       string `yaml:"class" json:"class" group:"Data" unit:"NAME" help:"class of the object to find; empty: the only one"`
	Boxes       string `yaml:"boxes" json:"boxes" group:"Data" only:"search=candidates" unit:"TRAIN,DEV,TEST" help:"files with candidate boxes, in COCO's format of results; empty: sliding windows"`
	Strict      bool   `yaml:"strict" json:"strict" group:"Data" help:"refuse annotated boxes without area, which are left out otherwise"`
	Images      string `yaml:"images" json:"images" group:"Data" unit:"TRAIN,DEV,TEST" help:"folders of the images; empty: beside their annotations"`
	Cells       int    `yaml:"search-grid" was:"cells" json:"cells" group:"Data" min:"2" only:"search=windows" unit:"N" max:"256" help:"cells per side of the grid on whose lines the windows of a search begin and end"`
	Crop        int    `yaml:"candidate-pixels" was:"crop" json:"crop" group:"Data" min:"8" only:"search=candidates" unit:"N" max:"1024" help:"pixels per side that a candidate is resized to"`
	Candidates  int    `yaml:"candidates" json:"candidates" group:"Data" min:"1" only:"search=candidates" unit:"N" max:"1000000" help:"the most candidate boxes per image; sliding windows, which fit the training boxes: 1000"`
	Stream      bool   `yaml:"stream" json:"stream" group:"Data" run:"true" help:"keep features of boxes out of memory; always so if they do not fit"`
}

// PairSettings are those of links between the items of a pair.
type PairSettings struct {
	Links     string `yaml:"links" json:"links" group:"Data" unit:"TRAIN,DEV,TEST" help:"files of links, a line per pair; empty: the third field of a pair"`
	Bitext    string `yaml:"bitext" json:"bitext" group:"Data" unit:"FILE" help:"more sentence pairs, without links, to count associations of words"`
	Unmatched string `yaml:"unmatched" json:"unmatched" group:"Data" values:"learned|never" help:"whether source words may stay without a link, at a learned price"`
}

// RegionSettings are those of graphs and of the regions of images.
type RegionSettings struct {
	Masks       string  `yaml:"masks" json:"masks" group:"Data" unit:"TRAIN,DEV,TEST" help:"folders of masks: PNG files named as the images"`
	Void        string  `yaml:"void" json:"void" group:"Data" unit:"auto|none|VALUE" help:"value in masks that counts nowhere; auto: 255, unless masks have it and one other alone"`
	MaskValues  string  `yaml:"mask-values" json:"mask_values" group:"Data" unit:"auto|V,V,..." help:"values of the labels in masks, in their order; auto: the labels, or 0 and 255 of two"`
	LabelNames  string  `yaml:"label-names" json:"label-names" group:"Data" unit:"FILE" help:"names of the labels in masks, one per line; empty: numbers"`
	Classes     int     `yaml:"classes" json:"classes" group:"Data" min:"2" unit:"N" help:"classes of drawn scenes (2 or 4), or labels of drawn graphs (2 to 10)"`
	Shape       string  `yaml:"shape" json:"shape" group:"Data" values:"random|tree|grid" help:"shape of drawn graphs; random is trees with a few more edges"`
	Cell        int     `yaml:"cell-pixels" was:"cell" json:"cell" group:"Data" min:"1" unit:"N" max:"4096" help:"pixels per side of a cell; a cell of an image has one label"`
	Superpixels int     `yaml:"superpixels" json:"superpixels" group:"Data" min:"0" unit:"N" max:"1000000" help:"divide an image into about N superpixels instead of cells; 0: cells"`
	Patch       int     `yaml:"region-pixels" was:"patch" json:"patch" group:"Data" min:"4" unit:"N" max:"1024" help:"pixels per side of the image of a region that net conv-crop reads"`
	Context     float64 `yaml:"region-context" was:"context" json:"context" group:"Data" min:"0.1" unit:"X" max:"1000" help:"side of that image before it is resized, in sides of a region"`
	Neighbours  int     `yaml:"neighbours" json:"neighbours" group:"Data" min:"4" unit:"4|8" help:"neighbours of a cell: 4, or 8 with those whose corners touch"`
}

// OwnSettings are those that one format or task of a program has.
type OwnSettings struct {
	FormatSettings settings.Texts `yaml:"format-settings" json:"format_settings,omitempty" group:"Data" help:"settings that only one format has (dsp info --formats)"`
	TaskSettings   settings.Texts `yaml:"task-settings" json:"task_settings,omitempty" group:"Data" help:"settings that only one task has (dsp info --tasks)"`
}

// PipelineSettings are about the stages of a pipeline.
type PipelineSettings struct {
	StageSettings settings.Texts `yaml:"stage-settings" json:"stage_settings,omitempty" group:"Data" only:"task=pipeline" unit:"STAGE.NAME=VALUE,..." help:"settings of single stages, as lemma.passes=8,trees.patience=2"`
	Replace       settings.Texts `yaml:"replace" json:"replace,omitempty" group:"Run" run:"true" only:"task=pipeline" unit:"STAGE=RUN,..." help:"take the model of another run of a stage"`
}

// OracleSettings say how the best labels of graphs are found.
type OracleSettings struct {
	Oracle   string  `yaml:"oracle" json:"oracle" group:"Objective" values:"auto|exact|cut|relaxed" help:"how the best labels of a graph are found (docs/design/graphs.md)"`
	MaxTable float64 `yaml:"max-table" json:"max-table" group:"Objective" min:"1" only:"oracle=auto,exact" unit:"ENTRIES" max:"1e10" help:"most entries of a junction tree's tables; for wider graphs auto is relaxed, exact refuses"`
}

// NetSettings say what the network is and what it reads.
type NetSettings struct {
	Net            string         `yaml:"net" json:"net" group:"Network" values:"auto" help:"network, or FILE.yaml (docs/guide/stacks.md); auto: as the inputs suggest"`
	Features       string         `yaml:"features" json:"features" group:"Network" values:"auto|ner|pos|chunk|hmm|parse|descriptor|pixels|pixels+descriptor|align|none" help:"built-in inputs of text, boxes or regions (dsp info --features SET)"`
	Template       string         `yaml:"template" json:"template" group:"Network" reads:"attributes|layers" unit:"FILE" help:"template of attributes instead of a built-in set (docs/guide/templates.md)"`
	Clusters       string         `yaml:"clusters" json:"clusters" group:"Network" reads:"attributes" unit:"FILE" help:"Brown clusters of words, as attributes (docs/guide/templates.md)"`
	Gazetteer      string         `yaml:"gazetteer" json:"gazetteer" group:"Network" reads:"attributes" unit:"FILE,..." help:"lists of names, as attributes (docs/guide/templates.md)"`
	HashBits       int            `yaml:"hash-bits" json:"hash-bits" group:"Network" reads:"attributes|layers" min:"0" unit:"N" help:"hash attributes to N bits, without names; 0 keeps a dictionary"`
	Edges          string         `yaml:"edges" json:"edges" group:"Network" values:"transition|position|own|typed|potts|none" help:"how neighbouring labels score (docs/guide/networks.md)"`
	EdgeUnits      int            `yaml:"edge-units" json:"edge-units" group:"Network" min:"0" only:"edges=own,potts" unit:"N" max:"1048576" help:"hidden units over the features of an edge and its ends; 0: none"`
	Submodular     string         `yaml:"submodular" json:"submodular" group:"Network" values:"|softplus" help:"keep scores of edges such that cuts are exact: softplus"`
	Hidden         settings.Sizes `yaml:"hidden" json:"hidden" group:"Network" min:"1" max:"1048576" help:"units of each dense hidden layer; empty: the net's default"`
	Window         int            `yaml:"window" json:"window" group:"Network" min:"0" max:"9999" help:"positions or cells in a window, odd; 0: the net's default"`
	Channels       settings.Sizes `yaml:"channels" json:"channels" group:"Network" min:"1" max:"1048576" help:"channels of each convolution; empty: the net's default"`
	Recurrent      settings.Sizes `yaml:"recurrent" json:"recurrent" group:"Network" min:"1" max:"1048576" help:"units in each direction of each recurrent layer; empty: the net's default"`
	Layers         int            `yaml:"layers" json:"layers" group:"Network" min:"0" max:"1000" help:"blocks of self-attention; 0: the net's default"`
	Heads          int            `yaml:"heads" json:"heads" group:"Network" min:"0" max:"65536" help:"heads of each block of attention; 0: 4"`
	BlockUnits     int            `yaml:"block-units" json:"block-units" group:"Network" min:"0" unit:"N" max:"1048576" help:"units of a block's wide layer; 0: twice the channels"`
	Embed          settings.Sizes `yaml:"embed" json:"embed" group:"Network" min:"1" max:"1048576" help:"dimensions of each input's embedding; empty: by its vocabulary"`
	Vectors        string         `yaml:"vectors" json:"vectors" group:"Network" reads:"words|attributes" unit:"FILE" help:"vectors of words: GloVe, word2vec or fastText (docs/guide/networks.md)"`
	Freeze         bool           `yaml:"freeze-vectors" json:"freeze_vectors" group:"Network" reads:"words" needs:"vectors" help:"train no corrections of these vectors"`
	ArcUnits       int            `yaml:"arc-units" json:"arc-units" group:"Network" min:"0" max:"1048576" help:"units below the scores of arcs; 0: 128"`
	LabelUnits     int            `yaml:"label-units" json:"label-units" group:"Network" min:"0" max:"1048576" help:"units below the scores of relations; 0: 64"`
	PairUnits      int            `yaml:"pair-units" json:"pair-units" group:"Network" min:"0" max:"1048576" help:"units below the scores of pairs; 0: 64"`
	CharEmbed      int            `yaml:"char-embed" json:"char-embed" group:"Network" min:"0" max:"1048576" help:"dimensions of a character's embedding; 0: 25"`
	CharWindow     int            `yaml:"char-window" json:"char-window" group:"Network" min:"0" max:"9999" help:"characters that a filter spans, odd; 0: 3"`
	CharChannels   int            `yaml:"char-channels" json:"char-channels" group:"Network" min:"0" max:"1048576" help:"channels over a word's characters; 0: the net's default"`
	AttributeUnits int            `yaml:"attribute-units" json:"attribute-units" group:"Network" min:"0" max:"1048576" help:"hidden units that a token's attributes are summed into; 0: none"`
	Init           string         `yaml:"init" json:"init" group:"Network" unit:"MODEL" help:"start from a trained model (docs/guide/continuing.md)"`
	MinCount       int            `yaml:"min-count" json:"min-count" group:"Network" reads:"words|attributes|layers" min:"0" unit:"N" help:"least count of an attribute, word or character; 0: 1 or 2"`
	Activation     string         `yaml:"activation" json:"activation" group:"Network" values:"elu|tanh|relu|gelu|silu|sigmoid" help:"function between layers"`
	Dropout        float64        `yaml:"dropout" json:"dropout" group:"Network" min:"0" help:"probability that a step drops a hidden unit"`
	Stack          string         `yaml:"stack" json:"stack" group:"Network" unit:"YAML" help:"layers of net stack; --net FILE.yaml reads them"`
}

// ObjectiveSettings say what is minimised.
type ObjectiveSettings struct {
	Loss         string                `yaml:"loss" json:"loss" group:"Objective" values:"auto|hinge|crf|softmax-margin|quadratic" help:"hinge (max-margin), crf (likelihood), softmax-margin, quadratic; auto: as the net suggests"`
	Smoothing    string                `yaml:"smoothing" json:"smoothing" group:"Objective" values:"auto|l2|entropy|none" only:"loss=hinge" help:"how the hinge's max is smoothed; auto: as the method needs"`
	Mu           float64               `yaml:"mu" json:"mu" group:"Objective" min:"0" only:"loss=hinge smoothing=l2,entropy" help:"how much the max is smoothed; 0: less and less, as the certificate allows"`
	K            settings.Count        `yaml:"k" json:"k" group:"Objective" only:"loss=hinge smoothing=l2" unit:"N|auto" help:"best outputs in l2 smoothing; auto: until it is exact"`
	Reg          settings.Strength     `yaml:"reg" json:"reg" group:"Objective" unit:"C|auto" help:"regulariser C: (λ/2)‖w‖² with λ = C/n; auto: the task's"`
	Prior        string                `yaml:"prior" json:"prior" group:"Objective" unit:"MODEL" help:"regularise towards a trained model, and start there (docs/guide/continuing.md)"`
	Teacher      string                `yaml:"teacher" json:"teacher" group:"Objective" only:"loss=crf" unit:"MODEL" help:"learn the marginals of a trained model, also from unlabelled text (docs/guide/questions.md)"`
	TeacherShare float64               `yaml:"teacher-share" json:"teacher_share" group:"Objective" needs:"teacher" min:"0" unit:"X" help:"share of the teacher in targets whose labels are known; the rest is the labels'"`
	L1           float64               `yaml:"l1" json:"l1" group:"Objective" min:"0" help:"sparsity C1: λ₁‖w‖₁ with λ₁ = C1/n, for {l1} (docs/guide/sparse.md)"`
	Bounds       settings.Bounds       `yaml:"bounds" json:"bounds" group:"Objective" unit:"LOW,HIGH" help:"keep all weights in this interval, for {bounds}"`
	Radius       float64               `yaml:"radius" json:"radius" group:"Objective" min:"0" only:"loss=hinge" unit:"R" help:"keep ‖w‖₁ at most R, for {radius}; 0: no limit"`
	LabelWeights settings.LabelWeights `yaml:"label-weights" json:"label-weights" group:"Objective" only:"loss=hinge,softmax-margin" unit:"LABEL=COST,..." help:"cost of a mistake where the gold label is LABEL; else 1"`
	LossByLength bool                  `yaml:"loss-by-length" json:"loss-by-length" group:"Objective" only:"loss=hinge,softmax-margin" help:"divide the task loss by the length of the sequence"`
	MissCost     float64               `yaml:"miss-cost" json:"miss-cost" group:"Objective" min:"0" only:"loss=hinge" help:"task loss of a gold link that is missed"`
	FalseCost    float64               `yaml:"false-cost" json:"false-cost" group:"Objective" min:"0" only:"loss=hinge" help:"task loss of a wrong link"`
	ClassWeights settings.LabelWeights `yaml:"class-weights" json:"class-weights" group:"Objective" unit:"LABEL=WEIGHT,..." help:"weight a sequence by the mean of its gold labels' weights; else 1"`
	Constraints  string                `yaml:"constraints" json:"constraints" group:"Objective" values:"none|iob1|iob2|bioes|bilou|bmes|bmewo" beside:"scheme" help:"forbid transitions that violate this scheme of entity tags, as --scheme converts them"`
}

// RunSettings say how and where a training runs. No model depends on them, but for the seed.
type RunSettings struct {
	Baselines string `yaml:"baselines" json:"baselines" group:"Run" run:"true" values:"auto|on|off" help:"train other methods too, for comparison; auto: on drawn data"`

	Path      bool    `yaml:"path" json:"path" group:"Run" run:"true" help:"train for every strength from path-low to path-high, and keep the best on dev"`
	PathLow   float64 `yaml:"path-low" json:"path_low" group:"Run" run:"true" needs:"path" unit:"C" help:"the least regulariser C of a path"`
	PathHigh  float64 `yaml:"path-high" json:"path_high" group:"Run" run:"true" needs:"path" unit:"C" help:"the largest regulariser C of a path"`
	PathError float64 `yaml:"path-error" json:"path_error" group:"Run" run:"true" needs:"path" unit:"X" help:"certified relative distance to the optimum for every C of a path"`

	Seed            uint64 `yaml:"seed" json:"seed" group:"Run" help:"random seed; the same seed gives the same model, bit for bit"`
	Device          string `yaml:"device" json:"device" group:"Run" run:"true" unit:"auto|cpu|cuda[:N]" help:"where to compute: cpu, or cuda for a GPU; auto: a GPU if it can"`
	TF32            bool   `yaml:"tf32" json:"tf32" group:"Run" run:"true" help:"multiply in TF32 on a GPU: faster, with 10 fraction bits"`
	DeviceParts     int    `yaml:"device-parts" json:"device_parts" group:"Run" run:"true" min:"0" unit:"N" help:"parts of a batch that GPUs compute apart, on one or several ranks; 0: as many as ranks"`
	Threads         int    `yaml:"threads" json:"threads" group:"Run" run:"true" min:"0" help:"number of threads, which changes no result; 0: all cores"`
	TrainLocal      string `yaml:"train-local,omitempty" json:"train_local,omitempty" group:"Run" run:"true" unit:"FILE" help:"under mpirun: a training file of this rank's own; the data are those of all ranks, in order"`
	Ranks           string `yaml:"ranks" json:"ranks" group:"Run" run:"true" values:"auto|mpi|off" help:"train together with the processes that mpirun started; auto: if it did"`
	Out             string `yaml:"out" json:"out" group:"Run" run:"true" unit:"DIR" help:"folder for the model, metrics and curves; empty: runs/NAME-TIME"`
	CheckpointEvery int    `yaml:"checkpoint-every" json:"checkpoint-every" group:"Run" run:"true" min:"0" unit:"N" help:"save a checkpoint after every N passes; 0: as often as takes 2 % of the time"`
	Resume          string `yaml:"resume,omitempty" json:"resume,omitempty" group:"Run" run:"true" unit:"DIR" help:"continue the run in this folder from its last checkpoint"`
	Quiet           bool   `yaml:"quiet,omitempty" json:"quiet,omitempty" group:"Run" run:"true" help:"no progress on standard error"`

	JSON bool `yaml:"json,omitempty" json:"json,omitempty" group:"Run" run:"true" help:"print one JSON object with the results last on standard output"`
}

// Default returns the configuration of a run without flags.
func Default() Config {
	words := ocr.DefaultOCRWords()
	return Config{
		DataSettings: DataSettings{
			Task:       "auto",
			Examples:   settings.Sizes{words.Train, words.Dev, words.Test},
			Difficulty: words.Difficulty,
			Fold:       -1,
			Scheme:     "keep",
			Bad:        "refuse",
			Order:      1,
		},
		SegmentSettings: SegmentSettings{Structure: "chain", Overlong: "refuse", SegmentLoss: "tags"},
		EncoderSettings: EncoderSettings{
			EncoderLayers:    "auto",
			Pieces:           "first",
			EncoderRows:      "float32",
			EncoderPrecision: "float32",
			FreezeLayers:     -1,
		},
		TreeSettings: TreeSettings{
			Tree:     "projective",
			Crossing: "lift",
		},
		BoxSettings: BoxSettings{
			Search:     "candidates",
			Cells:      16,
			Crop:       32,
			Candidates: 400, // which models of all tasks have in their files
		},
		PairSettings: PairSettings{Unmatched: "learned"},
		RegionSettings: RegionSettings{
			Classes:    2,
			Shape:      "random",
			Void:       "auto",
			MaskValues: "auto",
			Cell:       8,
			Patch:      16,
			Context:    3,
			Neighbours: 4,
		},
		OracleSettings: OracleSettings{
			Oracle:   "auto",
			MaxTable: 1e7,
		},
		NetSettings: NetSettings{
			Net:        "auto",
			Features:   "auto",
			Edges:      nets.EdgesTransition,
			Activation: string(graph.ELU),
		},
		ObjectiveSettings: ObjectiveSettings{
			Loss:         "auto",
			Smoothing:    "auto",
			K:            5,
			MissCost:     1,
			FalseCost:    1,
			TeacherShare: 1,
			Reg:          settings.AutoStrength,
			Constraints:  "none",
		},
		Settings: optimisers.Default(),
		RunSettings: RunSettings{
			Baselines: "auto",
			PathLow:   0.01,
			PathHigh:  100,
			PathError: 0.05,
			Seed:      1,
			Device:    "auto",
			Ranks:     "auto",
		},
	}
}

// MaxHashBits bounds the numbers of hashed attributes: rows of weights for more do not fit into memory.
const MaxHashBits = 28

// MethodGroup is the group of the settings that say how the objective is minimised. A trained model does not depend on
// them any more.
const MethodGroup = "Method"
