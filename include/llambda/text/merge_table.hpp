// From two adjacent tokens to the token they merge into and the rank of that merge: one flat hash table, 16 bytes an
// entry, at most two thirds full. Rank and result are one number, so that the smallest is the merge to do first.
#pragma once

#include <llambda/core/token.hpp>

#include <cstddef>
#include <cstdint>
#include <vector>

namespace llambda::inline LLAMBDA_ABI {

/// A merge of BPE: `left` and `right` become `result`, a token whose text is both texts together.
struct token_merge {
  token_id left, right, result;
};

class merge_table {
 public:
  /// Rank in the upper half, resulting token in the lower.
  using ranked = std::uint64_t;
  static constexpr ranked none = ~ranked{0};

  static constexpr std::uint32_t rank_of(ranked m) noexcept { return static_cast<std::uint32_t>(m >> 32); }
  static constexpr token_id result_of(ranked m) noexcept { return static_cast<token_id>(m & 0xFFFFFFFF); }

  /// Room for `merges` entries.
  explicit merge_table(std::size_t merges = 0) {
    std::size_t capacity = 16;
    while (2 * capacity < 3 * merges) {
      capacity *= 2;
      --shift_;
    }
    slots_.assign(capacity, slot{});
  }

  /// Of two merges of one pair the first counts. Precondition: no more calls than the constructor was told of.
  void insert(const token_merge& m, std::uint32_t rank) {
    slot& place = slots_[find_slot(key_of(m.left, m.right))];
    if (place.key != free) return;
    place = {key_of(m.left, m.right), ranked{rank} << 32 | static_cast<std::uint32_t>(m.result)};
  }

  /// The merge of two tokens; `none` if there is none, also when one of them is token_none.
  ranked find(token_id left, token_id right) const noexcept { return slots_[find_slot(key_of(left, right))].merge; }

 private:
  static constexpr std::uint64_t free = ~std::uint64_t{0};  // the key of two token_none

  struct slot {
    std::uint64_t key = free;
    ranked merge = none;
  };

  static constexpr std::uint64_t key_of(token_id left, token_id right) noexcept {
    return std::uint64_t{static_cast<std::uint32_t>(left)} << 32 | static_cast<std::uint32_t>(right);
  }

  // Multiplicative hashing (Knuth, The Art of Computer Programming 3, 6.4), linear probing.
  std::size_t find_slot(std::uint64_t key) const noexcept {
    std::size_t at = (key ^ key >> 29) * 0x9E3779B97F4A7C15u >> shift_;
    while (slots_[at].key != key && slots_[at].key != free) at = (at + 1) & (slots_.size() - 1);
    return at;
  }

  std::vector<slot> slots_;  // (capacity): a power of two
  int shift_ = 60;           // 64 - log2(capacity)
};

}  // namespace llambda::inline LLAMBDA_ABI
