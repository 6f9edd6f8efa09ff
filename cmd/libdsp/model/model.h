/* libdspmodel: trained models as a C library. A model answers the requests of dsp serve without a server: JSON in, JSON out. And the
 * decoding of chains as an ONNX graph.
 *
 * Every function that returns char* returns NULL, or a message that the caller must give to dsp_model_free. All functions may be called from any
 * number of threads at the same time. After a fork the library cannot be used in the child.
 */
#ifndef LIBDSPMODEL_H
#define LIBDSPMODEL_H
#include <stdint.h>

#define DSP_MODEL_ABI 2

#endif
