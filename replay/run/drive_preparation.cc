// Preconditioning writes blocks of a space: the device, or files of the same size one after
// another. Several threads take the next block from one counter, so that the drive has requests in
// flight without asynchronous I/O. In sequence, blocks are then slightly out of order, which a
// queue of requests is, too. In random order, a permutation visits each block once in every pass:
// blocks drawn at random would leave a third of the drive unwritten in the first pass.
//
// A fill is made of file sets. What files take of the space is not known beforehand (metadata,
// clusters, delayed allocation), so each round creates a part of the missing bytes, and learns from
// statvfs what they took. Nothing is ever removed: the rounds approach the share from below.
#include "replay/run/drive_preparation.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <cctype>
#include <chrono>
#include <cmath>
#include <condition_variable>
#include <cstddef>
#include <cstdlib>
#include <memory>
#include <mutex>
#include <new>
#include <optional>
#include <span>
#include <thread>
#include <utility>
#include <vector>

#include <errno.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include "filesets/catalogue/catalogue.h"
#include "filesets/content/content.h"
#include "filesets/ownership/removal.h"
#include "filesets/scan/populate.h"
#include "filesets/system/error.h"
#include "filesets/system/limits.h"
#include "filesets/system/units.h"
#include "filesets/system/wording.h"
#include "replay/engine/replayer.h"
#include "replay/jobs/job.h"
#include "replay/measure/clock.h"
#include "traces/workload/access_pattern.h"

namespace filereel {
namespace {

constexpr std::uint64_t kSeed = 0x66696c6c;
constexpr std::size_t kAlignment = 4096;

// Shows the written bytes as the progress of a step.
class PreparationStep {
 public:
  PreparationStep(const Preparing& preparing, std::string operation, std::uint64_t bytes,
                  std::size_t threads, double seconds = 0)
      : statistics_(threads),
        watch_(preparing.observer, step_of(preparing, std::move(operation), bytes, seconds),
               progress_) {
    std::vector<const ReplayStatistics*> all;
    for (ReplayStatistics& one : statistics_) {
      one.kinds[static_cast<std::size_t>(OperationKind::write)].by_size[0].prepare();
      all.push_back(&one);
    }
    progress_.begin(std::move(all));
    progress_.start(now_ns(), 0);
  }
  PreparationStep(const PreparationStep&) = delete;
  PreparationStep& operator=(const PreparationStep&) = delete;
  ~PreparationStep() { progress_.end(); }

  // Called by one thread.
  void wrote(std::size_t thread, std::uint64_t bytes, std::uint64_t latency_ns) noexcept {
    ReplayStatistics& statistics = statistics_[thread];
    statistics.kinds[static_cast<std::size_t>(OperationKind::write)].by_size[0].record(latency_ns);
    statistics.bytes += bytes;
    ++statistics.operations;
  }

 private:
  static StepInfo step_of(const Preparing& preparing, std::string operation, std::uint64_t bytes,
                          double seconds) {
    StepInfo step = preparing.step;
    step.operation = std::move(operation);
    step.bytes = bytes;
    step.seconds = seconds;
    step.files = step.operations = 0;
    step.expected_s = seconds > 0 ? seconds : static_cast<double>(bytes) / kAssumedRate;
    step.measured = false;
    return step;
  }

  std::vector<ReplayStatistics> statistics_;
  ReplayProgress progress_;
  StepWatch watch_;
};

// What is written: files of one size, one after another, or a device. Owns no descriptor.
struct WrittenSpace {
  std::vector<int> files;
  std::uint64_t each = 0;  // bytes of a file
  std::string name;        // in messages

  std::uint64_t bytes() const { return each * files.size(); }
};

// A buffer for direct I/O.
class AlignedBuffer {
 public:
  explicit AlignedBuffer(std::size_t size)
      : data_(static_cast<std::byte*>(std::aligned_alloc(kAlignment, size)), std::free),
        size_(size) {
    if (!data_) throw std::bad_alloc();
  }
  std::span<std::byte> of(std::size_t bytes) const { return {data_.get(), std::min(bytes, size_)}; }

 private:
  std::unique_ptr<std::byte, decltype(&std::free)> data_;
  std::size_t size_;
};

class Passes {
 public:
  Passes(const WrittenSpace& space, const Preconditioning& how, std::uint64_t seed,
         PreparationStep& step, std::stop_token stop)
      : space_(space),
        seed_(seed),
        block_(how.block),
        in_file_((space.each + how.block - 1) / how.block),
        blocks_(in_file_ * space.files.size()),
        all_(static_cast<std::uint64_t>(std::ceil(how.passes * static_cast<double>(blocks_)))),
        step_(step),
        stop_(std::move(stop)) {
    if (how.random) order_.emplace(blocks_, kSeed);
  }

  // Returns false if the stop was requested.
  bool run(std::size_t threads) {
    {
      std::vector<std::jthread> all;
      for (std::size_t i = 0; i < threads; ++i) {
        all.emplace_back([this, i] { work(i); });
      }
    }
    if (const int error = error_) {
      throw_failed(fmt::format("cannot precondition {}: {}", space_.name, error_text(error)));
    }
    return !stop_.stop_requested();
  }

 private:
  void work(std::size_t thread) noexcept {
    try {
      const AlignedBuffer buffer(block_);
      while (!stop_.stop_requested() && error_ == 0) {
        const std::uint64_t number = next_++;
        if (number >= all_) return;
        write(thread, number, buffer);
      }
    } catch (const std::bad_alloc&) {
      error_ = ENOMEM;
    }
  }

  void write(std::size_t thread, std::uint64_t number, const AlignedBuffer& buffer) noexcept {
    const std::uint64_t in_pass = number % blocks_;
    const std::uint64_t block = order_ ? order_->of(in_pass) : in_pass;
    const std::uint64_t offset = block % in_file_ * block_;
    const std::span<std::byte> data = buffer.of(std::min(block_, space_.each - offset));
    // Other bytes in each pass: a drive may notice what it has already.
    fill_content(seed_ + number / blocks_, Content{.key = block}, 0, data);
    const std::uint64_t begin = now_ns();
    const int file = space_.files[block / in_file_];
    for (std::size_t done = 0; done < data.size();) {
      const ssize_t wrote =
          pwrite(file, data.data() + done, data.size() - done, static_cast<off_t>(offset + done));
      if (wrote < 0 && errno == EINTR) continue;
      if (wrote <= 0) {
        error_ = wrote < 0 ? errno : ENOSPC;
        return;
      }
      done += static_cast<std::size_t>(wrote);
    }
    step_.wrote(thread, data.size(), now_ns() - begin);
  }

  const WrittenSpace& space_;
  const std::uint64_t seed_, block_, in_file_, blocks_, all_;
  PreparationStep& step_;
  std::stop_token stop_;
  std::optional<Shuffle> order_;
  std::atomic<std::uint64_t> next_ = 0;
  std::atomic<int> error_ = 0;
};

// `seed`: of the content.
bool write_passes(const WrittenSpace& space, const Preconditioning& how, const Preparing& preparing,
                  std::uint64_t seed = kSeed) {
  const std::size_t threads = how.random ? 16 : 4;
  const auto bytes = static_cast<std::uint64_t>(static_cast<double>(space.bytes()) * how.passes);
  PreparationStep step(preparing, "precondition", bytes, threads);
  if (!Passes(space, how, seed, step, preparing.stop).run(threads)) return false;
  for (const int file : space.files) {
    if (fsync(file) == 0) continue;
    throw_failed(fmt::format("cannot precondition {}: {}", space.name, error_text(errno)));
  }
  return true;
}

// An open file again, without the page cache if it can be.
Descriptor reopened_for_writing(int file) {
  const std::string path = fmt::format("/proc/self/fd/{}", file);
  Descriptor direct(open(path.c_str(), O_WRONLY | O_DIRECT | O_CLOEXEC));
  if (!direct) direct.reset(open(path.c_str(), O_WRONLY | O_CLOEXEC));
  return direct;
}

Descriptor make_directory_in(const Volume& volume, const char* name) {
  Descriptor directory;
  if (mkdirat(volume.root(), name, 0700) == 0 || errno == EEXIST) {
    directory.reset(openat(volume.root(), name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  }
  if (directory) return directory;
  throw_failed(fmt::format("cannot create a directory on {}: {}", volume.describe().target,
                           error_text(errno)));
}

VolumeSpace known_space(const Volume& volume, std::string_view what) {
  if (const std::optional<VolumeSpace> space = volume.space()) return *space;
  throw_failed(fmt::format("cannot {} {}: its driver does not report the used space", what,
                           volume.describe().target));
}

// --- Files of a fill.

// Files of `size` bytes, the last one smaller, in directories of a thousand.
FileSet files_of_size(std::uint64_t bytes, std::uint64_t size) {
  FileSet set;
  set.seed = kSeed;
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

bool preconditions_files(const Volume& volume, const Preconditioning& how) {
  return how.on_files.value_or(volume.describe().target_kind ==
                               target_kind_name(TargetKind::directory));
}

bool precondition_device(Volume& volume, const Preconditioning& how, const Preparing& preparing) {
  volume.rest();
  const Descriptor device = reopened_for_writing(volume.raw());
  const std::string name = volume.describe().target;
  if (!device) throw_failed(fmt::format("cannot open {}: {}", name, error_text(errno)));
  const std::uint64_t size = volume.capacity() / kAlignment * kAlignment;
  return write_passes({{device.get()}, size, name}, how, preparing);
}

bool precondition_files(Volume& volume, const Preconditioning& how, const Preparing& preparing) {
  constexpr const char* kName = ".filereel-precondition";
  constexpr std::uint64_t kFile = 1 << 30;
  constexpr double kOfFree = 0.95;  // the rest is for metadata, and for copies on write
  const std::string target = volume.describe().target;
  const auto free = static_cast<std::uint64_t>(
      kOfFree * static_cast<double>(known_space(volume, "precondition").available));
  const std::uint64_t files = std::max<std::uint64_t>(1, free / kFile);
  WrittenSpace space{{}, free / files / kAlignment * kAlignment, "the files of " + target};
  if (space.each == 0) throw_failed(fmt::format("cannot precondition {}: it is full", target));
  const Descriptor directory = make_directory_in(volume, kName);
  raise_descriptor_limit();
  std::vector<Descriptor> open_files;
  for (std::uint64_t i = 0; i < files; ++i) {
    Descriptor file(openat(directory.get(), std::to_string(i).c_str(),
                           O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600));
    if (file) file = reopened_for_writing(file.get());
    if (!file) {
      throw_failed(fmt::format("cannot create {}: {}", space.name, error_text(errno)));
    }
    space.files.push_back(file.get());
    open_files.push_back(std::move(file));
  }
  // What is overwritten must exist.
  const Preconditioning first{.passes = 1, .block = 1 << 20};
  bool whole = !how.random || write_passes(space, first, preparing, kSeed - 1);
  whole = whole && write_passes(space, how, preparing);
  open_files.clear();
  remove_contents(directory.get(), target);
  unlinkat(volume.root(), kName, AT_REMOVEDIR);
  volume.sync();
  return whole;
}

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
  const Descriptor directory = make_directory_in(volume, std::string(kFillDirectory).c_str());
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

bool rest_drive(std::uint64_t rest_ns, const Preparing& preparing) {
  const PreparationStep step(preparing, "rest", 0, 1, static_cast<double>(rest_ns) * 1e-9);
  std::mutex idle;
  std::condition_variable_any wake;
  std::unique_lock lock(idle);
  wake.wait_for(lock, preparing.stop, std::chrono::nanoseconds(rest_ns), [] { return false; });
  return !preparing.stop.stop_requested();
}

double bytes_of_condition(const DriveCondition& condition, std::uint64_t capacity) {
  const double passes = condition.precondition ? condition.precondition->passes : 0;
  return (passes + condition.fill) * static_cast<double>(capacity);
}

}  // namespace filereel
