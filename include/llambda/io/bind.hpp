// File -> Weights<C>: checks that the file is the model the binary was compiled for, reporting every difference at
// once, then packs the tensors in parallel, or maps them as they were packed before. After this the weights are
// immutable.
#pragma once

#include <llambda/arch/all.hpp>
#include <llambda/core/thread_pool.hpp>
#include <llambda/io/gguf.hpp>
#include <llambda/io/pack_cache.hpp>
#include <llambda/kernels/rope.hpp>
#include <llambda/model/weights.hpp>
#include <llambda/tensor/names.hpp>

#include <functional>
#include <memory>
#include <set>
#include <string>
#include <vector>

namespace llambda::inline LLAMBDA_ABI {

/// Called while weights are packed with bytes done and bytes in all; may be empty.
using load_progress = std::function<void(std::size_t done, std::size_t total)>;

struct load_options {
  load_progress progress;
  /// Keep the packed weights in a file beside the model (its name, 16 hexadecimal digits, ".pack") and map that file
  /// from the second start on. Costs as much disk space as the weights. No effect on a model that is no file.
  bool pack_cache = false;
};

namespace detail {

/// Calls f(GGUF name, tensor&) for every tensor the weights hold.
template <ModelConfig C, class F>
void for_each_weight(Weights<C>& weights, F&& f) {
  for_each_tensor(weights.globals, [&](std::string_view stem, auto& tensor) { f(gguf_name(stem), tensor); });
  for (std::size_t layer = 0; layer < C::spec.layers; ++layer) {
    weights.visit_layer(layer, [&](auto& tensors) {
      for_each_tensor(tensors, [&](std::string_view stem, auto& tensor) { f(gguf_name(layer, stem), tensor); });
    });
  }
}

/// Every difference between what C was compiled for and what the file holds.
template <ModelConfig C>
std::vector<mismatch> differences(const gguf_file& file, Weights<C>& weights) {
  std::vector<mismatch> found;
  const ModelSpec theirs = read_spec(file);
  std::vector<std::string> ours;
  for_each_field(C::spec, [&](std::string_view, const std::string& value) { ours.push_back(value); });
  std::size_t i = 0;
  for_each_field(theirs, [&](std::string_view field, const std::string& value) {
    if (ours[i] != value) found.push_back({std::string(field), ours[i], value});
    ++i;
  });
  std::set<std::string, std::less<>> wanted;
  for_each_weight<C>(weights, [&]<class T>(const std::string& name, T&) {
    wanted.insert(name);
    const gguf_tensor* tensor = file.find_tensor(name);
    const std::string shape = shape_text(T::cols, T::rows);
    if (!tensor) {
      found.push_back({name, shape, "nothing"});
      return;
    }
    if (tensor->dims[0] != T::cols || tensor->rows() != T::rows) found.push_back({name, shape, tensor->shape()});
    if (quant_from_ggml(static_cast<std::uint32_t>(tensor->type->id)) != T::format) {
      found.push_back({name, std::string(info(T::format).name), std::string(tensor->type->name)});
    }
  });
  for (const gguf_tensor& tensor : file.tensors()) {
    if (!wanted.contains(tensor.name)) {
      found.push_back({std::string(tensor.name), "no such tensor", tensor.shape()});
    }
  }
  return found;
}

/// The packed tensor, (tiles, tile_bytes), from the file's rows.
template <quant Q, std::size_t Rows, std::size_t Cols>
void pack(const std::byte* data, std::byte* packed, thread_pool& pool) {
  const FileTensor<Q, Rows, Cols> source{data};
  pool.run([&](const worker& thread) noexcept {
    const range mine = thread.share(source.tiles);
    for (std::size_t tile = mine.begin; tile < mine.end; ++tile) {
      source.pack_tile(tile, packed + tile * tile_bytes<Q>(Cols));
    }
  });
}

/// Gives a tensor its place; fills it unless the arena came filled.
template <quant Q, std::size_t Rows, std::size_t Cols>
void fill(Tensor<Q, Rows, Cols>& tensor, std::span<const std::byte> data, arena& memory, thread_pool& pool) {
  std::byte* packed = memory.take<std::byte>(tensor.tiles * tile_bytes<Q>(Cols));
  if (memory.owned()) pack<Q, Rows, Cols>(data.data(), packed, pool);
  tensor.packed = packed;
}

template <quant Q, std::size_t Rows, std::size_t Cols>
void fill(FileTensor<Q, Rows, Cols>& tensor, std::span<const std::byte> data, arena&, thread_pool&) {
  tensor.data = data.data();
}

template <std::size_t N>
void fill(Vector<N>& tensor, std::span<const std::byte> data, arena& memory, thread_pool&) {
  float* copy = memory.take<float>(padded(N));
  if (memory.owned()) std::memcpy(copy, data.data(), N * sizeof(float));
  tensor.data = copy;
}

template <ModelConfig C>
void fill_rope_table(Weights<C>& weights, thread_pool& pool) {
  weights.rope_table = weights.memory.template take<float>(limits_of<C>.context * rope_dim<C>);
  if (!weights.memory.owned()) return;
  const float* factors = nullptr;
  if constexpr (C::spec.rope.factors) factors = weights.globals.rope_freqs.data;
  pool.run([&](const worker& thread) noexcept {
    const range mine = thread.share(limits_of<C>.context);
    for (std::size_t p = mine.begin; p < mine.end; ++p) {
      rope_angles(p, static_cast<double>(C::spec.rope.theta), rope_dim<C>, factors,
                  weights.rope_table + p * rope_dim<C>);
    }
  });
}

/// Of everything that decides what stands where in C's arena.
template <ModelConfig C>
std::uint64_t fingerprint_of_model(Weights<C>& weights) {
  fingerprint f;
  for_each_field(C::spec, [&](std::string_view field, const std::string& value) { f.add(field), f.add(value); });
  for_each_weight<C>(weights, [&]<class T>(const std::string& name, T&) {
    f.add(name);
    for (const std::size_t n : {static_cast<std::size_t>(T::format), T::rows, T::cols, T::arena_bytes}) f.add(n);
  });
  f.add(limits_of<C>.context);
  f.add(MemoryPlan<C>::model_arena);
  return f.value();
}

/// What the weights lie in: the model file, and the pack cache where there is one.
struct weight_files {
  std::shared_ptr<const gguf_file> model;
  std::optional<mapped_file> cache;
};

}  // namespace detail

/// Checks and packs. The weights keep `file` alive, since lookup tables stay in it.
/// A pack cache that cannot be written is no error: Weights::cache_failure says why.
/// Throws load_error(config_mismatch) with the list of all differences, what read_spec throws, error(out_of_memory).
template <ModelConfig C>
Weights<C> bind_weights(std::shared_ptr<const gguf_file> file, thread_pool& pool, const load_options& options = {}) {
  Weights<C> weights;
  std::vector<mismatch> found = detail::differences<C>(*file, weights);
  if (!found.empty()) throw load_error(errc::config_mismatch, file->path(), std::move(found));
  const auto files = std::make_shared<detail::weight_files>(std::move(file), std::nullopt);
  weights.source = files;
  const gguf_file& model = *files->model;

  pack_cache_header header{.bytes = MemoryPlan<C>::model_arena};
  std::string cache_path;
  const bool cached = options.pack_cache && model.file().has_file();
  if (cached) {
    header.model = detail::fingerprint_of_model(weights);
    header.source = fingerprint_of(model);
    cache_path = pack_cache_path(model.path(), header.model);
    files->cache = open_pack_cache(cache_path, header);
  }
  if (files->cache) {
    weights.memory = arena::over(files->cache->bytes().subspan(pack_cache_header::page));
  } else {
    weights.memory = arena(MemoryPlan<C>::model_arena);
  }
  std::size_t done = 0;
  detail::for_each_weight<C>(weights, [&]<class T>(const std::string& name, T& tensor) {
    const gguf_tensor& source = *model.find_tensor(name);
    detail::fill(tensor, source.data, weights.memory, pool);
    if constexpr (T::arena_bytes != 0) model.file().dont_need(source.offset, source.bytes);  // copied: drop the pages
    done += source.bytes;
    if (options.progress) options.progress(done, MemoryPlan<C>::weights_in_file);
  });
  detail::fill_rope_table(weights, pool);
  if (cached && !files->cache) {
    try {
      write_pack_cache(cache_path, header, weights.memory.bytes());
    } catch (const load_error& e) {
      weights.cache_failure = e.what();
    }
  }
  return weights;
}

}  // namespace llambda::inline LLAMBDA_ABI
