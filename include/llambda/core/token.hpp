// The one integer type that names a token, shared by text, sampling and the running model.
// 32 signed bits as in GGUF files; counts and positions are std::size_t everywhere.
#pragma once

#include <llambda/core/config_macros.hpp>

#include <cstdint>

namespace llambda::inline LLAMBDA_ABI {

/// Index of a token in the vocabulary, 0 ... vocab_size - 1.
using token_id = std::int32_t;

/// "There is no such token": a vocabulary without a beginning-of-text token, a text that is not in the table.
inline constexpr token_id token_none = -1;

}  // namespace llambda::inline LLAMBDA_ABI
