#include "traces/check/content_samples.h"

#include <algorithm>

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

void ContentSamples::erase(File& file, std::uint64_t begin, std::uint64_t end) {
  auto at = file.samples.lower_bound(begin - std::min<std::uint64_t>(begin, kBytes));
  while (at != file.samples.end() && at->first < end) {
    if (at->first + at->second.length <= begin) {
      ++at;
      continue;
    }
    at = file.samples.erase(at);
    --count_;
  }
}

bool ContentSamples::is_ambiguous(File& file, const Write& write, std::uint64_t start_ns) {
  std::erase_if(file.recent, [&](const Write& one) {
    return one.thread == write.thread || one.end_ns <= start_ns;
  });
  const bool found = std::ranges::any_of(file.recent, [&](const Write& one) {
    return one.begin < write.end && write.begin < one.end;
  });
  file.recent.push_back(write);
  return found;
}

void ContentSamples::replace(File& file, const RecordedOperation& recorded) {
  const Operation& operation = recorded.operation;
  const auto length = static_cast<std::uint64_t>(operation.expected);
  const Write write{.begin = operation.offset,
                    .end = operation.offset + length,
                    .thread = operation.thread,
                    .end_ns = recorded.start_ns + recorded.duration_ns};
  erase(file, write.begin, write.end);
  const bool is_unknown = is_ambiguous(file, write, recorded.start_ns);
  const std::string_view known = recorded.data.substr(0, std::min<std::uint64_t>(length, kBytes));
  if (known.empty() || is_unknown || file.is_mapped || count_ == kMost) return;
  file.samples[operation.offset] = {.length = static_cast<std::uint8_t>(known.size()),
                                    .hash = hash(known)};
  ++count_;
}

void ContentSamples::add(const RecordedOperation& recorded) {
  using enum OperationKind;
  const Operation& operation = recorded.operation;
  if (operation.entry == kNoFileId || operation.expected < 0) return;
  const auto erase_from = [&](std::uint64_t begin, std::uint64_t end = UINT64_MAX) {
    const auto file = files_.find(operation.entry);
    if (file != files_.end()) erase(file->second, begin, end);
  };
  switch (operation.kind) {
    case copy_range:
      // The length of a clone is that of its source, which may be unknown.
      if (operation.method == CopyMethod::reflink) return erase_from(operation.offset);
      [[fallthrough]];
    case write:
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
