/* libdsp: dsp's oracles as a C library. This file has the types; the library's build writes a header that has all functions, too.
 *
 * A form is a structure with its sizes (dsp_form). A batch is a form with the layout of its examples: where each one's rows and output begin
 * (dsp_batch). Questions take a batch and the values of its potentials: plain float arrays, one for each part, that the caller owns. Nothing is
 * copied: dsp_max, dsp_exp, dsp_loss, dsp_top, dsp_sample, dsp_score, dsp_divergence, dsp_hessian, dsp_indicator. A question with a budget may answer
 * for some of the examples: dsp_run.
 *
 * Every function that returns char* returns NULL, or a message that the caller must give to dsp_free. Handles are positive numbers; a form,
 * a batch and a GPU live until dsp_release. All functions may be called from any number of threads at the same time. After a fork the library
 * cannot be used in the child. dsp_abi returns the DSP_ABI that the library was built with: do not use one of another.
 *
 * Arrays: "values" has a pointer for each part, to [rows, width] floats in C order; a part that examples share has one row, and its
 * marginals have one row for each example. Outputs y are int32 numbers, one example after the other. Potentials that are NaN, +infinity or
 * beyond +-1e30 have the value NaN; their best output is that of potentials of 0 in their place.
 *
 * GPUs: dsp_cuda_open opens one, in the process's primary context, of a library that make libdsp-gpu built (dsp_cuda_built). dsp_cuda_exp,
 * dsp_cuda_loss and dsp_cuda_max answer for chains and dependency trees: "values", "value" (double) and marginals are addresses in its memory
 * (dsp_cuda_owner tells whose), of arrays that begin at multiples of 16 bytes and have those sizes. Work goes into the caller's CUstream, and
 * nothing waits for it but dsp_cuda_max, whose outputs and values are in the host's memory. After an error of the GPU its handle answers no
 * more (dsp_cuda_failed): release it, and open the GPU again.
 */
#ifndef LIBDSP_H
#define LIBDSP_H
#include <stdint.h>

#define DSP_ABI 4

typedef struct {
  int32_t threads; /* how many threads answer */
  int64_t first;   /* the first example to answer */
  int64_t budget;  /* microseconds after which no further examples are begun; 0: no end */
  int64_t next;    /* out: the first example that was not answered, or the number of examples. Ask again from there */
} dsp_run;

typedef struct {
  int64_t examples;
  const int64_t *outputs;        /* [examples+1] where each example's output begins */
  const int64_t *const *offsets; /* [parts] of [examples+1] where each example's rows begin; NULL for a part that examples share */
  const int32_t *gold;           /* what lines must read, or gold outputs of structures with a loss of their own; or NULL */
  const int64_t *gold_offsets;   /* [examples+1], or NULL */
  const int32_t *ends;           /* graphs: [edges,2] variables, counted from 0 in each example; or NULL */
  const int32_t *types;          /* [edges] types of edges, or NULL */
  const int64_t *edge_offsets;   /* [examples+1], or NULL */
} dsp_layout;

#endif
