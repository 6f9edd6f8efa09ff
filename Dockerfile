# A server of models. A static program loads no libraries, such as MPI and OpenBLAS: docker build -t dsp . && docker run --read-only -p 8080:8080 -v "$PWD/runs/names:/model:ro" dsp
FROM golang:1.26 AS build
WORKDIR /src
COPY . .
RUN CGO_ENABLED=0 GOEXPERIMENT=simd go build -tags static -trimpath -ldflags="-s -w" -o /dsp ./cmd/dsp

FROM scratch
COPY --from=build /dsp /dsp
USER 65534:65534
EXPOSE 8080
ENTRYPOINT ["/dsp"]
CMD ["serve", "--listen", "0.0.0.0:8080", "--model", "/model"]
