#!/bin/sh
# Trains with rows of an encoder in float32 and in int8, and prints what test data say of both: sh bench/encoder_precision.sh ENCODER WNUT EWT
# WNUT has train.conll and test.conll, EWT train.conllu and test.conllu. DSP is the program (default: bin/dsp).
set -eu
encoder=$1 wnut=$2 ewt=$3 program=${DSP:-bin/dsp}
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

# run NAME DATA SUFFIX PRECISION FLAGS... trains, and prints a row with the accuracy of tags and, where there are entities, F1.
run() {
	name=$1 data=$2 suffix=$3 precision=$4
	shift 4
	"$program" train --train "$data/train.$suffix" --encoder "$encoder" --encoder-precision "$precision" --encoder-cache none --gap 0.001 --quiet --out "$scratch/run" "$@" >&2
	"$program" eval --model "$scratch/run" --data "$data/test.$suffix" |
		awk -v name="$name" -v precision="$precision" '/^accuracy/ { print "| " name " | " precision " | " $2 " | " (/FB1/ ? $NF : "") " |" }' | tr -d ';%'
	rm -r "$scratch/run"
}

echo '| data | precision | tags right, % | entity F1 |'
echo '|---|---|---|---|'
for precision in float32 int8; do
	run 'WNUT17, test' "$wnut" conll "$precision" --reg 1
done
for precision in float32 int8; do
	run 'EWT, test, UPOS' "$ewt" conllu "$precision" --label upos
done
