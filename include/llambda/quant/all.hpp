// Every storage format the library has kernels for.
// A new one is a row in config/quant_kind.hpp, a header in this directory and a line here.
#pragma once

#include <llambda/quant/bf16.hpp>
#include <llambda/quant/f16.hpp>
#include <llambda/quant/f32.hpp>
#include <llambda/quant/iq4_nl.hpp>
#include <llambda/quant/iq4_xs.hpp>
#include <llambda/quant/mxfp4.hpp>
#include <llambda/quant/q2_k.hpp>
#include <llambda/quant/q3_k.hpp>
#include <llambda/quant/q4_0.hpp>
#include <llambda/quant/q4_1.hpp>
#include <llambda/quant/q4_k.hpp>
#include <llambda/quant/q5_0.hpp>
#include <llambda/quant/q5_1.hpp>
#include <llambda/quant/q5_k.hpp>
#include <llambda/quant/q6_k.hpp>
#include <llambda/quant/q8_0.hpp>
#include <llambda/quant/tq2_0.hpp>
