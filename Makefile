# dsp needs Go and nothing else. GOEXPERIMENT=simd turns on the vectorised inner loops; without it everything still works, slower.

STATICCHECK = honnef.co/go/tools/cmd/staticcheck@v0.7.0
PARALLEL    = ./oracles/ ./nets/ ./train/ ./models/

export CGO_ENABLED ?= 0

.PHONY: build test race bench lint cross kernels clean

build:
	GOEXPERIMENT=simd go build -trimpath -o bin/dsp ./cmd/dsp

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

cross:
	GOOS=darwin GOARCH=arm64 go build -o /dev/null ./cmd/dsp
	GOOS=windows GOARCH=amd64 go build -o /dev/null ./cmd/dsp

kernels: # needs clang 16 or later; the PTX is committed, so that nobody else does
	go run ./cuda/kernels/compile

clean:
	rm -rf bin
