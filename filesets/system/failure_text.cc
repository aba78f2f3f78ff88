#include "filesets/system/failure_text.h"

#include <cerrno>
#include <cstring>
#include <new>
#include <system_error>

#include <boost/filesystem/exception.hpp>
#include <fmt/format.h>
#include <zstd.h>
#include <zstd_errors.h>

#include "filesets/system/error.h"
#include "filesets/system/limits.h"
#include "filesets/system/printable.h"
#include "filesets/system/privileges.h"

namespace filereel {
namespace {

std::string text_of(const boost::filesystem::filesystem_error& failure) {
  std::string paths;
  for (const auto& path : {failure.path1(), failure.path2()}) {
    if (!path.empty()) paths += fmt::format(" '{}'", printable_line(path.string()));
  }
  return fmt::format("cannot access{}: {}; check that it exists and is yours to use",
                     paths.empty() ? " the working directory" : paths,
                     std::strerror(failure.code().value()));
}

}  // namespace

std::string failure_text(const std::exception& failure) {
  if (dynamic_cast<const Error*>(&failure) != nullptr) return failure.what();
  if (dynamic_cast<const std::bad_alloc*>(&failure) != nullptr) {
    return "out of memory; " + memory_limit().text();
  }
  if (const auto* files = dynamic_cast<const boost::filesystem::filesystem_error*>(&failure)) {
    return text_of(*files);
  }
  if (const auto* refused = dynamic_cast<const std::system_error*>(&failure)) {
    const int error = refused->code().value();
    const std::string denied = error == EPERM || error == ENOSYS ? denial("clone3") : "";
    if (!denied.empty()) return fmt::format("cannot start a thread: {}", denied);
    return fmt::format("the system refused: {}", start_error_text(error, ""));
  }
  return "filereel itself failed, which is a bug; report it with this command and its files";
}

std::string_view zstd_failure(std::size_t code) {
  switch (ZSTD_getErrorCode(code)) {
    case ZSTD_error_memory_allocation:
      throw std::bad_alloc();
    case ZSTD_error_prefix_unknown:
      return "these bytes begin no zstd data";
    case ZSTD_error_version_unsupported:
    case ZSTD_error_frameParameter_unsupported:
      return "a newer zstd wrote the data";
    case ZSTD_error_frameParameter_windowTooLarge:
      return "the data needs too much memory";
    case ZSTD_error_checksum_wrong:
      return "the checksum is wrong";
    case ZSTD_error_dictionary_corrupted:
    case ZSTD_error_dictionary_wrong:
      return "the data needs a dictionary";
    default:
      return "the data is damaged";
  }
}

}  // namespace filereel
