// The engines by name, and whether io_uring is available.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace filereel {

enum class EngineKind : std::uint8_t { blocking, uring, null };

std::string_view engine_name(EngineKind kind);
std::span<const std::string_view> engine_names();
// Throws Error(usage) naming the engines.
EngineKind parse_engine(std::string_view name);
// Nothing, or why io_uring is unavailable and what to do.
std::optional<std::string> uring_unavailable_reason();
// Nothing, or why completions of requests to files below `directory` cannot be polled.
std::optional<std::string> polling_unavailable_reason(int directory);

}  // namespace filereel
