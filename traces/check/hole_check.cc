#include "traces/check/hole_check.h"

#include <algorithm>
#include <cstdint>

#include <fcntl.h>
#include <fmt/format.h>
#include <linux/magic.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "filesets/system/descriptor.h"

namespace filereel {
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

}  // namespace filereel
