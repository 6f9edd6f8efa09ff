# Building dsp needs only Go. make gpu builds it for machines with an NVIDIA driver, and needs gcc as well.
# GOEXPERIMENT=simd turns on the vectorised inner loops; without it everything works, but slower.

STATICCHECK = go run honnef.co/go/tools/cmd/staticcheck@v0.7.0

# Packages whose code starts goroutines, or has package host start them: make race runs their tests under the race detector. docs/races_test.go
# checks that none is missing. Of those in RESTS, whose tests train and would take long, it runs the tests with several threads, which have one of
# the words of SEVERAL in their names; ./train starts none, and has tests of the engine with several threads.
PARALLEL    = ./structured/sys/host ./structured/sys/packed ./oracles/query ./oracles/monotone ./train/engine ./train/ranks ./models ./models/inputs/... \
	./models/data/text ./models/data/features/... ./models/data/localisation ./models/data/segmentation ./models/exchange ./models/pipelines ./models/review/report \
	./cmd/dsp/server ./cmd/dsp/cli ./cmd/libdsp/foreign
RESTS       = ./train ./train/methods/... ./models/training ./models/sweep ./models/reproduce
SEVERAL     = Threads|Team|Async|Ranks|Jobs|Interrupt

# Packages with vector kernels, which GOEXPERIMENT=simd compiles differently, and those that compare what is made of them with references: the
# contract of all structures, networks, and methods that agree on an optimum. Others only call these, and test the same logic with plain kernels.
VECTORS     = ./nets/... ./oracles/... ./structured/sys/simd ./structured/sys/vec/... ./train/engine ./train/methods

# Settings for -tags gpu: gorgonia.org/cu compiles against our cuda.h and links with trampolines instead of a driver.
GPU = CGO_ENABLED=1 CGO_CFLAGS="-O2 -I$(CURDIR)/cuda/driver/libcuda" CGO_LDFLAGS="-L$(CURDIR)/build"

export CGO_ENABLED ?= 0

.PHONY: build dist bits gpu gpu-kit gpu-env libdsp wheel wheels emulator test test-long test-gpu test-races race mutants bench results lint lint-gpu cross generate kernels kernels-report cubins clean

.PHONY: libdsp-gpu

# Without tables for debuggers the program is a quarter smaller; messages of panics keep their lines.
SMALL = -trimpath -ldflags="-s -w"

# On Linux a program looks at its limit of address space before Go's runtime does: cmd/dsp/start_linux_amd64.s.
ifeq ($(shell go env GOOS)/$(shell go env GOARCH),linux/amd64)
START = -trimpath -ldflags="-s -w -E main.start"
else
START = $(SMALL)
endif

build:
	GOEXPERIMENT=simd go build $(START) -o bin/dsp ./cmd/dsp

# The C libraries that the Python package calls, of the oracles and of trained models; need a C compiler.
LIBRARY = CGO_ENABLED=1 GOEXPERIMENT=simd go build -trimpath -ldflags="-s -w" -buildmode=c-shared

libdsp:
	@mkdir -p build
	$(LIBRARY) -o build/libdsp.so ./cmd/libdsp
	$(LIBRARY) -o build/libdspmodel.so ./cmd/libdsp/model

# The library of the oracles that also answers about memory of a GPU, for DSP_LIBRARY.
libdsp-gpu: build/libcuda.a
	$(GPU) GOEXPERIMENT=simd go build $(SMALL) -tags gpu -buildmode=c-shared -o build/libdsp-gpu.so ./cmd/libdsp

wheel: libdsp build # for this machine: pip install build/*.whl
	go run ./cmd/libdsp/wheel -libraries build/libdsp.so,build/libdspmodel.so -program bin/dsp -platform linux_$(shell uname -m)

# Wheels for all systems; needs python3 -m pip install ziglang, a C compiler for other processors and for old versions of glibc. Those for Windows and
# macOS have the program alone.
ZIG     = python3 -m ziglang cc -target
PROGRAM = CGO_ENABLED=0 GOEXPERIMENT=simd go build $(SMALL)

wheels:
	@mkdir -p build/wheels
	set -e; for each in amd64:x86_64 arm64:aarch64; do \
		to=build/wheels/$${each%:*}; export GOARCH=$${each%:*} CC="$(ZIG) $${each#*:}-linux-gnu.2.17"; \
		$(LIBRARY) -o $$to/libdsp.so ./cmd/libdsp; \
		$(LIBRARY) -o $$to/libdspmodel.so ./cmd/libdsp/model; \
		GOOS=linux $(PROGRAM) -o $$to/dsp ./cmd/dsp; \
		unset GOARCH CC; \
		go run ./cmd/libdsp/wheel -program $$to/dsp -libraries $$to/libdsp.so,$$to/libdspmodel.so -platform manylinux_2_17_$${each#*:} -to build/wheels; \
	done
	GOOS=windows GOARCH=amd64 $(PROGRAM) -o build/wheels/windows/dsp.exe ./cmd/dsp
	go run ./cmd/libdsp/wheel -program build/wheels/windows/dsp.exe -platform win_amd64 -to build/wheels
	GOOS=darwin GOARCH=arm64 $(PROGRAM) -o build/wheels/darwin/dsp ./cmd/dsp
	go run ./cmd/libdsp/wheel -program build/wheels/darwin/dsp -platform macosx_11_0_arm64 -to build/wheels

dist: # archives of the program for Linux, macOS and Windows, with checksums, in build/dist
	go run ./.ci/dist

# Whether training, predictions and metrics have the bits of bench/bits/table.tsv, also on the emulated device and under mpirun: BITS="-only parse" checks some rows.
BITS =

bits: gpu emulator
	go run ./bench/bits $(BITS)

gpu: build/libcuda.a # this program runs with and without an NVIDIA driver
	$(GPU) GOEXPERIMENT=simd go build $(SMALL) -tags gpu -o bin/dsp ./cmd/dsp

gpu-env: build/libcuda.a # eval "$$(make -s gpu-env)" prepares a shell for go commands with -tags gpu
	@echo 'export $(GPU)'

build/libcuda.a: $(wildcard cuda/driver/libcuda/*)
	@mkdir -p build
	$(CC) -O2 -Wall -Wextra -fPIC -c -o build/trampolines.o cuda/driver/libcuda/trampolines.c
	rm -f $@
	$(AR) rcs $@ build/trampolines.o

test:
	go test ./...
	GOEXPERIMENT=simd go test $(VECTORS)

ifndef SEED
SEED := $(shell od -An -N4 -tu4 /dev/urandom | tr -d ' ')
endif

test-long: # more and other cases of what go test ./... draws; SEED=N repeats a run that printed N
	@echo SEED=$(SEED)
	DSP_LONG=1 DSP_SEED=$(SEED) RAPID_SEED=$(SEED) RAPID_CHECKS=1000 go test -timeout 1h ./...

race: # the race detector needs cgo, and so a C compiler
	CGO_ENABLED=1 RAPID_CHECKS=20 go test -race -short $(PARALLEL)
	CGO_ENABLED=1 RAPID_CHECKS=20 go test -race -short -run '$(strip $(SEVERAL))' $(RESTS)

# What tests notice: single changes drawn from the sources by a fixed seed, each tried with the tests of its package and of all that import it, and then, if none
# notices, with those of the whole program. It takes hours of all packages: MUTANTS="-n 40" tries 40 in some of them, MUTANTS="-each 10 models/data/pieces"
# ten in one, and MUTANTS="-then=" leaves the whole program out. go run ./bench/mutants -h lists all flags.
MUTANTS =

mutants:
	nice go run ./bench/mutants $(MUTANTS)

bench: build
	bin/dsp bench

# make results crfsuite runs the commands of docs/results/crfsuite.md again, and writes what they print into its tables. Commands name folders of data
# by variables. All words but results are names of pages, so no other target goes with it.
results: build
	go run ./bench/results $(filter-out results,$(MAKECMDGOALS))

ifneq ($(filter results,$(MAKECMDGOALS)),)
$(filter-out results,$(MAKECMDGOALS)): results
	@:
endif

lint:
	@unformatted=$$(gofmt -l .); test -z "$$unformatted" || { echo "gofmt: $$unformatted"; exit 1; }
	go vet ./...
	GOEXPERIMENT=simd go vet ./...
	$(STATICCHECK) ./...
	GOEXPERIMENT=simd $(STATICCHECK) ./...
	if command -v $(CC) >/dev/null; then $(MAKE) lint-gpu; fi

lint-gpu: build/libcuda.a
	$(GPU) go vet -tags gpu ./cuda/... ./cmd/dsp/endtoend
	$(GPU) $(STATICCHECK) -tags gpu ./cuda/driver/... ./cuda/cudatest/... # the packages whose files depend on the tag

cross:
	GOOS=darwin GOARCH=arm64 go build -o /dev/null ./cmd/dsp
	GOOS=windows GOARCH=amd64 go build -o /dev/null ./cmd/dsp

generate: # writes the vector kernels for AVX2 from those for AVX-512, and docs/reference
	go generate ./...

kernels: # needs clang 16 or later; since the PTX is committed, only those who change kernels do
	go run ./cuda/devicecode/compile

kernels-report: # registers, spills and occupancy; needs NVIDIA's ptxas, on the PATH or named by PTXAS
	go run ./cuda/devicecode/assemble

# Kernels assembled for some architectures, which a driver need not compile: DSP_CUDA_CUBINS=build/cubins uses them. Needs ptxas.
CUBINS = build/cubins

cubins:
	rm -rf $(CUBINS)
	go run ./cuda/devicecode/assemble -to $(CUBINS)

# A CUDA driver for tests: it runs the kernels, compiled for the CPU. Needs g++.
EMULATED       = build/emulator
EMULATOR_FLAGS = -std=c++17 -O2 -g1 -fPIC -fvisibility=hidden -fno-strict-aliasing -ffp-contract=off -fno-math-errno -U_FORTIFY_SOURCE -fstack-clash-protection \
	-Wall -Wextra -Wno-unused-function -Wno-unused-parameter -Wno-unknown-pragmas -Wno-maybe-uninitialized $(if $(shell grep -sw fma /proc/cpuinfo),-mfma)
EMULATOR_PARTS = $(patsubst cuda/emulator/%.cpp,$(EMULATED)/%.o,$(filter-out %/races.cpp,$(wildcard cuda/emulator/*.cpp)))
KERNELS        = $(patsubst %.cu,$(EMULATED)/kernels/%.o,$(notdir $(wildcard cuda/devicecode/*/*.cu)))

vpath %.cu $(sort $(dir $(wildcard cuda/devicecode/*/*.cu)))

emulator: build/libcuda-emulated.so

build/libcuda-emulated.so: $(EMULATOR_PARTS) $(KERNELS)
	g++ -shared -Wl,-Bsymbolic -o $@ $^ -ldl -lpthread

build/libcuda-broken.so: $(EMULATOR_PARTS) $(KERNELS) $(EMULATED)/broken.o # has kernels that are wrong on purpose
	g++ -shared -Wl,-Bsymbolic -o $@ $^ -ldl -lpthread

# Slow; detects threads that access one place in memory with no barrier between: make test-races
build/libcuda-races.so: $(EMULATOR_PARTS) $(EMULATED)/races.o $(KERNELS:$(EMULATED)/kernels/%=$(EMULATED)/races/%) $(EMULATED)/races/broken.o
	g++ -shared -Wl,-Bsymbolic -o $@ $^ -ldl -lpthread

$(EMULATED)/%.o: cuda/emulator/%.cpp $(wildcard cuda/emulator/*.h)
	@mkdir -p $(@D)
	g++ $(EMULATOR_FLAGS) -c $< -o $@

# Kernels trap on misaligned accesses and on accesses outside local arrays, some of which trap on a device, too; variables start as garbage.
AS_KERNEL = g++ -x c++ -include cuda/emulator/shim.h -Icuda/devicecode/include $(EMULATOR_FLAGS) -ftrivial-auto-var-init=pattern \
	-fsanitize=alignment,bounds,shift-exponent -fsanitize-undefined-trap-on-error

$(EMULATED)/kernels/%.o: %.cu cuda/devicecode/ptx/%.ptx $(wildcard cuda/devicecode/*/*.cuh) cuda/emulator/shim.h cuda/emulator/place.h
	@mkdir -p $(@D)
	$(AS_KERNEL) -DSTAMP='"$(shell head -n 1 cuda/devicecode/ptx/$*.ptx)"' -c $< -o $@

RACES = -fsanitize=thread --param tsan-instrument-func-entry-exit=0
$(EMULATED)/races/%.o: %.cu cuda/devicecode/ptx/%.ptx $(wildcard cuda/devicecode/*/*.cuh) cuda/emulator/shim.h cuda/emulator/place.h
	@mkdir -p $(@D)
	$(AS_KERNEL) $(RACES) -DSTAMP='"$(shell head -n 1 cuda/devicecode/ptx/$*.ptx)"' -c $< -o $@

$(EMULATED)/broken.o: cuda/cudatest/testdata/broken.cu cuda/devicecode/include/device.cuh cuda/emulator/shim.h cuda/emulator/place.h
	@mkdir -p $(@D)
	$(AS_KERNEL) -c $< -o $@

$(EMULATED)/races/broken.o: cuda/cudatest/testdata/broken.cu cuda/devicecode/include/device.cuh cuda/emulator/shim.h cuda/emulator/place.h
	@mkdir -p $(@D)
	$(AS_KERNEL) $(RACES) -c $< -o $@

ON_DEVICE = $(KIT_TESTS:%=./cuda/%) ./cuda/cudatest ./cuda/devicecode # go test ./... tests the other packages of ./cuda, which are the same without the tag

EMULATE = DSP_CUDA_LIBRARY=$(CURDIR)/build/libcuda-emulated.so $(GPU)

test-gpu: emulator build/libcuda-broken.so build/libcuda.a # on the emulated device; outside ./cuda, tests that need a device have GPU in their names
	$(EMULATE) go test -tags gpu $(ON_DEVICE)
	$(EMULATE) go test -tags gpu -timeout 30m -run GPU ./models ./models/training ./cmd/dsp/endtoend ./cmd/libdsp/foreign

test-races: build/libcuda-races.so build/libcuda.a # takes minutes: the same tests, looking for races
	DSP_CUDA_LIBRARY=$(CURDIR)/build/libcuda-races.so $(GPU) go test -tags gpu -timeout 30m $(ON_DEVICE)

# Programs that test and measure dsp on a machine with a GPU and without Go, a C compiler or a network: there, unpack and run visit.sh.
KIT       = build/gpu-kit
KIT_TESTS = device cudaoracles cudanets accelerator resident driver

gpu-kit: gpu
	rm -rf $(KIT) && mkdir -p $(KIT)/tests
	cp bin/dsp cuda/kit/visit.sh bench/gpu.py bench/torch_crf.py $(KIT)
	if command -v "$${PTXAS:-ptxas}" >/dev/null; then go run ./cuda/devicecode/assemble -to $(KIT)/cubins; else echo "no ptxas: the kit has no cubins"; fi
	for package in $(KIT_TESTS); do $(GPU) go test -c $(SMALL) -tags gpu -o $(KIT)/tests/$$package.test ./cuda/$$package || exit 1; done
	tar -C build -c gpu-kit | xz -T1 --lzma2=preset=2,dict=192MiB >$(KIT).tar.xz # the dictionary spans all programs, which share much
	@bytes=$$(wc -c <$(KIT).tar.xz); echo "$(KIT).tar.xz: $$bytes bytes"; test $$bytes -lt 40000000 || { echo "more than 40 MB"; exit 1; }

clean:
	rm -rf bin build
