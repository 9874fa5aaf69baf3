// From a model file to a program compiled for it: generate the config, compile once, keep the result. The key of the
// cache is everything the program depends on: the config (with the file's hash), the options, the library's headers and
// the compiler. A second start finds the program in milliseconds.
#pragma once

#include <llambda/arch/all.hpp>
#include <llambda/config/emit.hpp>
#include <llambda/io/gguf.hpp>

#include <sys/stat.h>

#include <algorithm>
#include <cctype>
#include <optional>

#include "sha256.hpp"
#include "subprocess.hpp"

namespace cli {

namespace fs = std::filesystem;

struct build_options {
  std::string arch = "native";
  std::string compiler;  ///< empty: $CXX, else g++
  llambda::Limits limits{};
  bool embed = false;
};

/// Where the sources of the specialised half are: $LLAMBDA_HOME, or the tree this driver was built from.
struct home {
  fs::path include, cli, main_library;
  std::vector<std::string> system_includes;

  static home find() {
    home h;
    const char* root = std::getenv("LLAMBDA_HOME");
    const fs::path tree = root ? root : LLAMBDA_SOURCE_DIR;
    h.include = tree / "include";
    h.cli = tree / "examples" / "cli";
    h.main_library = LLAMBDA_MAIN_LIBRARY;
    for (const char* dir : {LLAMBDA_XSIMD_INCLUDE, LLAMBDA_HANA_INCLUDE}) {
      if (*dir && std::string_view(dir) != "/usr/include") h.system_includes.push_back(dir);
    }
    for (const fs::path& needed :
         {h.include / "llambda" / "llambda.hpp", h.cli / "model_program.cpp", h.main_library}) {
      if (!fs::exists(needed)) {
        throw std::runtime_error(needed.string() + ": not found; set LLAMBDA_HOME to the library's source tree");
      }
    }
    return h;
  }
};

inline fs::path cache_dir() {
  if (const char* dir = std::getenv("LLAMBDA_CACHE_DIR"); dir && *dir) return dir;
  if (const char* dir = std::getenv("XDG_CACHE_HOME"); dir && *dir) return fs::path(dir) / "llambda";
  if (const char* dir = std::getenv("HOME"); dir && *dir) return fs::path(dir) / ".cache" / "llambda";
  return fs::temp_directory_path() / "llambda-cache";
}

/// Writes the whole file or nothing: a temporary beside it, renamed.
inline void write_file(const fs::path& path, std::string_view text) {
  fs::path temporary = path;
  temporary += ".tmp" + std::to_string(getpid());
  {
    std::ofstream out(temporary, std::ios::binary);
    out << text;
    out.close();
    if (!out) {
      std::error_code ignored;
      fs::remove(temporary, ignored);
      throw std::runtime_error(path.string() + ": cannot be written");
    }
  }
  fs::rename(temporary, path);
}

/// SHA-256 of a model file, remembered by its path, size, inode and time of change.
inline std::string remembered_sha256(const fs::path& file, const fs::path& cache) {
  struct stat s {};
  if (stat(file.c_str(), &s) != 0) throw std::runtime_error(file.string() + ": " + std::strerror(errno));
  const std::string identity = std::to_string(s.st_size) + " " + std::to_string(s.st_ino) + " " +
                               std::to_string(s.st_mtim.tv_sec) + "." + std::to_string(s.st_mtim.tv_nsec) + " ";
  const fs::path note = cache / "sha256" / sha256().add(fs::absolute(file).string()).hex();
  if (std::ifstream in(note); in) {
    std::string line;
    std::getline(in, line);
    if (line.starts_with(identity) && line.size() == identity.size() + 64) return line.substr(identity.size());
  }
  const std::string hash = sha256_of_file(file);
  fs::create_directories(note.parent_path());
  write_file(note, identity + hash + "\n");
  return hash;
}

/// Hash of every header and source that goes into the specialised half, and of the half it is linked with.
inline std::string library_hash(const home& h) {
  std::vector<fs::path> files{h.cli / "model_program.cpp", h.cli / "program.hpp", h.main_library};
  for (const auto& entry : fs::recursive_directory_iterator(h.include)) {
    if (entry.is_regular_file()) files.push_back(entry.path());
  }
  std::sort(files.begin(), files.end());
  sha256 all;
  for (const fs::path& f : files) all.add(f.filename().string()).add(read_text(f.string()));
  return all.hex();
}

inline std::string identifier(const std::string& stem) {
  std::string out = "model_";
  for (char c : stem) out += std::isalnum(static_cast<unsigned char>(c)) ? c : '_';
  return out;
}

inline std::vector<std::string> arch_flags(const std::string& arch) {
  if (arch == "avx2") return {"-mavx2", "-mfma", "-mf16c", "-mbmi2"};
  if (arch == "avxvnni") return {"-mavx2", "-mfma", "-mf16c", "-mbmi2", "-mavxvnni"};
  if (arch == "avx512vnni") {
    return {"-mavx512f", "-mavx512bw", "-mavx512dq", "-mavx512vl", "-mavx512vnni", "-mfma", "-mf16c", "-mbmi2"};
  }
  if (arch == "avx512") return {"-mavx512f", "-mavx512bw", "-mavx512dq", "-mavx512vl", "-mfma", "-mf16c", "-mbmi2"};
  return {"-march=native"};
}

inline std::string assembler_path(const std::string& path) {
  std::string out;
  for (char c : path) out += (c == '"' || c == '\\') ? std::string{'\\', '\\', '\\', c} : std::string{c};
  return out;
}

/// What -march=native means here: the first "flags" line of the kernel's description, empty where there is none.
inline std::string cpu_flags() {
  std::ifstream in("/proc/cpuinfo");
  for (std::string line; std::getline(in, line);) {
    if (line.starts_with("flags")) return line;
  }
  return {};
}

/// Path of the program for `model`, compiled now or before. Throws load_error for a file that cannot be run (before any
/// compiler starts) and std::runtime_error with the compiler's words when it fails.
inline fs::path build_model(const fs::path& model, const build_options& o) {
  const llambda::gguf_file file = llambda::gguf_file::open(model.string());
  const llambda::ModelSpec spec = llambda::read_spec(file);
  if (!llambda::rules::heads_fit_kv(spec, o.limits.kv)) {
    throw std::runtime_error(model.string() + ": a KV cache in q8_0 needs a head_dim that is a multiple of 32, found " +
                             std::to_string(llambda::rules::head_dim(spec)) + "; choose another --kv");
  }
  const home h = home::find();
  const fs::path cache = cache_dir();
  const char* environment = std::getenv("CXX");
  const std::string compiler = !o.compiler.empty() ? o.compiler : environment && *environment ? environment : "g++";
  const finished version = run_program({compiler, "--version"}, [] {});
  if (version.code != 0) throw std::runtime_error(compiler + ": cannot be run");

  llambda::emit_options emit{identifier(model.stem().string()), model.filename().string(),
                             remembered_sha256(model, cache), o.limits};
  const std::string header = llambda::emit_config(spec, emit);
  std::vector<std::string> command{compiler, "-std=c++20", "-O3", "-DNDEBUG", "-pthread", "-ffp-contract=off"};
  for (const std::string& flag : arch_flags(o.arch)) command.push_back(flag);
  sha256 key;
  key.add(header).add(library_hash(h)).add(version.output).add(o.embed ? "embed" : fs::absolute(model).string());
  for (const std::string& word : command) key.add(word).add(" ");
  if (o.arch == "native") key.add(cpu_flags());
  const fs::path dir = cache / key.hex().substr(0, 32);
  const fs::path binary = dir / "model";
  if (fs::exists(binary)) return binary;

  fs::create_directories(dir);
  write_file(dir / "config.hpp", header);
  command.insert(command.end(),
                 {"-I" + h.include.string(), "-DLLAMBDA_MODEL_HEADER=\"" + (dir / "config.hpp").string() + "\"",
                  "-DLLAMBDA_MODEL_TYPE=" + emit.type_name});
  for (const std::string& include : h.system_includes) command.insert(command.end(), {"-isystem", include});
  command.push_back((h.cli / "model_program.cpp").string());
  if (o.embed) {
    std::string source = read_text((h.cli / "embed.cpp.in").string());
    const std::string mark = "@LLAMBDA_EMBED_FILE@";
    source.replace(source.find(mark), mark.size(), assembler_path(fs::absolute(model).string()));
    write_file(dir / "embed.cpp", source);
    command.insert(command.end(), {"-DLLAMBDA_MODEL_EMBEDDED", (dir / "embed.cpp").string()});
  } else {
    command.push_back("-DLLAMBDA_MODEL_PATH=\"" + fs::absolute(model).string() + "\"");
  }
  const fs::path temporary = dir / ("model.tmp" + std::to_string(getpid()));
  command.insert(command.end(), {h.main_library.string(), "-o", temporary.string()});

  progress_line line("compiling a program for " + std::string(spec.name) + ",");
  const auto start = std::chrono::steady_clock::now();
  const finished result = run_program(command, [&] {
    const std::chrono::duration<double> passed = std::chrono::steady_clock::now() - start;
    line.text(fixed(passed.count(), 0) + " s");
  });
  line.clear();
  if (result.code != 0) {
    std::error_code ignored;
    fs::remove(temporary, ignored);
    throw std::runtime_error("the compiler failed:\n" + result.output);
  }
  fs::rename(temporary, binary);
  return binary;
}

}  // namespace cli
