#include "traces/operation.h"

#include <array>

#include <fmt/format.h>

#include "filesets/error.h"

namespace filereel {

const OperationInfo& operation_info(OperationKind kind) {
  static constexpr std::array<OperationInfo, kOperationKinds> kTable = {{
      {"mkdir", false, true},
      {"rmdir", false, true},
      {"open", false, true},
      {"close", false, true},
      {"read", true, true},
      {"write", true, true},
      {"truncate", false, true},
      {"copy_range", true, true},
      {"unlink", false, true},
      {"symlink", false, true},
      {"link", false, true},
      {"barrier", false, false},
  }};
  return kTable[static_cast<std::size_t>(kind)];
}

namespace {
constexpr std::array<std::string_view, 4> kCopyMethods = {"readwrite", "copy_file_range", "reflink",
                                                          "sendfile"};
}

std::string_view copy_method_name(CopyMethod method) {
  return kCopyMethods[static_cast<std::size_t>(method)];
}

CopyMethod parse_copy_method(std::string_view name) {
  for (std::size_t i = 0; i < kCopyMethods.size(); ++i) {
    if (kCopyMethods[i] == name) return static_cast<CopyMethod>(i);
  }
  throw Error(
      ErrorKind::usage,
      fmt::format("there is no copy method '{}': use readwrite, copy_file_range, reflink or "
                  "sendfile",
                  name));
}

}  // namespace filereel
