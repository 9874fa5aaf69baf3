// Every storage format the library has kernels for.
#pragma once

#include <llambda/quant/bf16.hpp>
#include <llambda/quant/f16.hpp>
#include <llambda/quant/f32.hpp>
#include <llambda/quant/q8_0.hpp>
