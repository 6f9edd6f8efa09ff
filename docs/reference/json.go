package main

import (
	"fmt"
	"strings"
)

// object is one object of JSON: that of a type of the module, or the members that a file of the program writes.
type object struct {
	of      typeIn
	members []member
	file    string // that has the names of the members
}

func typed(folder, name string) object { return object{of: typeIn{folder, name}} }

func written(file string, members ...member) object { return object{members: members, file: file} }

func (o object) all() ([]member, error) {
	if o.members != nil {
		return o.members, nil
	}
	return membersOf(o.of, "")
}

// report is what dsp eval says of the outputs of some tasks.
type report struct {
	of     string
	object object
}

var reports = []report{
	{"Labels: tag, ocr", typed("models/tasks", "LabelReport")},
	{"Dependency trees: parse", typed("structured/trees", "Metrics")},
	{"Trees of constituents: constituency", typed("structured/constituents", "Metrics")},
	{"Links: align, warp", typed("models/data/alignments", "Metrics")},
	{"Lines: transcribe", typed("structured/transcripts", "Metrics")},
	{"Graphs and regions: graph, segment", written("structured/graphs/evaluator.go",
		member{"accuracy", "number", "share of the right variables or pixels; of segment `pixel_accuracy`"},
		member{"class_iou", "number", "intersection over union, the mean of the classes; of segment `miou`"},
		member{"labelled", "number", "variables or pixels whose label is known"},
		member{"types", "object of object", "the same by class:"},
		member{"types[].iou", "number", "intersection over union"}, member{"types[].precision", "number", ""},
		member{"types[].recall", "number", ""},
		member{"types[].gold", "number", ""}, member{"types[].predicted", "number", ""},
		member{"types[].correct", "number", ""})},
	{"Boxes: localise", written("structured/boxes/precision.go models/tasks/boxreport.go",
		member{"corloc", "number", "share of the images whose box has an IoU above 0.5 with the object"},
		member{"mean_iou", "number", "mean of that IoU"},
		member{"ap", "number", "COCO's average precision"}, member{"ap50", "number", "at the IoU 0.5"},
		member{"ap75", "number", "at the IoU 0.75"},
		member{"ar1", "number", "COCO's average recall with one detection per image"}, member{"ar10", "number", "with 10"},
		member{"ar100", "number", "with 100"},
		member{"images", "number", ""}, member{"objects", "number", ""},
		member{"oracle_iou", "number", "what the best candidates reach"},
		member{"oracle_corloc", "number", "likewise"},
		member{"images_used", "number", "images with exactly one object of the class"},
		member{"images_without", "number", ""}, member{"images_with_several", "number", ""},
		member{"images_difficult", "number", ""}, member{"images_crowd", "number", ""})},
}

// predicted are the members of an object that dsp predict --json prints for an example, and dsp serve answers.
var predicted = []member{
	{"id", "text", "name of the example in the data, else its number from 0"},
	{"labels", "list of text", "labels of tokens, variables or letters"},
	{"heads", "list of number", "of trees: the head of each word, 0 for the root"},
	{"relations", "list of text", "of trees: the relation of each word to its head"},
	{"tree", "text", "of constituents: the tree in brackets"},
	{"links", "list of [number, number]", "of pairs: source and target, from 0"},
	{"text", "text", "of lines: what the line reads; of a span: its text"},
	{"symbols", "list of text", "of lines: the symbols of the text"},
	{"box", "[x, y, width, height]", "of objects, in pixels"},
	{"iou", "number", "of objects: the overlap with the gold box, where it is known"},
	{"score", "number", "score of the output"},
	{"probability", "number", "probability of the output, where its structure has one"},
	{"bound", "number or null", "upper bound of every output's score, where the best is not proven"},
	{"nbest", "list of object", "--nbest: outputs, each with its score"},
	{"samples", "list", "--samples: outputs at random"},
	{"entropy", "number", "--entropy: of the distribution of outputs, in nats"},
	{"confidence", "list of number", "--confidence: probability of each predicted part"},
	{"marginals", "list of list of number", "--marginals: probability of every label at every part"},
	{"tags", "list of text", "--marginals with --scheme: the tags, in the order of the values"},
	{"label_margins", "list of number", "in place of confidence, where there are no probabilities"},
	{"margins", "list of list of number", "in place of marginals, where there are no probabilities"},
	{"link_margins", "list of number", "of links without probabilities"},
	{"link_probabilities", "list of number", "of links with probabilities"},
	{"spans", "list of object", "--spans: entities, with"},
	{"type", "text", "of a span"},
	{"first", "number", "of a span or constituent: its first token, from 0"},
	{"last", "number", "its last token"},
	{"start", "number", "where it begins in the text, in characters"},
	{"end", "number", "where it ends, exclusive"},
	{"constituents", "list of object", "--confidence of constituents, with"},
	{"label", "text", "of a constituent"},
	{"words", "list of text", "--text: the tokens"},
	{"offsets", "list of [number, number]", "--text: where each token begins and ends in the input, in characters"},
	{"calibrated", "false", "only where probabilities are uncalibrated"},
	{"error", "text", "--bad skip: why the example was left out, in place of the rest"},
	{"image_id", "number", "of objects without --nbest, in COCO's format of results"},
	{"category_id", "number", "likewise"},
	{"bbox", "[x, y, width, height]", "likewise"},
}

// answers are the objects that verbs print.
var answers = []struct {
	verb, about string
	object      object
}{
	{"train", "", typed("models/training", "Result")},
	{"train --task pipeline", "", typed("models/pipelines", "Result")},
	{"sweep", "", typed("models/sweep", "Result")},
	{"reproduce", "", typed("models/reproduce", "Result")},
	{"predict", "An object per example; the members that are there depend on the task and the flags.",
		object{members: predicted}},
	{"predict --select", "An object per chosen example.", typed("cmd/dsp/cli", "selection")},
	{"eval", "The members of the [task](metrics.md), and:", written("cmd/dsp/cli/eval.go cmd/dsp/cli/review.go",
		member{"inputs_from_data", "list of text", "columns that the model read beside the words"},
		member{"score", "number", "where outputs have bounds: the sum of their scores"},
		member{"bound", "number or null", "the sum of their bounds"}, member{"gap", "number or null", "bound − score"},
		member{"proven_best", "number", "outputs that are proven best"},
		member{"errors", "list of object", "--errors: the worst examples"}, member{"pr_curve", "object", "--pr-curve"},
		member{"calibration", "object", "--calibration"})},
	{"eval --errors", "Each member of `errors`:", typed("models/review", "Example")},
	{"eval --errors, of a pipeline", "Each member of `errors`:", typed("models/data/conllu/conll18", "Part")},
	{"eval --pr-curve", "The member `pr_curve`:", typed("models/review", "Curve")},
	{"eval --calibration", "The member `calibration`:", typed("models/review", "Calibration")},
	{"report", "", typed("cmd/dsp/cli", "reportResult")},
	{"calibrate", "", typed("cmd/dsp/cli", "calibrated")},
	{"infer", "", typed("cmd/dsp/cli", "answer")},
	{"info", "", typed("cmd/dsp/cli", "machine")},
	{"info MODEL", "", typed("cmd/dsp/cli", "inside")},
	{"info PIPELINE", "", typed("cmd/dsp/cli", "pipelineInfo")},
	{"info --methods", "A list of:", typed("cmd/dsp/cli", "methodInfo")},
	{"info --formats, --tasks", "A list of:", typed("cmd/dsp/cli", "choiceInfo")},
	{"data", "", written("cmd/dsp/cli/data.go", member{"out", "text", "the folder"}, member{"train", "number", "examples"},
		member{"dev", "number", ""}, member{"test", "number", ""},
		member{"bitext", "number", "of data pairs: those without links"})},
	{"data pack", "", typed("cmd/dsp/cli", "packed")},
	{"export", "", written("cmd/dsp/cli/exchange.go", member{"to", "text", "the file"},
		member{"sequences", "number", "--potentials"}, member{"tokens", "number", "--potentials"})},
	{"export --onnx", "", written("cmd/dsp/cli/onnx.go", member{"to", "text", "the file"}, member{"structure", "text", ""},
		member{"decoded", "true or false", "the graph holds the oracle"},
		member{"inputs", "list", ""}, member{"outputs", "list", ""})},
	{"import", "", written("cmd/dsp/cli/exchange.go", member{"model", "text", "the file of the model"})},
	{"selftest", "`checks`, a list of:", typed("cmd/dsp/cli/selftest", "Result")},
	{"bench", "`machine`, and `speeds`, a list of:", typed("cmd/dsp/cli/benchmarks", "Speed")},
	{"serve", "The first line:", written("cmd/dsp/cli/serve.go", member{"url", "text", "where it listens"})},
	{"metrics.jsonl", "A line per pass in the folder of a run, with `relative_gap` too.", typed("train/record", "Record")},
}

func writeJSON(b *strings.Builder) error {
	b.WriteString("With `--json` a verb prints one object last on standard output. Members may be added; those here " +
		"keep their names. A member that does not apply is left out or null.\n")
	for _, a := range answers {
		fmt.Fprintf(b, "\n## %s\n\n", a.verb)
		if a.about != "" {
			b.WriteString(a.about + "\n\n")
		}
		if err := writeObject(b, a.object); err != nil {
			return err
		}
	}
	return nil
}

// writeObject writes the table of an object's members.
func writeObject(b *strings.Builder, o object) error {
	members, err := o.all()
	if err != nil {
		return err
	}
	head(b, "member", "value", "what")
	for _, m := range members {
		row(b, "`"+m.name+"`", m.value, m.what)
	}
	return nil
}
