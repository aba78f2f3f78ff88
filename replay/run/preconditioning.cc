// The writes go to the blocks of a space: the device, or files of the same size one after another.
// Several threads take the next block from one counter, so that the drive has requests in flight
// without asynchronous I/O. In sequence, blocks are then slightly out of order, which a queue of
// requests is, too. In random order, a permutation visits each block once in every pass: blocks
// drawn at random would leave a third of the drive unwritten in the first pass.
#include "replay/run/preconditioning.h"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <new>
#include <optional>
#include <span>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <errno.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include "filesets/content/content.h"
#include "filesets/ownership/removal.h"
#include "filesets/system/error.h"
#include "filesets/system/limits.h"
#include "replay/engine/content_buffer.h"
#include "replay/engine/replayer.h"
#include "replay/measure/clock.h"
#include "traces/workload/access_pattern.h"

namespace filereel {
namespace {

constexpr std::uint64_t kSeed = 0x77726974;
constexpr std::uint64_t kAlignment = 4096;  // of direct I/O

// What is written: files of one size, one after another, or a device. Owns no descriptor.
struct WrittenSpace {
  std::vector<int> files;
  std::uint64_t each = 0;  // bytes of a file
  std::string name;        // in messages

  std::uint64_t bytes() const { return each * files.size(); }
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
      const Buffer buffer(block_);
      while (!stop_.stop_requested() && error_ == 0) {
        const std::uint64_t number = next_++;
        if (number >= all_) return;
        write(thread, number, buffer);
      }
    } catch (const std::bad_alloc&) {
      error_ = ENOMEM;
    }
  }

  void write(std::size_t thread, std::uint64_t number, const Buffer& buffer) noexcept {
    const std::uint64_t in_pass = number % blocks_;
    const std::uint64_t block = order_ ? order_->of(in_pass) : in_pass;
    const std::uint64_t offset = block % in_file_ * block_;
    const std::span<std::byte> data = buffer.first(std::min(block_, space_.each - offset));
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

}  // namespace filereel
