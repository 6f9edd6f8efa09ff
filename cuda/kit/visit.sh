#!/bin/sh
# Tests and measures dsp on a machine with an NVIDIA GPU, in nine minutes. Needs neither Go, nor a C compiler, nor a network.
#
#     sh visit.sh [SECONDS [FOLDER]]
#
# Every step is a process of its own with a limit of its own: a failure or a hang costs only that step. The folder, visit-results by default, gets
# visit.md and visit.json, which are complete after every step, and the output of each step, as it comes. SECONDS, 540 by default, bounds
# everything; limits shrink in proportion. With DSP_CUDA_LIBRARY, the library of the emulated device, it runs there, and visit.md says
# what a card would have had to show. The exit code is 1 if a step failed or was stopped.

here=$(cd "$(dirname "$0")" && pwd)
dsp=$here/dsp

# The parts of a step that are more than one command: the script calls itself.

# what runs a command and shows it.
what() {
	echo "+ $*"
	"$@" 2>&1
	echo
}

machine() {
	what uname -a
	what cat /etc/os-release
	what ldd --version
	what timeout 3 nvidia-smi
	what timeout 3 nvidia-smi -q -d CLOCK,POWER,MEMORY
	what nproc
	what grep -m 1 'model name' /proc/cpuinfo
	echo "LD_LIBRARY_PATH=$LD_LIBRARY_PATH"
	echo "+ where the libraries lie"
	places 'libcuda.so*' 'libnvidia-ptxjitcompiler.so*' 'libcublas.so*' 'libcublasLt.so*' compute-sanitizer
	what "$dsp" info
	"$dsp" info 2>/dev/null | grep '^GPU' || true
}

# places prints where files of some names lie: beside the driver, in a toolkit, or inside a folder of pip. It looks for 5 seconds.
places() {
	names="-name $1"
	shift
	for name; do names="$names -o -name $name"; done
	set -f # find matches the names, not the shell
	timeout 5 find /usr/local/nvidia /usr/local/cuda/ $(pip_folders) /usr/local /usr/lib64 /usr/lib /run/opengl-driver /opt "$HOME/.local" \
		${VIRTUAL_ENV:+"$VIRTUAL_ENV"} \( $names \) 2>/dev/null | awk '!seen[$0]++'
	set +f
}

pip_folders() {
	command -v python3 >/dev/null && python3 -c 'import sys; print("\n".join(p for p in sys.path if p.endswith("-packages")))' 2>/dev/null
}

# cublas measures and checks products with each cuBLAS that it finds.
cublas() {
	found=$(places 'libcublas.so.1*' | grep -v 'libcublas\.so\.1[0-9]*\.' | head -n 2)
	[ -n "$found" ] || { echo "no libcublas.so.12 or libcublas.so.13 on this machine"; return; }
	failed=0
	for library in $found; do
		echo "$library"
		(
			export DSP_CUDA_BLAS="$library" LD_LIBRARY_PATH="$(dirname "$library"):$LD_LIBRARY_PATH"
			"$dsp" selftest --device cuda --only 'matrix products' && "$dsp" bench --device cuda --seconds "$short" --only products
		) || failed=1
	done
	return $failed
}

# train trains by a method twice on the device and once on the CPU: the first two give the same bits, the third about the same objective.
train() {
	to=$work/$1
	method=$1
	shift
	for run in first second cpu; do
		on=cuda
		[ $run = cpu ] && on=cpu
		"$dsp" train --examples "$examples" --baselines off --method "$method" "$@" --device $on --out "$to-$run" --json >"$to-$run.json" || return 1
		echo "$run: $(tr ',' '\n' <"$to-$run.json" | grep '"objective"')"
	done
	cmp "$to-first/model.safetensors" "$to-second/model.safetensors" || return 1
	echo "two runs give the same bits"
	for run in first cpu; do
		tr ',{}' '\n\n\n' <"$to-$run.json" | sed -n 's/.*"objective": *//p' | head -n 1
	done | awk '{ x[NR] = $1 } END { d = x[1] - x[2]; if (d < 0) d = -d; printf "objective %s, on the CPU %s\n", x[1], x[2]; exit NR != 2 || d > 1e-3 * (x[2] < 0 ? -x[2] : x[2]) }'
}

# parts trains on batches in two parts, which two processes that share the card also do where there is an mpirun: the models have the same bits. Open MPI asks for
# an ssh, which nothing here needs.
parts() {
	export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_rmaps_base_oversubscribe=1 OMPI_MCA_plm_rsh_agent=sh PRTE_MCA_rmaps_default_mapping_policy=:oversubscribe
	how="train --examples 200,20,20 --baselines off --method adam --net mlp --hidden 4 --batch 16 --passes 1 --device cuda:0 --device-parts 2 --quiet --json"
	"$dsp" $how --out "$work/parts-one" || return 1
	command -v mpirun >/dev/null || { echo "batches in two parts; there is no mpirun for two processes"; return; }
	mpirun -np 2 "$dsp" $how --out "$work/parts-two" || return 1
	cmp "$work/parts-one/model.safetensors" "$work/parts-two/model.safetensors" || return 1
	echo "two processes that share the card give the bits of one"
}

# sanitize runs part of the selftest under a tool of compute-sanitizer, with each array an allocation of its own.
sanitize() {
	export DSP_CUDA_MEMORY=guarded
	"$sanitizer" --tool "$1" --error-exitcode 9 "$dsp" selftest --device cuda --only "$2"
}

case $1 in
machine | cublas | train | parts | sanitize)
	"$@"
	exit
	;;
esac

# The visit.

total=${1:-540}
to=${2:-visit-results}
begun=$(date +%s)
mkdir -p "$to" || exit 2
to=$(cd "$to" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

library=$(timeout 5 find /usr/local/nvidia /usr/lib/x86_64-linux-gnu /usr/lib64 /usr/local/cuda/compat /run/opengl-driver/lib /usr/lib/wsl/lib \
	-name 'libcuda.so.1' 2>/dev/null | head -n 1)
PATH=$PATH:/usr/local/nvidia/bin:/usr/local/cuda/bin
LD_LIBRARY_PATH=${library:+$(dirname "$library"):}/usr/local/nvidia/lib64:/usr/local/nvidia/lib${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}
CUDA_CACHE_PATH=$work/cache
DSP_CUDA_BLAS=own
examples=400,100,100 short=0.1 emulated=
[ -n "$DSP_CUDA_LIBRARY" ] && "$dsp" info 2>/dev/null | grep -q 'dsp emulated' && emulated=yes
if [ -n "$emulated" ]; then
	examples=24,8,8 short=0.001
else
	export DSP_CUDA_TEST=device
	[ -d "$here/cubins" ] && export DSP_CUDA_CUBINS="$here/cubins"
fi
sanitizer=$(command -v compute-sanitizer || places compute-sanitizer | while read -r file; do [ -f "$file" ] && [ -x "$file" ] && echo "$file"; done | head -n 1)
export PATH LD_LIBRARY_PATH CUDA_CACHE_PATH DSP_CUDA_BLAS work examples short sanitizer

number=0 ok=0 failed=0 stopped=0 left_out=0
json=$work/steps
: >"$json"
reserved=$((total * 12 / 540)) # for the last step

text() { tr -d '\000-\010\013-\037' | tr '\n\t' '  ' | sed 's/ *$//'; }
quoted() { printf '"%s"' "$(printf '%s' "$1" | text | sed 's/\\/\\\\/g; s/"/\\"/g')"; }
cell() { printf '%s' "$1" | text | sed 's/|/\\|/g'; }

if [ -n "$emulated" ]; then
	device="an emulated device: no card was here, and times mean nothing; the last column says what a card would have had to show"
else
	device=$("$dsp" info 2>/dev/null | grep '^GPU' | head -n 1)
fi
{
	echo "# dsp on $(cell "${device:-a machine without a usable GPU}")"
	echo
	echo "| step | verdict | seconds | found | a card has to show |"
	echo "|---|---|---|---|---|"
} >"$to/visit.md"

# record adds a row to both results: name, verdict, seconds, what was found, what a card has to show.
record() {
	echo "| $(cell "$1") | $2 | $3 | $(cell "$4") | $(cell "$5") |" >>"$to/visit.md"
	[ -s "$json" ] && echo "," >>"$json"
	printf '{"step": %s, "verdict": "%s", "seconds": %s, "found": %s, "card": %s}' "$(quoted "$1")" "$2" "$3" "$(quoted "$4")" "$(quoted "$5")" >>"$json"
	{
		printf '{"device": %s, "emulated": %s, "steps": [\n' "$(quoted "$device")" "$([ -n "$emulated" ] && echo true || echo false)"
		cat "$json"
		printf '\n]}\n'
	} >"$work/json" && cp "$work/json" "$to/visit.json"
	printf '%-50s %-8s %5s s  %s\n' "$1" "$2" "$3" "$4"
}

# failing prints the names of the checks of a selftest that failed.
failing() { grep '^FAIL' "$1" | cut -c 7-56 | sed 's/ *$//'; }

# summary says in a line what a step's output holds.
summary() {
	if grep -q '^--- \(PASS\|FAIL\|SKIP\)' "$1"; then
		echo "$(grep -c '^--- PASS' "$1") tests passed, $(grep -c '^--- FAIL' "$1") failed: $(sed -n 's/^--- FAIL: \([^ ]*\).*/\1/p' "$1" | head -n 5 | tr '\n' ' ')" | sed 's/: $//'
	elif grep -q '^\(ok\|FAIL\)  *[a-z]' "$1"; then
		echo "$(grep -c '^ok  ' "$1") checks ok, $(grep -c '^FAIL' "$1") failed: $(failing "$1" | tr '\n' ';')" | sed 's/: $//'
	else
		grep . "$1" | grep -v '^Killed$' | tail -n 1
	fi
}

# step runs a command: name, limit in seconds, what a card has to show, command. It sets code, and output to the file with what was said.
step() {
	name=$1 limit=$(($2 * total / 540)) must=$3
	shift 3
	number=$((number + 1))
	output=$(printf '%s/%02d-%s.txt' "$to" $number "$(echo "$name" | tr -c 'a-zA-Z0-9\n' '-')")
	start=$(date +%s)
	left=$((begun + total - reserved - start))
	[ "$limit" -lt 1 ] && limit=1
	[ "$limit" -gt "$left" ] && limit=$left
	if [ "$limit" -lt 1 ]; then
		code=1 left_out=$((left_out + 1))
		: >"$output"
		record "$name" "not run" 0 "no time left" "$must"
		return
	fi
	timeout -k 2 "$limit" "$@" >"$output" 2>&1
	code=$?
	seconds=$(($(date +%s) - start))
	case $code in
	0) verdict=ok ok=$((ok + 1)) ;;
	124 | 137) verdict=stopped stopped=$((stopped + 1)) ;;
	*) verdict=failed failed=$((failed + 1)) ;;
	esac
	record "$name" "$verdict" "$seconds" "$(summary "$output")" "$must"
}

# without records a step that cannot be run here.
without() {
	number=$((number + 1)) left_out=$((left_out + 1))
	record "$1" "not run" 0 "$2" "$3"
}

# tests runs a test binary: name, limit, what a card has to show. A test that fails runs again alone, and the others without it: after an
# error of a kernel, a process can do nothing more on its device.
tests() {
	of=$1 most=$2 shows=$3
	step "tests of $of" "$most" "$shows" "$here/tests/$of.test" -test.v
	[ "$code" = 0 ] && return
	bad=$(sed -n 's/^--- FAIL: \([A-Za-z0-9_]*\).*/\1/p' "$output" | head -n 1)
	[ -z "$bad$emulated" ] && bad=$(sed -n 's/^=== RUN  *\([A-Za-z0-9_]*\).*/\1/p' "$output" | tail -n 1)
	[ -n "$bad" ] || return
	step "tests of $of: $bad alone" 15 "the same test passes" env CUDA_LAUNCH_BLOCKING=1 "$here/tests/$of.test" -test.v -test.run "^$bad\$"
	step "tests of $of: all but $bad" "$most" "$shows" "$here/tests/$of.test" -test.v -test.skip "^$bad\$"
}

step "the machine" 15 "nvidia-smi names the card; libcuda and its JIT compiler lie in one folder" sh "$here/visit.sh" machine
tests device 45 "first capture, cp.async, TF32 and copies work on the hardware"
step "selftest" 90 "every kernel, and training by every method, equal to the CPU to 1e-5" "$dsp" selftest --device cuda
if [ "$code" != 0 ]; then
	bad=$(failing "$output" | head -n 1)
	[ -n "$bad" ] && step "selftest: $bad alone" 15 "the same check passes" env CUDA_LAUNCH_BLOCKING=1 "$dsp" selftest --device cuda --only "^$(echo "$bad" | sed 's/[].*+?(){}|^$\\[]/\\&/g')\$"
fi
tests cudaoracles 40 "paths bit for bit the CPU's; sums to 1e-5"
tests cudanets 40 "potentials, gradients and tangents of every network"
tests accelerator 50 "objectives, memories and steps of training; captured graphs replayed"
tests resident 10 "batches gathered on the card"
step "bench" 60 "Viterbi ≤ 150 µs, forward-backward ≤ 300 µs, top-5 ≤ 400 µs at B=4096, T=64, Y=32" "$dsp" bench --device cuda --seconds "$short" --without-cpu
awk -F '  +' '$3 ~ /^[0-9.]+ ms$/ { print }' "$output" >"$work/rows"
while read -r row; do
	record "bench: $(echo "$row" | awk -F '  +' '{ print $1 ", " $2 }')" measured 0 "$(echo "$row" | awk -F '  +' '{ print $3 ($4 == "" ? "" : ", " $4 " of the bound") }')" ""
done <"$work/rows"
step "prox-linear twice" 30 "the same bits twice, the CPU's objective to 1e-3" sh "$here/visit.sh" train prox-linear --net mlp --hidden 4 --warm-up -1 --eta 1 --batch 8 --passes 3
step "adam twice" 20 "the same bits twice, the CPU's objective to 1e-3" sh "$here/visit.sh" train adam --net mlp --hidden 4 --batch 8 --passes 3
step "batches in parts" 20 "two processes that share the card give the bits of one" sh "$here/visit.sh" parts
step "PTX without cubins" 25 "the driver compiles PTX; the same checks pass" env DSP_CUDA_CUBINS= "$dsp" selftest --device cuda --only 'arrays|vs enumeration'
if [ -n "$emulated" ]; then
	without "cuBLAS" "emulated: a real cuBLAS cannot use this device" "the same products by each libcublas of the machine, and their times"
	without "sanitizer" "emulated: compute-sanitizer watches real devices only" "memcheck, racecheck, synccheck and initcheck clean"
	without "PyTorch" "emulated: PyTorch cannot use this device" "PyTorch's times for the same sizes"
else
	step "cuBLAS" 30 "the same products by each libcublas of the machine, and their times" sh "$here/visit.sh" cublas
	works=
	if [ -n "$sanitizer" ]; then
		step "sanitizer: does it work here" 15 "it runs; some sandboxes refuse it" sh "$here/visit.sh" sanitize memcheck arrays
		[ "$code" = 0 ] && works=yes
	else
		without "sanitizer" "no compute-sanitizer on this machine" "memcheck, racecheck, synccheck and initcheck clean"
	fi
	[ -n "$works" ] && for tool in memcheck racecheck synccheck initcheck; do
		step "sanitizer: $tool" 15 "no error" sh "$here/visit.sh" sanitize $tool 'vs enumeration|matrix products, float32|sgd, crf$|sums by key'
	done
	if command -v python3 >/dev/null && python3 -c 'import torch' 2>/dev/null; then
		step "PyTorch" 35 "PyTorch's times for the same sizes" python3 "$here/torch_crf.py" --device cuda --seconds "$short" --check
	else
		without "PyTorch" "python3 without torch" "PyTorch's times for the same sizes"
	fi
fi
reserved=0
tests driver 10 "errors by name; copies through pinned memory"

said="$ok ok, $failed failed, $stopped stopped, $left_out not run, in $(($(date +%s) - begun)) s"
printf '\n%s\n' "$said." >>"$to/visit.md"
echo "$said; see $to/visit.md"
[ $((failed + stopped)) = 0 ]
