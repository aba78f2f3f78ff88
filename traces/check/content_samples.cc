#include "traces/check/content_samples.h"

#include <algorithm>
#include <iterator>

#include <fcntl.h>
#include <linux/falloc.h>
#include <sys/mman.h>
#include <xxhash.h>

namespace filereel {
namespace {

constexpr unsigned kMapShift = 8;  // of MAP_* in the flags of a map operation

}  // namespace

std::uint64_t ContentSamples::hash(std::string_view bytes) {
  return XXH3_64bits(bytes.data(), bytes.size());
}

bool ContentSamples::erase(File& file, std::uint64_t begin, std::uint64_t end, std::uint32_t thread,
                           std::uint64_t start_ns) {
  bool is_ambiguous = false;
  auto at = file.samples.lower_bound(begin - std::min<std::uint64_t>(begin, kBytes));
  while (at != file.samples.end() && at->first < end) {
    if (at->first + at->second.length <= begin) {
      ++at;
      continue;
    }
    is_ambiguous |= at->second.thread != thread && at->second.end_ns > start_ns;
    at = file.samples.erase(at);
    --count_;
  }
  return is_ambiguous;
}

void ContentSamples::replace(File& file, const RecordedOperation& recorded) {
  const Operation& operation = recorded.operation;
  const auto length = static_cast<std::uint64_t>(operation.expected);
  const bool is_ambiguous =
      erase(file, operation.offset, operation.offset + length, operation.thread, recorded.start_ns);
  const std::string_view known = recorded.data.substr(0, std::min<std::uint64_t>(length, kBytes));
  if (known.empty() || is_ambiguous || file.is_mapped || count_ == kMost) return;
  file.samples[operation.offset] = {.length = static_cast<std::uint8_t>(known.size()),
                                    .thread = operation.thread,
                                    .hash = hash(known),
                                    .end_ns = recorded.start_ns + recorded.duration_ns};
  ++count_;
}

void ContentSamples::add(const RecordedOperation& recorded) {
  using enum OperationKind;
  const Operation& operation = recorded.operation;
  if (operation.entry == kNoFileId || operation.expected < 0) return;
  const auto erase_from = [&](std::uint64_t begin, std::uint64_t end = UINT64_MAX) {
    const auto file = files_.find(operation.entry);
    if (file != files_.end()) erase(file->second, begin, end, operation.thread, UINT64_MAX);
  };
  switch (operation.kind) {
    case write:
    case copy_range:
      if (operation.expected > 0) replace(files_[operation.entry], recorded);
      return;
    case open:
      if ((operation.flags & O_TRUNC) != 0) erase_from(0);
      return;
    case truncate:
      return erase_from(operation.offset);
    case allocate:
      if ((operation.flags & (FALLOC_FL_COLLAPSE_RANGE | FALLOC_FL_INSERT_RANGE)) != 0) {
        erase_from(operation.offset);
      } else if ((operation.flags & (FALLOC_FL_PUNCH_HOLE | FALLOC_FL_ZERO_RANGE)) != 0) {
        erase_from(operation.offset, operation.offset + operation.length);
      }
      return;
    case map:
      if ((operation.flags >> kMapShift & MAP_SHARED) == 0) return;
      erase_from(0);
      files_[operation.entry].is_mapped = true;
      return;
    default:
      return;
  }
}

const ContentSamples::OfFile* ContentSamples::of(FileId file) const {
  const auto found = files_.find(file);
  return found == files_.end() ? nullptr : &found->second.samples;
}

}  // namespace filereel
