// A fill is made of file sets. What files take of the space is not known beforehand (metadata,
// clusters, delayed allocation), so each round creates a part of the missing bytes, and learns from
// statvfs what they took. Nothing is ever removed: the rounds approach the share from below.
#include "replay/run/fill.h"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>

#include <errno.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include "filesets/catalogue/catalogue.h"
#include "filesets/content/content.h"
#include "filesets/scan/populate.h"
#include "filesets/system/error.h"
#include "filesets/system/limits.h"
#include "filesets/system/units.h"
#include "filesets/system/wording.h"
#include "replay/measure/clock.h"

namespace filereel {
namespace {

constexpr std::uint64_t kFillSeed = 0x66696c6c;

// Files of `size` bytes, the last one smaller, in directories of a thousand.
FileSet files_of_size(std::uint64_t bytes, std::uint64_t size) {
  FileSet set;
  set.seed = kFillSeed;
  std::uint32_t directory = EntryList::kNoDirectory;
  for (std::uint64_t number = 0; bytes > 0; ++number) {
    constexpr std::uint64_t kInDirectory = 1000;
    if (number % kInDirectory == 0) {
      directory = set.entries.add_below(
          EntryList::kNoDirectory, fmt::format("d{}", number / kInDirectory), directory_entry(""));
    }
    Entry file;
    file.size = std::min(bytes, size);
    file.content.key = number;
    set.entries.add_below(directory, fmt::format("f{}", number), file);
    bytes -= file.size;
  }
  return set;
}

// Copies of a set with together at most `bytes` bytes, the last one with its first files only, and
// a file with the rest.
FileSet copies_of(const FileSet& set, std::uint64_t bytes, std::uint64_t first_key) {
  FileSet copies;
  copies.seed = set.seed + first_key;
  const std::uint64_t whole = set.totals().bytes;
  std::uint64_t copy = 0;
  for (; whole > 0 && bytes >= whole; bytes -= whole, ++copy) {
    copies.entries.add_tree(
        copies.entries.add_below(EntryList::kNoDirectory, fmt::format("copy{}", copy),
                                 directory_entry("")),
        set.entries);
  }
  const std::uint32_t last =
      copies.entries.add_below(EntryList::kNoDirectory, "part", directory_entry(""));
  EntryList part;
  for (std::size_t i = 0; i < set.entries.size(); ++i) {
    const bool file = set.entries.kind(i) == EntryKind::file;
    if (set.entries.kind(i) != EntryKind::directory && !file) continue;
    const std::uint64_t size = file ? set.entries.file_size(i) : 0;
    if (size > bytes) continue;
    bytes -= size;
    part.push_back(set.entries[i]);
  }
  copies.entries.add_tree(last, part);
  for (std::uint64_t number = 0; bytes > 0; ++number) {
    Entry rest;
    rest.size = std::min<std::uint64_t>(bytes, 1 << 30);
    copies.entries.add_below(last, fmt::format("rest-of-fill-{}", number), rest);
    bytes -= rest.size;
  }
  return copies;
}

// The content of copies differs, or a file system might store it once.
void set_keys(FileSet& set) {
  for (std::size_t i = 0; i < set.entries.size(); ++i) {
    if (set.entries.kind(i) == EntryKind::file) {
      set.entries.set_key(i, content_key(set.entries.path(i)));
    }
  }
}

// The files of a condition.
class FillFiles {
 public:
  explicit FillFiles(const DriveCondition& condition) {
    const std::string& text = condition.fill_files;
    if (std::isdigit(static_cast<unsigned char>(text.front())) != 0) {
      size_ = parse_size(text, "fill_files");
    } else {
      set_ = load_file_set(text);
    }
  }

  // Files and directories for so many bytes, about.
  std::uint64_t entries_for(std::uint64_t bytes) const {
    if (!set_) return bytes / size_ + 1;
    const std::uint64_t whole = std::max<std::uint64_t>(1, set_->totals().bytes);
    return (bytes / whole + 1) * set_->entries.size();
  }
  // At most so many bytes, and not many more entries than fit into memory.
  FileSet files(std::uint64_t bytes, std::uint64_t round) const {
    constexpr std::uint64_t kMostEntries = 1'000'000;
    const std::uint64_t entries = entries_for(bytes);
    if (entries > kMostEntries) bytes = bytes / entries * kMostEntries;
    FileSet files = set_ ? copies_of(*set_, bytes, round) : files_of_size(bytes, size_);
    files.seed += round;
    set_keys(files);
    return files;
  }

 private:
  std::optional<FileSet> set_;
  std::uint64_t size_ = 0;  // of a file, without a set
};

// Returns false if the stop was requested.
bool create_round(const FileSet& files, int directory, std::uint64_t round, const Volume& volume,
                  const Preparing& preparing, PreparationStep& step) {
  const std::string target = volume.describe().target, name = std::to_string(round);
  if (mkdirat(directory, name.c_str(), 0700) != 0) {
    throw_failed(fmt::format("cannot fill {}: {}", target, error_text(errno)));
  }
  const Descriptor below(openat(directory, name.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  std::uint64_t shown = 0, shown_ns = now_ns();
  const PopulateOptions options{
      .keep_set_id = false, .stop = preparing.stop, .time_unit_ns = volume.limits().time_unit_ns};
  return !populate_below(below.get(), files, target, options,
                         [&](const PopulateProgress& progress) {
                           const std::uint64_t now = now_ns();
                           step.wrote(0, progress.bytes - shown, now - shown_ns);
                           shown = progress.bytes;
                           shown_ns = now;
                         })
              .interrupted;
}

}  // namespace

bool fill_volume(Volume& volume, const DriveCondition& condition, const Preparing& preparing) {
  constexpr double kClose = 0.001, kEnough = 0.005, kFar = 0.05;  // of the file system
  const std::string target = volume.describe().target;
  VolumeSpace space = known_space(volume, "fill");
  const auto all = static_cast<double>(space.used + space.available);
  const auto missing = [&] { return std::max(0.0, condition.fill - space.used_share()); };
  if (space.used_share() > condition.fill + kEnough) {
    throw_failed(fmt::format("cannot fill {} to {:g} %: {:.1f} % are in use already", target,
                             condition.fill * 100, space.used_share() * 100));
  }
  const FillFiles fill(condition);
  const auto bytes = static_cast<std::uint64_t>(missing() * all);
  const std::optional<std::uint64_t> entries = volume.free_entries();
  if (entries && fill.entries_for(bytes) > *entries) {
    throw_failed(fmt::format(
        "cannot fill {} to {:g} %: {} needed, {} free; use larger files "
        "(--fill-files)",
        target, condition.fill * 100, counted(fill.entries_for(bytes), "inode"), *entries));
  }
  const Descriptor directory = make_directory_in(volume, std::string(kFillDirectory));
  PreparationStep step(preparing, "fill", bytes, 1);
  double cost = 1;  // bytes used per byte of content
  bool grows = true;
  for (std::uint64_t round = 0; grows && missing() > kClose; ++round) {
    const double part = round == 0 ? 0.5 : missing() > kFar ? 0.9 : 1;
    const FileSet files =
        fill.files(static_cast<std::uint64_t>(missing() * all * part / cost), round);
    if (!create_round(files, directory.get(), round, volume, preparing, step)) return false;
    volume.sync();
    const VolumeSpace before = std::exchange(space, known_space(volume, "fill"));
    const std::uint64_t content = files.totals().bytes;
    grows = space.used > before.used && content > 0;
    if (grows) {
      cost = static_cast<double>(space.used - before.used) / static_cast<double>(content);
    }
  }
  if (std::abs(condition.fill - space.used_share()) <= kEnough) return true;
  throw_failed(
      fmt::format("cannot fill {} to {:g} %: {:.1f} % were reached; use other files "
                  "(--fill-files)",
                  target, condition.fill * 100, space.used_share() * 100));
}

}  // namespace filereel
