#include "filesets/ownership/output_stream.h"

#include <array>
#include <climits>
#include <cstdlib>
#include <initializer_list>
#include <string_view>

#include <boost/filesystem.hpp>
#include <errno.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "filesets/ownership/file_state.h"
#include "filesets/system/descriptor.h"
#include "filesets/system/error.h"
#include "filesets/system/numbers.h"
#include "filesets/system/paths.h"
#include "filesets/system/printable.h"

namespace filereel {
namespace {

namespace fs = boost::filesystem;

[[noreturn]] void fail(const std::string& path, std::string_view what) {
  throw_failed(fmt::format("{}: {}", path, what));
}

// Shares the position with the descriptor that was passed to filereel.
Descriptor share(const std::string& path, int number) {
  const int flags = fcntl(number, F_GETFL);
  if (flags < 0) fail(path, fmt::format("descriptor {} is not open; name a file", number));
  if ((flags & O_ACCMODE) == O_RDONLY || (flags & O_PATH) != 0) {
    fail(path, fmt::format("descriptor {} is not open for writing; name a file", number));
  }
  constexpr int kAboveStandard = 3;
  Descriptor copy(fcntl(number, F_DUPFD_CLOEXEC, kAboveStandard));
  if (!copy) fail(path, strerror(errno));
  return copy;
}

void refuse_blocks(const std::string& path, mode_t mode) {
  if (S_ISBLK(mode)) fail(path, "is a block device, whose content would be lost; name a file");
}

Descriptor collecting_file() {
  Descriptor file;
  for (const char* const folder : {static_cast<const char*>(std::getenv("TMPDIR")), "/tmp"}) {
    if (!file && folder) file.reset(open(folder, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600));
  }
  if (!file) file.reset(memfd_create("output", MFD_CLOEXEC));
  if (!file) throw_failed(fmt::format("cannot create a temporary file: {}", strerror(errno)));
  return file;
}

}  // namespace

std::optional<int> own_descriptor(const std::string& path) {
  if (path == "-") return STDOUT_FILENO;
  const std::string process = canonical_path("/proc/self");
  if (process.empty()) return std::nullopt;
  constexpr int kMostLinks = 40;  // as in the kernel
  boost::system::error_code error;
  fs::path at = absolute_path(path);
  for (int links = 0; !error && links < kMostLinks; ++links) {
    const fs::path folder = canonical_path(at.parent_path().string());
    if (folder.empty()) return std::nullopt;
    if (folder.string().starts_with(process + "/") && folder.filename() == "fd") {
      return parse_number_in<int>(at.filename().string(), 0, INT_MAX);
    }
    const fs::path target = fs::read_symlink(folder / at.filename(), error);
    at = target.is_absolute() ? target : folder / target;
  }
  return std::nullopt;
}

bool names_stream(const std::string& path) {
  if (own_descriptor(path)) return true;
  struct stat info{};
  return stat(path.c_str(), &info) == 0 && !S_ISREG(info.st_mode) && !S_ISDIR(info.st_mode);
}

Descriptor open_stream(const std::string& path) {
  struct stat info{};
  if (const std::optional<int> number = own_descriptor(path)) {
    Descriptor copy = share(path, *number);
    if (fstat(copy.get(), &info) == 0) refuse_blocks(path, info.st_mode);
    return copy;
  }
  if (stat(path.c_str(), &info) != 0) fail(path, strerror(errno));
  refuse_blocks(path, info.st_mode);
  if (S_ISSOCK(info.st_mode)) {
    fail(path, "is a socket, which cannot be opened; name a file or a pipe");
  }
  Descriptor opened(open(path.c_str(), O_WRONLY | O_NOCTTY | O_CLOEXEC));
  if (!opened)
    fail(path, fmt::format("cannot write to {}: {}", name_of_kind(info.st_mode), strerror(errno)));
  return opened;
}

OutputStream::OutputStream(const std::string& path) : path_(path) {
  struct stat info{};
  const bool pipe =
      !own_descriptor(path) && stat(path.c_str(), &info) == 0 && S_ISFIFO(info.st_mode);
  if (!pipe) {
    stream_ = open_stream(path);
  } else if (faccessat(AT_FDCWD, path.c_str(), W_OK, AT_EACCESS) != 0) {
    fail(path, fmt::format("cannot write to {}: {}", name_of_kind(info.st_mode), strerror(errno)));
  }
  collected_ = collecting_file();
}

void OutputStream::send() {
  if (!stream_) stream_ = open_stream(path_);
  const bool terminal = isatty(stream_.get()) != 0;
  std::array<char, 1 << 16> buffer;
  std::string whole;  // a character may begin in one part and end in the next
  for (off_t at = 0;;) {
    const ssize_t size = pread(collected_.get(), buffer.data(), buffer.size(), at);
    if (size < 0) fail(path_, strerror(errno));
    if (size == 0) break;
    const std::string_view part(buffer.data(), static_cast<std::size_t>(size));
    at += size;
    const int error = terminal ? 0 : write_to(stream_.get(), part);
    if (error != 0) fail(path_, fmt::format("cannot write: {}", strerror(error)));
    if (terminal) whole += part;
  }
  const int error = terminal ? write_to(stream_.get(), printable_lines(whole)) : 0;
  if (error != 0) fail(path_, fmt::format("cannot write: {}", strerror(error)));
  stream_.reset();
}

}  // namespace filereel
