#!/bin/sh
# Trains with rows of an encoder in float32 and in int8, and prints what test data say of both: sh bench/encoder_precision.sh ENCODER WNUT EWT
# The folders of data have train, dev and test, as .conll and .conllu. DSP is the program (default: build/dsp).
set -eu
encoder=$1 wnut=$2 ewt=$3 program=${DSP:-build/dsp}
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

# run NAME DATA PRECISION FLAGS... trains, and prints a row with the last two numbers of the table of eval.
run() {
	name=$1 data=$2 precision=$3
	shift 3
	"$program" train --train "$data/train.$suffix" --encoder "$encoder" --encoder-precision "$precision" --encoder-cache none --gap 0.001 --quiet --out "$scratch/run" "$@" >&2
	"$program" eval --model "$scratch/run" --data "$data/test.$suffix" |
		awk -v name="$name" -v precision="$precision" '/^accuracy/ { print "| " name " | " precision " | " $2 " | " (/FB1/ ? $NF : "") " |" }' | tr -d ';%'
	rm -r "$scratch/run"
}

echo '| data | precision | tags right, % | entity F1 |'
echo '|---|---|---|---|'
for precision in float32 int8; do
	suffix=conll run 'WNUT17, test' "$wnut" "$precision" --reg 1
done
for precision in float32 int8; do
	suffix=conllu run 'EWT, test, UPOS' "$ewt" "$precision" --label upos
done
