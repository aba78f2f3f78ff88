#include "traces/check/content_check.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include <fcntl.h>
#include <fmt/format.h>
#include <linux/falloc.h>
#include <linux/magic.h>
#include <sys/mman.h>
#include <sys/vfs.h>
#include <unistd.h>
#include <xxhash.h>

#include "filesets/system/descriptor.h"

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

namespace {

constexpr long kXfsMagic = 0x58465342;  // XFS_SB_MAGIC of the kernel; missing in linux/magic.h

// Data in memory or on disk starts and ends at blocks; none are larger.
constexpr std::uint64_t kLargestBlock = 64 << 10;

bool reports_holes(const Descriptor& file, bool& makes_pages) {
  struct statfs status{};
  if (fstatfs(file.get(), &status) != 0) return false;
  const auto type = static_cast<long>(status.f_type);
  makes_pages = type == TMPFS_MAGIC;
  return makes_pages || type == EXT4_SUPER_MAGIC || type == kXfsMagic || type == BTRFS_SUPER_MAGIC;
}

std::string missing_data(const Descriptor& file, const DataRanges& written) {
  for (const DataRanges::Piece& piece : written.pieces()) {
    if (!piece.own) continue;  // zeros, or a copy of a hole
    const off_t hole = lseek(file.get(), static_cast<off_t>(piece.begin), SEEK_HOLE);
    if (hole < 0 || static_cast<std::uint64_t>(hole) >= piece.end) continue;
    return fmt::format("has a hole at byte {}, where the recording wrote", hole);
  }
  return {};
}

// Whether the trace wrote to a block that contains any of the range.
bool is_near_written(const DataRanges& written, std::uint64_t begin, std::uint64_t end) {
  return std::ranges::any_of(written.pieces(), [&](const DataRanges::Piece& piece) {
    return piece.begin < end + kLargestBlock && begin < piece.end + kLargestBlock;
  });
}

std::string unknown_data(const Descriptor& file, const DataRanges& written) {
  for (off_t at = 0;;) {
    const off_t data = lseek(file.get(), at, SEEK_DATA);
    if (data < 0) return {};
    const off_t end = lseek(file.get(), data, SEEK_HOLE);
    if (end <= data) return {};
    // Long data may consist of several pieces of the trace, whose gaps are not looked for.
    if (!is_near_written(written, static_cast<std::uint64_t>(data),
                         static_cast<std::uint64_t>(end))) {
      return fmt::format("has data at byte {}, where the recording did not write", data);
    }
    at = end;
  }
}

}  // namespace

Descriptor open_for_check(int directory, const std::string& name) {
  return Descriptor(openat(directory, name.c_str(), O_RDONLY | O_NONBLOCK | O_NOATIME | O_CLOEXEC));
}

bool has_holes(const struct stat& status) {
  constexpr off_t kBlocks = 512;  // unit of st_blocks
  return status.st_blocks * kBlocks < status.st_size;
}

std::string hole_difference(const HoleQuestion& question) {
  const struct stat& real = question.real;
  const DataRanges& written = question.written;
  if (real.st_size == 0 || written.scattered()) return {};
  const bool is_sparse = has_holes(real);
  const bool expects_holes =
      question.made && written.last_gap_end(0, static_cast<std::uint64_t>(real.st_size)) != 0;
  if (!is_sparse && !expects_holes) return {};
  const Descriptor file = open_for_check(question.directory, question.name);
  bool makes_pages = false;  // reading a mapped hole fills it
  if (!file || !reports_holes(file, makes_pages)) return {};
  std::string found = missing_data(file, written);
  if (found.empty() && expects_holes && !makes_pages) found = unknown_data(file, written);
  return found;
}

std::vector<Hole> find_holes(int directory, const std::string& name) {
  constexpr std::size_t kMost = 4096;
  const Descriptor file = open_for_check(directory, name);
  bool makes_pages = false;
  std::vector<Hole> holes;
  if (!file || !reports_holes(file, makes_pages)) return holes;
  const off_t size = lseek(file.get(), 0, SEEK_END);
  for (off_t at = 0; at < size && holes.size() < kMost;) {
    const off_t hole = lseek(file.get(), at, SEEK_HOLE);
    if (hole < 0 || hole >= size) break;
    const off_t data = lseek(file.get(), hole, SEEK_DATA);
    at = data < 0 ? size : data;
    holes.push_back({static_cast<std::uint64_t>(hole), static_cast<std::uint64_t>(at - hole)});
  }
  return holes;
}

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
