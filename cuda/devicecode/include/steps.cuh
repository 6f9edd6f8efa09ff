// Elementwise instructions as data: a program of steps that a kernel takes for 4 neighbouring entries of arrays at a time. The result of each step is the
// thread's accumulator. Operands come from the accumulator or from memory; only results that other instructions read go to memory.
//   program [count]  Step   the instructions, built by cuda/cudanets/elementwise.go
//   rows  int               rows of the batch, for dropout
//   states [layers×rows] uint64   dropout state of each row (dropout_states); seed [1] uint64, 0: no dropout
//   others                  start of each memory space of a program (enum Space); spaces that the steps do not name may be null
// Steps are the same for all threads, so branches diverge only inside functions.
// Reference: nets/graph/elementwise.go, nets/graph/dropout.go.
#pragma once
#include "functions.cuh"

// Space is the start of a memory space, which other parameters of a kernel may point into.
struct Space { float first; };

enum Code {
	ASSIGN, MASK,
	ADD, SUBTRACT, MULTIPLY, DIVIDE, POWER, LESS, LESS_OR_EQUAL, GREATER, GREATER_OR_EQUAL, EQUAL, UNEQUAL,
	NEGATE, ABS, SIGN, CEIL, FLOOR, SIN, COS, EXP, LN, SQUARE, CUBE, SQRT, INVERSE, TANH, SIGMOID, LOG1P, EXPM1, SOFTPLUS, RELU, ELU,
	NEGATE_SLOPE, ABS_SLOPE, SIN_SLOPE, COS_SLOPE, EXP_SLOPE, LN_SLOPE, SQUARE_SLOPE, CUBE_SLOPE, SQRT_SLOPE,
	INVERSE_SLOPE, TANH_SLOPE, SIGMOID_SLOPE, LOG1P_SLOPE, EXPM1_SLOPE, SOFTPLUS_SLOPE, RELU_SLOPE, ELU_SLOPE,
	GELU, SILU, GELU_SLOPE, SILU_SLOPE
};

enum Mode { NONE, ACCUMULATOR, ENTRY, SCALAR, QUOTIENT, REMAINDER, SPREAD };
enum Flags { STORE = 1, ACCUMULATE = 2 };

// Divisor divides numbers below 2^31 by a product and a shift (Granlund and Montgomery 1994).
struct Divisor { uint32_t by, factor; int32_t shift; };

DEVICE uint32_t quotient(uint32_t i, const Divisor& d) { return (uint32_t)((uint64_t)i * d.factor >> d.shift); }

// Operand says where entry i is read: at i, at 0, at i/outer, at i mod inner, or at (i/outer)·inner + i mod inner.
struct Operand {
	int32_t mode, space;
	int64_t offset;
	Divisor outer, inner;
};

struct Step {
	int32_t code, flags;
	Operand x, y;
	int32_t space; // memory space of the result
	uint32_t threshold; // dropout: x.outer is the number of units, x.offset the layer
	int64_t offset;
	float keep;
	int32_t unused;
};

const int space_count = 16;

#define EACH for (int k = 0; k < 4; k++)

// load4 reads the 4 numbers at from.
DEVICE void load4(float (&to)[4], const float* from) {
	if ((uint64_t)from % 16 == 0) {
		float4 x = *(const float4*)from;
		to[0] = x.x, to[1] = x.y, to[2] = x.z, to[3] = x.w;
	} else {
		EACH to[k] = from[k];
	}
}

// fetch reads an operand for the entries at[k]; whole: they are 4 neighbours.
DEVICE void fetch(float (&to)[4], const float (&result)[4], const Operand& o, Space* const* spaces, const uint32_t (&at)[4], bool whole) {
	if (o.mode == NONE) return;
	if (o.mode == ACCUMULATOR) {
		EACH to[k] = result[k];
		return;
	}
	const float* from = (const float*)spaces[o.space] + o.offset;
	switch (o.mode) {
	case ENTRY:
		if (whole) load4(to, from + at[0]);
		else EACH to[k] = from[at[k]];
		break;
	case SCALAR: EACH to[k] = from[0]; break;
	case QUOTIENT: EACH to[k] = from[quotient(at[k], o.outer)]; break;
	case REMAINDER:
		if (whole && (at[0] | o.inner.by) % 4 == 0) load4(to, from + (at[0] - quotient(at[0], o.inner) * o.inner.by));
		else EACH to[k] = from[at[k] - quotient(at[k], o.inner) * o.inner.by];
		break;
	case SPREAD:
		EACH {
			uint32_t i = at[k] - quotient(at[k], o.inner) * o.inner.by;
			to[k] = from[quotient(at[k], o.outer) * o.inner.by + i];
		}
		break;
	}
}

#define STEPS_PARAMETERS \
	const uint64_t *program, int count, int rows, const uint64_t *states, const uint64_t *seed, Space *arena, Space *literals, Space *weights, \
			Space *direction, Space *gradient, Space *features, Space *boundary, Space *edges, Space *encoded, Space *encoded_direction, \
			Space *cotangent0, Space *cotangent1, Space *cotangent2, Space *part0, Space *part1, Space *part2

// Steps is a program in shared memory.
struct Steps {
	Space** spaces;
	const Step* list;
	int count, rows;
	const uint64_t *states, *seed;
};

// LOAD_STEPS copies the parameters to shared memory, which needs space_count + count·sizeof(Step)/8 numbers; a barrier must follow.
#define LOAD_STEPS(shared) load_steps(shared, program, count, rows, states, seed, arena, literals, weights, direction, gradient, features, boundary, edges, \
		encoded, encoded_direction, cotangent0, cotangent1, cotangent2, part0, part1, part2)

DEVICE Steps load_steps(uint64_t* shared, STEPS_PARAMETERS) {
	Space** spaces = (Space**)shared;
	if (THREAD == 0) {
		spaces[0] = arena, spaces[1] = literals, spaces[2] = weights, spaces[3] = direction, spaces[4] = gradient, spaces[5] = features;
		spaces[6] = boundary, spaces[7] = edges, spaces[8] = encoded, spaces[9] = encoded_direction;
		spaces[10] = cotangent0, spaces[11] = cotangent1, spaces[12] = cotangent2, spaces[13] = part0, spaces[14] = part1, spaces[15] = part2;
	}
	for (int i = THREAD; i < count * (int)(sizeof(Step) / 8); i += THREADS) shared[space_count + i] = program[i];
	return Steps{spaces, (const Step*)(shared + space_count), count, rows, states, seed};
}

DEVICE float dropout(const Step& s, uint32_t i, const uint64_t* states, int rows) {
	uint32_t t = quotient(i, s.x.outer), unit = i - t * s.x.outer.by;
	uint64_t state = states[s.x.offset * rows + t] + (unit + 1) * 0x9e3779b97f4a7c15ull;
	return (uint32_t)(mix(state) >> 32) < s.threshold ? 0.f : s.keep;
}

#define CASE(code, value) case code: EACH z[k] = value; break

// take_steps takes all steps for `exist` ≤ 4 entries from first on. z is the accumulator, where entries beyond repeat the first: others may belong to another
// thread.
DEVICE void take_steps(const Steps& p, uint32_t first, uint32_t exist, float (&z)[4]) {
	bool whole = exist >= 4;
	uint32_t at[4];
	EACH at[k] = (uint32_t)k < exist ? first + k : first;
	for (int j = 0; j < p.count; j++) {
		const Step& s = p.list[j];
		float x[4] = {}, y[4] = {};
		fetch(x, z, s.x, p.spaces, at, whole);
		fetch(y, z, s.y, p.spaces, at, whole);
		switch (s.code) {
		CASE(ASSIGN, x[k]);
		case MASK: {
			bool on = *p.seed != 0;
			EACH z[k] = on ? dropout(s, at[k], p.states, p.rows) : 1.f;
			break;
		}
		CASE(ADD, x[k] + y[k]);
		CASE(SUBTRACT, x[k] - y[k]);
		CASE(MULTIPLY, x[k] * y[k]);
		CASE(DIVIDE, x[k] / y[k]);
		CASE(POWER, power(x[k], y[k]));
		CASE(LESS, x[k] < y[k] ? 1.f : 0.f);
		CASE(LESS_OR_EQUAL, x[k] <= y[k] ? 1.f : 0.f);
		CASE(GREATER, x[k] > y[k] ? 1.f : 0.f);
		CASE(GREATER_OR_EQUAL, x[k] >= y[k] ? 1.f : 0.f);
		CASE(EQUAL, x[k] == y[k] ? 1.f : 0.f);
		CASE(UNEQUAL, x[k] != y[k] ? 1.f : 0.f);
		CASE(NEGATE, -x[k]);
		CASE(ABS, magnitude(x[k]));
		CASE(SIGN, sign_of(x[k]));
		CASE(CEIL, __builtin_ceilf(x[k]));
		CASE(FLOOR, __builtin_floorf(x[k]));
		CASE(SIN, sine(x[k], 0));
		CASE(COS, sine(x[k], 1));
		CASE(EXP, exponential(x[k]));
		CASE(LN, logarithm(x[k]));
		CASE(SQUARE, x[k] * x[k]);
		CASE(CUBE, x[k] * x[k] * x[k]);
		CASE(SQRT, square_root(x[k]));
		CASE(INVERSE, 1.f / x[k]);
		CASE(TANH, tanh_of(x[k]));
		CASE(SIGMOID, sigmoid(x[k]));
		CASE(LOG1P, log_1p(x[k]));
		CASE(EXPM1, exp_m1(x[k]));
		CASE(SOFTPLUS, softplus(x[k]));
		CASE(RELU, rectify(x[k]));
		CASE(ELU, elu(x[k]));
		// slopes: y·f′; x is the argument of f, or its result
		CASE(NEGATE_SLOPE, -y[k]);
		CASE(ABS_SLOPE, y[k] * sign_of(x[k]));
		CASE(SIN_SLOPE, y[k] * sine(x[k], 1));
		CASE(COS_SLOPE, y[k] * -sine(x[k], 0));
		CASE(EXP_SLOPE, y[k] * x[k]);
		CASE(LN_SLOPE, y[k] * (1.f / x[k]));
		CASE(SQUARE_SLOPE, y[k] * (x[k] + x[k]));
		CASE(CUBE_SLOPE, y[k] * (3.f * x[k] * x[k]));
		CASE(SQRT_SLOPE, y[k] * (0.5f / x[k]));
		CASE(INVERSE_SLOPE, y[k] * (-x[k] * x[k]));
		CASE(TANH_SLOPE, y[k] * (1.f - x[k] * x[k]));
		CASE(SIGMOID_SLOPE, y[k] * x[k] * (1.f - x[k]));
		CASE(LOG1P_SLOPE, y[k] * (1.f / (1.f + x[k])));
		CASE(EXPM1_SLOPE, y[k] * (x[k] + 1.f));
		CASE(SOFTPLUS_SLOPE, y[k] * sigmoid(x[k]));
		CASE(RELU_SLOPE, x[k] != 0.f ? y[k] : 0.f);
		CASE(ELU_SLOPE, y[k] * (negative_part(x[k]) + 1.f));
		CASE(GELU, gelu(x[k]));
		CASE(SILU, silu(x[k]));
		CASE(GELU_SLOPE, y[k] * gelu_slope(x[k]));
		CASE(SILU_SLOPE, y[k] * silu_slope(x[k]));
		}
		float* out = (float*)p.spaces[s.space] + s.offset;
		if (s.flags & ACCUMULATE) {
			float before[4] = {};
			if (whole) load4(before, out + first);
			else EACH before[k] = out[at[k]];
			EACH z[k] = before[k] + z[k];
		}
		if (!(s.flags & STORE)) continue;
		if (whole && (uint64_t)(out + first) % 16 == 0) *(float4*)(out + first) = {z[0], z[1], z[2], z[3]};
		else EACH if ((uint32_t)k < exist) out[first + k] = z[k];
	}
}
