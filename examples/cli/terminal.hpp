// What the commands share: progress on a terminal (nothing in a pipe), text to stdout that notices a closed pipe,
// numbers in words, exit codes, Ctrl-C.
#pragma once

#include <unistd.h>
#include <atomic>
#include <csignal>
#include <cstddef>
#include <cstdio>
#include <fstream>
#include <iterator>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace cli {

/// Exit codes: 0 done, 1 failed (message on stderr), 2 bad usage, 69 the CPU cannot run it, 130 interrupted.
inline constexpr int exit_failed = 1, exit_usage = 2, exit_interrupted = 130;

/// "1.5 GiB", "312 KiB", "17 B".
inline std::string human_bytes(std::size_t bytes) {
  static constexpr const char* unit[] = {"B", "KiB", "MiB", "GiB", "TiB"};
  double value = static_cast<double>(bytes);
  std::size_t u = 0;
  for (; value >= 1024 && u < 4; ++u) value /= 1024;
  char text[32];
  std::snprintf(text, sizeof text, u == 0 ? "%.0f %s" : "%.1f %s", value, unit[u]);
  return text;
}

inline std::string fixed(double value, int digits) {
  char text[64];
  std::snprintf(text, sizeof text, "%.*f", digits, value);
  return text;
}

/// The entries of a memory plan and their sum, on stdout.
inline void print_plan(const std::vector<std::pair<std::string, std::size_t>>& entries, std::size_t total) {
  const auto row = [](const char* name, std::size_t bytes) {
    std::printf("%-16s %16zu  %10s\n", name, bytes, human_bytes(bytes).c_str());
  };
  for (const auto& [name, bytes] : entries) row(name.c_str(), bytes);
  row("total", total);
}

/// A line on stderr that is rewritten in place; silent unless stderr is a terminal.
class progress_line {
 public:
  explicit progress_line(std::string what) : what_(std::move(what)), shown_(isatty(STDERR_FILENO) != 0) {}
  ~progress_line() { clear(); }
  progress_line(const progress_line&) = delete;
  progress_line& operator=(const progress_line&) = delete;

  void update(std::size_t done, std::size_t total) {
    if (!shown_ || total == 0) return;
    const int percent = static_cast<int>(static_cast<double>(done) * 100.0 / static_cast<double>(total));
    if (percent == last_) return;
    last_ = percent;
    const std::string bar(static_cast<std::size_t>(percent / 5), '#');
    std::fprintf(stderr, "\r%s [%-20s] %3d%%", what_.c_str(), bar.c_str(), percent);
  }
  void text(const std::string& state) {
    if (shown_) std::fprintf(stderr, "\r\x1b[K%s %s", what_.c_str(), state.c_str()), last_ = 0;
  }
  void clear() {
    if (shown_ && last_ >= 0) std::fprintf(stderr, "\r\x1b[K");
    last_ = -1;
  }

 private:
  std::string what_;
  bool shown_;
  int last_ = -1;
};

/// Writes text to stdout at once; false when nobody reads any more.
inline bool write_text(std::string_view text) {
  return std::fwrite(text.data(), 1, text.size(), stdout) == text.size() && std::fflush(stdout) == 0;
}

/// Set by Ctrl-C; a second Ctrl-C ends the process.
inline std::atomic<bool> interrupted{false};

inline void handle_signals() {
  std::signal(SIGPIPE, SIG_IGN);
  std::signal(SIGINT, [](int) {
    if (interrupted.exchange(true)) _exit(exit_interrupted);
  });
}

/// Whole file as bytes; "-" is stdin.
inline std::string read_text(const std::string& path) {
  if (path == "-") {
    std::string text;
    char block[65536];
    for (std::size_t n; (n = std::fread(block, 1, sizeof block, stdin)) > 0;) text.append(block, n);
    return text;
  }
  std::ifstream in(path, std::ios::binary);
  std::string text{std::istreambuf_iterator<char>(in), {}};
  if (in.bad() || !in.is_open()) throw std::runtime_error(path + ": cannot be read");
  return text;
}

}  // namespace cli
