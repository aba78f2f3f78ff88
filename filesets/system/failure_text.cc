#include "filesets/system/failure_text.h"

#include <cerrno>
#include <cstring>
#include <new>
#include <system_error>

#include <boost/filesystem/exception.hpp>
#include <fmt/format.h>

#include "filesets/system/error.h"
#include "filesets/system/limits.h"
#include "filesets/system/printable.h"
#include "filesets/system/sandbox.h"

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

}  // namespace filereel
