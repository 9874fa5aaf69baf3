// SHA-256 by OpenSSL, of texts and of whole files with progress.
#pragma once

#include <openssl/evp.h>

#include <cstdint>
#include <filesystem>
#include <memory>

#include "terminal.hpp"

namespace cli {

class sha256 {
 public:
  sha256() : context_(EVP_MD_CTX_new(), EVP_MD_CTX_free) {
    if (!context_ || EVP_DigestInit_ex(context_.get(), EVP_sha256(), nullptr) != 1) {
      throw std::runtime_error("SHA-256 is not available");
    }
  }
  sha256& add(std::string_view bytes) {
    EVP_DigestUpdate(context_.get(), bytes.data(), bytes.size());
    return *this;
  }
  /// Hexadecimal digest; the object is used up.
  std::string hex() {
    unsigned char digest[EVP_MAX_MD_SIZE];
    unsigned length = 0;
    EVP_DigestFinal_ex(context_.get(), digest, &length);
    std::string text;
    for (unsigned i = 0; i < length; ++i) {
      static constexpr char digits[] = "0123456789abcdef";
      text += {digits[digest[i] >> 4], digits[digest[i] & 15]};
    }
    return text;
  }

 private:
  std::unique_ptr<EVP_MD_CTX, void (*)(EVP_MD_CTX*)> context_;
};

inline std::string sha256_of_file(const std::filesystem::path& path) {
  std::ifstream in(path, std::ios::binary);
  if (!in) throw std::runtime_error(path.string() + ": cannot be read");
  const std::uintmax_t total = std::filesystem::file_size(path);
  progress_line line("reading " + path.filename().string());
  sha256 hash;
  std::string block(std::size_t{1} << 20, '\0');
  std::size_t done = 0;
  while (in.read(block.data(), static_cast<std::streamsize>(block.size())) || in.gcount() > 0) {
    hash.add(std::string_view(block).substr(0, static_cast<std::size_t>(in.gcount())));
    line.update(done += static_cast<std::size_t>(in.gcount()), static_cast<std::size_t>(total));
  }
  if (in.bad()) throw std::runtime_error(path.string() + ": cannot be read");
  return hash.hex();
}

}  // namespace cli
