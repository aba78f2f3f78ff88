// Classes of operations in results: by the size of reads and writes, by failure and divergence.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "traces/operation.h"

namespace filereel {

// Reads and writes are classified by the requested bytes: up to 4 KiB, 16 KiB, 64 KiB, 256 KiB, 1
// MiB, and more.
inline constexpr std::size_t kSizeClasses = 6;
constexpr std::size_t size_class(std::uint64_t bytes) noexcept {
  const auto bits = static_cast<std::size_t>(std::bit_width(bytes - (bytes > 0 ? 1 : 0)));
  return bits <= 12 ? 0 : std::min<std::size_t>((bits - 11) / 2, kSizeClasses - 1);
}
// The maximum size of a class; 0: unlimited.
constexpr std::uint64_t most_of_class(std::size_t size_class) noexcept {
  return size_class + 1 < kSizeClasses ? std::uint64_t{4096} << (2 * size_class) : 0;
}
constexpr bool has_sizes(OperationKind kind) noexcept {
  return kind == OperationKind::read || kind == OperationKind::write;
}

// The class of a divergence.
enum class DivergenceClass : std::uint8_t {
  mismatch,     // a true mismatch
  consequence,  // of an earlier divergence on the same file or name
  limit,        // a limit of the target: unsupported, full, too large, name too long
  content,      // the data read differs from the data written
};
inline constexpr std::size_t kDivergenceClasses = 4;
std::string_view divergence_class_name(DivergenceClass kind);  // "mismatch", …

// Whether the operation is about extended attributes.
bool is_about_attributes(OperationKind kind);

// Whether the error means that the file system or the machine lacks a feature or a resource.
bool is_unsupported(OperationKind kind, int error);

// Whether the volume did not do the work of an operation that succeeds in the trace, which makes a
// measurement incomplete. Errors about the names that exist, and about what another thread holds,
// are not the volume's: they are divergences only. So are attributes that the file system lacks,
// which are counted as downgrades (docs/file-systems.md).
bool is_failed_call(const Operation& operation, std::int64_t result) noexcept;

}  // namespace filereel
