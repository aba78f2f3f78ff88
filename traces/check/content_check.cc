#include "traces/check/content_check.h"

#include <array>
#include <cstddef>
#include <string_view>

#include <fmt/format.h>
#include <unistd.h>

#include "filesets/system/descriptor.h"
#include "traces/check/hole_check.h"

namespace filereel {

ContentDifference content_difference(int directory, const std::string& name,
                                     const ContentSamples::OfFile& samples,
                                     const std::function<bool()>& is_late) {
  ContentDifference found;
  if (samples.empty()) return found;
  const Descriptor file = open_for_check(directory, name);
  if (!file) {
    found.complete = false;
    return found;
  }
  std::array<char, ContentSamples::kBytes> bytes{};
  for (const auto& [offset, sample] : samples) {
    const ssize_t length =
        is_late() ? -1 : pread(file.get(), bytes.data(), sample.length, static_cast<off_t>(offset));
    if (length < 0) {
      found.complete = false;
      return found;
    }
    ++found.writes;
    const std::string_view real(bytes.data(), static_cast<std::size_t>(length));
    if (real.size() == sample.length && ContentSamples::hash(real) == sample.hash) continue;
    found.text = fmt::format("has other content at byte {} than the recording wrote", offset);
    return found;
  }
  return found;
}

}  // namespace filereel
