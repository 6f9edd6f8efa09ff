# dsp needs Go and nothing else; make gpu, the same for machines with an NVIDIA driver, needs gcc too.
# GOEXPERIMENT=simd turns on the vectorised inner loops; without it everything still works, slower.

STATICCHECK = honnef.co/go/tools/cmd/staticcheck@v0.7.0
PARALLEL    = ./oracles/ ./nets/ ./train/... ./models/

# What -tags gpu needs: gorgonia.org/cu is compiled against our cuda.h, and linked with trampolines in place of a driver.
GPU = CGO_ENABLED=1 CGO_CFLAGS="-O2 -I$(CURDIR)/cuda/driver/libcuda" CGO_LDFLAGS="-L$(CURDIR)/build"

export CGO_ENABLED ?= 0

.PHONY: build gpu gpu-env emulator test test-gpu test-races race bench lint lint-gpu cross generate kernels clean

build:
	GOEXPERIMENT=simd go build -trimpath -o bin/dsp ./cmd/dsp

gpu: build/libcuda.a # the same program for a machine with an NVIDIA driver, and for one without
	$(GPU) GOEXPERIMENT=simd go build -trimpath -tags gpu -o bin/dsp ./cmd/dsp

gpu-env: build/libcuda.a # eval "$$(make -s gpu-env)" sets a shell up for go commands with -tags gpu
	@echo 'export $(GPU)'

build/libcuda.a: $(wildcard cuda/driver/libcuda/*)
	@mkdir -p build
	$(CC) -O2 -Wall -Wextra -fPIC -c -o build/trampolines.o cuda/driver/libcuda/trampolines.c
	rm -f $@
	$(AR) rcs $@ build/trampolines.o

test:
	go test ./...
	GOEXPERIMENT=simd go test ./...

race: # the race detector needs cgo
	CGO_ENABLED=1 go test -race -short $(PARALLEL)

bench: build
	bin/dsp bench

lint:
	@unformatted=$$(gofmt -l .); test -z "$$unformatted" || { echo "gofmt: $$unformatted"; exit 1; }
	go vet ./...
	GOEXPERIMENT=simd go vet ./...
	go run $(STATICCHECK) ./...
	GOEXPERIMENT=simd go run $(STATICCHECK) ./...
	if command -v $(CC) >/dev/null; then $(MAKE) lint-gpu; fi

lint-gpu: build/libcuda.a
	$(GPU) go vet -tags gpu ./...
	$(GPU) go run $(STATICCHECK) -tags gpu ./cuda/driver/... ./cuda/cudatest/... # where the tag makes a difference

cross:
	GOOS=darwin GOARCH=arm64 go build -o /dev/null ./cmd/dsp
	GOOS=windows GOARCH=amd64 go build -o /dev/null ./cmd/dsp

generate: # vector kernels for AVX2 from those for AVX-512
	go generate ./...

kernels: # needs clang 16 or later; the PTX is committed, so that nobody else does
	go run ./cuda/kernels/compile

# A CUDA driver for tests: the kernels, compiled for the CPU. Needs g++.
EMULATED       = build/emulator
EMULATOR_FLAGS = -std=c++17 -O2 -g1 -fPIC -fvisibility=hidden -fno-strict-aliasing -ffp-contract=off -fno-math-errno -U_FORTIFY_SOURCE -fstack-clash-protection \
	-Wall -Wextra -Wno-unused-function -Wno-unused-parameter -Wno-unknown-pragmas -Wno-maybe-uninitialized $(if $(shell grep -sw fma /proc/cpuinfo),-mfma)
EMULATOR_PARTS = $(patsubst cuda/emulator/%.cpp,$(EMULATED)/%.o,$(filter-out %/races.cpp,$(wildcard cuda/emulator/*.cpp)))
KERNELS        = $(patsubst cuda/kernels/%.cu,$(EMULATED)/kernels/%.o,$(wildcard cuda/kernels/*.cu))

emulator: build/libcuda-emulated.so

build/libcuda-emulated.so: $(EMULATOR_PARTS) $(KERNELS)
	g++ -shared -Wl,-Bsymbolic -o $@ $^ -ldl -lpthread

build/libcuda-broken.so: $(EMULATOR_PARTS) $(KERNELS) $(EMULATED)/broken.o # with kernels that are wrong on purpose
	g++ -shared -Wl,-Bsymbolic -o $@ $^ -ldl -lpthread

# Slow, and finds threads that meet at one place of memory with no barrier between: make test-races
build/libcuda-races.so: $(EMULATOR_PARTS) $(EMULATED)/races.o $(KERNELS:$(EMULATED)/kernels/%=$(EMULATED)/races/%) $(EMULATED)/races/broken.o
	g++ -shared -Wl,-Bsymbolic -o $@ $^ -ldl -lpthread

$(EMULATED)/%.o: cuda/emulator/%.cpp $(wildcard cuda/emulator/*.h)
	@mkdir -p $(@D)
	g++ $(EMULATOR_FLAGS) -c $< -o $@

# Of kernels: what is misaligned or outside of a local array traps, as some of it does on a device; variables begin as garbage.
AS_KERNEL = g++ -x c++ -include cuda/emulator/shim.h -Icuda/kernels $(EMULATOR_FLAGS) -ftrivial-auto-var-init=pattern \
	-fsanitize=alignment,bounds,shift-exponent -fsanitize-undefined-trap-on-error

$(EMULATED)/kernels/%.o: cuda/kernels/%.cu cuda/kernels/%.ptx $(wildcard cuda/kernels/*.cuh) cuda/emulator/shim.h cuda/emulator/place.h
	@mkdir -p $(@D)
	$(AS_KERNEL) -DSTAMP='"$(shell head -n 1 cuda/kernels/$*.ptx)"' -c $< -o $@

RACES = -fsanitize=thread --param tsan-instrument-func-entry-exit=0
$(EMULATED)/races/%.o: cuda/kernels/%.cu cuda/kernels/%.ptx $(wildcard cuda/kernels/*.cuh) cuda/emulator/shim.h cuda/emulator/place.h
	@mkdir -p $(@D)
	$(AS_KERNEL) $(RACES) -DSTAMP='"$(shell head -n 1 cuda/kernels/$*.ptx)"' -c $< -o $@

$(EMULATED)/broken.o: cuda/cudatest/testdata/broken.cu cuda/kernels/device.cuh cuda/emulator/shim.h cuda/emulator/place.h
	@mkdir -p $(@D)
	$(AS_KERNEL) -c $< -o $@

$(EMULATED)/races/broken.o: cuda/cudatest/testdata/broken.cu cuda/kernels/device.cuh cuda/emulator/shim.h cuda/emulator/place.h
	@mkdir -p $(@D)
	$(AS_KERNEL) $(RACES) -c $< -o $@

EMULATE = DSP_CUDA_LIBRARY=$(CURDIR)/build/libcuda-emulated.so $(GPU)

test-gpu: emulator build/libcuda-broken.so build/libcuda.a # on the emulated device. Tests elsewhere that need a device say GPU in their names
	$(EMULATE) go test -tags gpu ./cuda/...
	$(EMULATE) go test -tags gpu -run GPU ./cmd/dsp

test-races: build/libcuda-races.so build/libcuda.a # minutes: the same tests, looking for threads that meet with no barrier between
	DSP_CUDA_LIBRARY=$(CURDIR)/build/libcuda-races.so $(GPU) go test -tags gpu -timeout 30m ./cuda/...

clean:
	rm -rf bin build
