#include "traces/reel/reel_input.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include "filesets/system/error.h"
#include "filesets/system/limits.h"
#include "traces/reel/bytes.h"

namespace filereel {

ReelInput::ReelInput(const std::string& path)
    : name_(path), file_(::open(path.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC)) {
  const auto cannot_read = [&](int error) {
    throw Error(ErrorKind::failed, fmt::format("cannot read {}: {}", path, error_text(error)));
  };
  if (!file_) cannot_read(errno);
  struct stat status;
  if (::fstat(file_.get(), &status) != 0) cannot_read(errno);
  if (!S_ISREG(status.st_mode)) {
    throw Error(ErrorKind::unusable_input,
                fmt::format("{}: not a regular file; a reel must be a regular file", path));
  }
  size_ = static_cast<std::uint64_t>(status.st_size);
}

ReelInput::ReelInput(std::span<const std::byte> bytes, std::string name)
    : name_(std::move(name)), bytes_(bytes), size_(bytes.size()) {}

void ReelInput::read(std::uint64_t offset, std::span<std::byte> out) const {
  if (!file_) {
    std::ranges::copy(bytes_.subspan(offset, out.size()), out.begin());
    return;
  }
  while (!out.empty()) {
    const ssize_t got = ::pread(file_.get(), out.data(), out.size(), static_cast<off_t>(offset));
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) {
      throw Error(ErrorKind::failed,
                  fmt::format("{}: cannot read at byte {}: {}", name_, offset,
                              got == 0 ? "unexpected end of file" : error_text(errno)));
    }
    out = out.subspan(static_cast<std::size_t>(got));
    offset += static_cast<std::uint64_t>(got);
  }
}

BlockHeader ReelInput::block_header(std::uint64_t offset, std::uint64_t end) const {
  if (end - offset < kBlockHeaderSize) throw Damage("unexpected end of file in a block");
  std::array<std::byte, kBlockHeaderSize> bytes;
  read(offset, bytes);
  const BlockHeader header = parse_block_header(bytes);
  if (header.size > end - offset - kBlockHeaderSize)
    throw Damage("unexpected end of file in a block");
  return header;
}

std::span<const std::byte> ReelInput::block(std::uint64_t offset, const BlockHeader& header) {
  if (block_.size() < header.size) block_.resize(header.size);
  const std::span bytes(block_.data(), header.size);
  read(offset + kBlockHeaderSize, bytes);
  const std::string_view view(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  if (block_checksum(header, view) != header.checksum) {
    throw Damage("checksum mismatch in a block");
  }
  return bytes;
}

void ReelInput::fail(std::uint64_t offset, std::string_view text) const {
  throw Error(
      ErrorKind::unusable_input,
      fmt::format("{}: byte {}: corrupt reel: {}; copy it again from its source, or record again",
                  name_, offset, text));
}

void ReelInput::fail_foreign() const {
  throw Error(
      ErrorKind::unusable_input,
      fmt::format("{}: byte 0: not a reel; convert other programs' traces with filereel import",
                  name_));
}

void ReelInput::fail_version(std::uint32_t version) const {
  throw Error(
      ErrorKind::unusable_input,
      fmt::format(
          "{}: byte {}: unsupported reel format version {}: expected 1 to {}; use a newer filereel",
          name_, kReelMagic.size(), version, kReelFormatVersion));
}

}  // namespace filereel
