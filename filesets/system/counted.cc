#include "filesets/system/counted.h"

#include <fmt/format.h>

namespace filereel {

std::string_view agreeing(std::uint64_t count, std::string_view one, std::string_view many) {
  return count == 1 ? one : many;
}

std::string counted(std::uint64_t count, std::string_view one, std::string_view many) {
  return fmt::format("{} {}", count, agreeing(count, one, many));
}

std::string counted(std::uint64_t count, std::string_view noun) {
  return fmt::format("{} {}{}", count, noun, agreeing(count, "", "s"));
}

std::string counted_of(std::uint64_t count, std::uint64_t all, std::string_view noun) {
  return fmt::format("{} of {}", count, counted(all, noun));
}

}  // namespace filereel
