package onnx

import (
	"math"

	"github.com/dsp-go/dsp/models/exchange/onnx/onnxpb"
)

const (
	float32s  = onnxpb.TensorProto_FLOAT
	float64s  = onnxpb.TensorProto_DOUBLE
	int64Type = onnxpb.TensorProto_INT64
	boolType  = onnxpb.TensorProto_BOOL
)

// lowest is below every number that a network computes, so that its exponential is zero.
const lowest = -math.MaxFloat32 / 4

var minusInf = float32(math.Inf(-1))
