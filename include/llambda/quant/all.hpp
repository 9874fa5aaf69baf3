// Every storage format the library has kernels for.
// A new one is a row in config/quant_kind.hpp, a header in this directory and a line here.
#pragma once

#include <llambda/quant/bf16.hpp>
#include <llambda/quant/f16.hpp>
#include <llambda/quant/f32.hpp>
#include <llambda/quant/q8_0.hpp>
