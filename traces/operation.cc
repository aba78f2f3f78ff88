#include "traces/operation.h"

#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "filesets/system/error.h"
#include "filesets/system/printable.h"
#include "filesets/system/wording.h"

namespace filereel {
namespace {

using enum Field;
using enum Comparison;

// Indexed by OperationKind.
constexpr std::array<OperationInfo, kOperationKinds> kTable = {{
    {"mkdir", path | mode, exact, false, true},
    {"rmdir", path, exact, false, true},
    {"open", path | file | flags | mode, exact, false, true},
    {"close", file, exact, false, true},
    {"read", file | offset | length, exact, true, true},
    {"write", file | offset | length, exact, true, true},
    {"truncate", target | offset, exact, false, true},
    {"copy_range", file | source | offset | second | length | method, exact, true, true},
    {"unlink", path, exact, false, true},
    {"symlink", path | text, exact, false, true},
    {"link", path | file | old_path, exact, false, true},
    {"barrier", none, nothing, false, false},
    {"rename", path | old_path | flags, exact, false, true},
    {"mknod", path | mode, nothing, false, false},
    {"fallocate", file | flags | offset | length, exact, false, true},
    {"fsync", file, exact, false, true},
    {"fdatasync", file, exact, false, true},
    {"sync_file_range", file | flags | offset | length, exact, false, true},
    {"syncfs", file, exact, false, true},
    {"stat", target | mode | length, exact, false, true},
    {"statfs", target, exact, false, true},
    {"access", path | mode, exact, false, true},
    {"readlink", path | text, success, false, true},
    {"getdents", file | offset | length, success, false, true},
    {"seek", file | flags | offset, success, false, true},
    {"chmod", target | mode, exact, false, true},
    {"chown", target | offset | second, nothing, false, true},
    {"utimens", target | offset | second, exact, false, true},
    {"getxattr", target | text | length, success, false, true},
    {"setxattr", target | text | length | flags, exact, false, true},
    {"listxattr", target | length, success, false, true},
    {"removexattr", target | text, exact, false, true},
    {"fadvise", file | flags | offset | length, nothing, false, true},
    {"readahead", file | offset | length, nothing, false, true},
    {"lock", file | flags | offset | length, exact, false, true},
    {"mmap", file | source | flags | offset | length, exact, false, true},
    {"munmap", source, exact, false, true},
    {"msync", source | flags | offset | length, exact, false, true},
    {"fault", source | flags | offset | length, exact, false, true},
    {"chdir", path, exact, false, true},
    {"set_flags", file | flags, exact, false, true},
    {"fork", second, nothing, false, false},
    {"exec", path, exact, false, true},
    {"join", second, nothing, false, false},
    {"exit", none, nothing, false, false},
    {"reap", length, nothing, false, true},
    {"await", source | second, nothing, false, false},
    {"pace", flags | offset, nothing, false, false},
    {"wait", flags | length | second, nothing, false, false},
    {"wake", second, nothing, false, false},
}};

constexpr std::array<std::string_view, 5> kCopyMethods = {"readwrite", "copy_file_range", "reflink",
                                                          "sendfile", "splice"};

}  // namespace

const OperationInfo& operation_info(OperationKind kind) {
  return kTable[static_cast<std::size_t>(kind)];
}

bool find_operation_kind(std::string_view name, OperationKind& kind) {
  const auto found = std::ranges::find(kTable, name, &OperationInfo::name);
  if (found == kTable.end()) return false;
  kind = static_cast<OperationKind>(found - kTable.begin());
  return true;
}

std::string_view copy_method_name(CopyMethod method) {
  return kCopyMethods[static_cast<std::size_t>(method)];
}

CopyMethod parse_copy_method(std::string_view name) {
  for (std::size_t i = 0; i < kCopyMethods.size(); ++i) {
    if (kCopyMethods[i] == name) return static_cast<CopyMethod>(i);
  }
  const std::span<const std::string_view> ours(kCopyMethods.data(), kCopyMethods.size() - 1);
  throw Error(ErrorKind::usage, fmt::format("unknown copy method '{}'{}", printable(name),
                                            use_one_of(name, ours)));  // no splice: traces only
}

}  // namespace filereel
