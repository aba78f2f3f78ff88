#include "traces/fc_test.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <functional>
#include <iterator>
#include <memory>
#include <optional>
#include <queue>
#include <string>
#include <unordered_map>
#include <utility>

#include <fcntl.h>
#include <fmt/format.h>

#include "filesets/system/error.h"
#include "filesets/system/nearest.h"
#include "filesets/system/printable.h"
#include "traces/operation_makers.h"
#include "traces/operation_stream.h"

namespace filereel {
namespace {

constexpr std::array<std::string_view, kFcSteps> kStepNames = {"create", "read", "copy-near",
                                                               "copy-far", "delete"};

// Slots of the two files that a step keeps open.
constexpr FileSlot kSource = 0;
constexpr FileSlot kDestination = 1;

// Bytes per operation of copy_file_range and sendfile: large enough to hide the cost of the call,
// small enough for progress and Ctrl-C.
constexpr std::uint64_t kKernelCopyBytes = 16 << 20;

// The entries that the threads of a step process. Each thread takes the next one when it has
// completed the one before, so that no thread has the last files to itself.
class Queue {
 public:
  explicit Queue(std::vector<std::uint32_t> entries) : entries_(std::move(entries)) {}
  std::optional<std::uint32_t> take() {
    const std::size_t at = taken_.fetch_add(1, std::memory_order_relaxed);
    return at < entries_.size() ? std::optional(entries_[at]) : std::nullopt;
  }

 private:
  std::vector<std::uint32_t> entries_;
  std::atomic<std::size_t> taken_ = 0;
};

// The work of one thread. Copied into the coroutine.
struct Part {
  const FileSet& set;
  std::span<const PathId> from;  // by entry, the tree's root last; empty if nothing is read
  std::span<const PathId> to;    // the same for what is created or removed
  std::span<const std::uint32_t> link_targets;
  std::span<const TextId> targets;
  FcTestOptions options;
  std::uint32_t thread;
  std::shared_ptr<Queue> queue;          // shared by the threads
  std::span<const std::uint32_t> links;  // hard links to create after the files

  // Whether the step creates and removes directories.
  bool directories() const { return !options.shared; }
  bool first() const { return thread == 0; }
  bool alone() const { return options.threads == 1; }
};

// Walks the data ranges of a file in pieces of at most `step` bytes that do not cross a hole: for
// (Pieces at(size, holes, step); !at.done(); at.advance()).
class Pieces {
 public:
  Pieces(std::uint64_t size, std::span<const Hole> holes, std::uint64_t step)
      : size_(size), holes_(holes), step_(step) {
    settle();
  }
  bool done() const { return offset_ >= size_; }
  std::uint64_t offset() const { return offset_; }
  std::uint64_t length() const { return std::min(step_, limit_ - offset_); }
  void advance() {
    offset_ += length();
    settle();
  }

 private:
  void settle() {
    while (hole_ < holes_.size() && offset_ >= holes_[hole_].offset) {
      offset_ = std::max(offset_, holes_[hole_].offset + holes_[hole_].length);
      ++hole_;
    }
    limit_ = hole_ < holes_.size() ? holes_[hole_].offset : size_;
  }

  std::uint64_t size_;
  std::span<const Hole> holes_;
  std::uint64_t step_;
  std::uint64_t offset_ = 0;
  std::uint64_t limit_ = 0;  // end of the data range that contains `offset_`
  std::size_t hole_ = 0;     // first hole that ends after `offset_`
};

// Distributes the files among parts so that all have about the same work: the largest first, each
// to the part with the least so far. Returns the part by entry. Names of a file (hard links) belong
// to one part.
std::vector<std::uint32_t> distribute(const std::vector<Entry>& entries,
                                      std::span<const std::uint32_t> link_targets,
                                      std::uint32_t parts) {
  // A file costs about as much as this many bytes: opening, creating and closing it.
  constexpr std::uint64_t kFileWeight = 64 << 10;
  std::vector<std::uint32_t> files;
  for (std::uint32_t i = 0; i < entries.size(); ++i) {
    const EntryKind kind = entries[i].kind;
    if (kind != EntryKind::directory && kind != EntryKind::hard_link) files.push_back(i);
  }
  std::ranges::stable_sort(files, std::greater{}, [&](std::uint32_t i) { return entries[i].size; });
  using Load = std::pair<std::uint64_t, std::uint32_t>;  // weight, part
  std::priority_queue<Load, std::vector<Load>, std::greater<>> loads;
  for (std::uint32_t part = 0; part < parts; ++part) loads.emplace(0, part);
  std::vector<std::uint32_t> owners(entries.size());
  for (const std::uint32_t file : files) {
    const auto [weight, part] = loads.top();
    loads.pop();
    owners[file] = part;
    loads.emplace(weight + kFileWeight + entries[file].size, part);
  }
  for (std::uint32_t i = 0; i < entries.size(); ++i) {
    if (entries[i].kind == EntryKind::hard_link) owners[i] = owners[link_targets[i]];
  }
  return owners;
}

// Whether the threads take entries of this kind one by one.
bool is_queued(EntryKind kind, FcStep step, const FcTestOptions& options) {
  switch (kind) {
    case EntryKind::directory:  // before the files if there are other threads
      return step != FcStep::read && step != FcStep::remove && options.threads == 1;
    case EntryKind::hard_link:
      return step == FcStep::remove;
    case EntryKind::symlink:
      return step != FcStep::read;
    case EntryKind::file:
      break;
  }
  return true;
}

// Moves the largest files to the front: a thread that began one of them when the others have almost
// finished would keep them waiting.
void begin_with_largest(std::vector<std::uint32_t>& queued, const std::vector<Entry>& entries,
                        std::uint64_t bytes, std::uint32_t threads) {
  // The others wait for at most 2 % of the time.
  const std::uint64_t large = bytes / threads / 50;
  const auto size = [&](std::uint32_t i) { return entries[i].size; };
  const auto rest =
      std::ranges::stable_partition(queued, [&](std::uint32_t i) { return size(i) > large; });
  std::ranges::stable_sort(queued.begin(), rest.begin(), std::greater{}, size);
}

bool ends_in_hole(std::uint64_t size, std::span<const Hole> holes) {
  return !holes.empty() && holes.back().offset + holes.back().length == size;
}

// Creates the tree `to`, with generated content or as a copy of the tree `from`.
OperationStream make_tree(Part part) {
  const bool copies = !part.from.empty();
  const bool in_kernel = copies && part.options.copy_method != CopyMethod::readwrite;
  const std::vector<Entry>& entries = part.set.entries;
  if (part.first() && part.directories()) {
    co_yield make_directory(part.to.back(), 0755);
    for (std::size_t i = 0; i < entries.size(); ++i) {
      if (!part.alone() && entries[i].kind == EntryKind::directory) {
        co_yield make_directory(part.to[i], directory_mode(entries[i].mode));
      }
    }
  }
  if (part.directories() && !part.alone()) co_yield Operation{};  // barrier: directories exist

  while (const std::optional<std::uint32_t> next = part.queue->take()) {
    const std::uint32_t i = *next;
    const Entry& entry = entries[i];
    if (entry.kind == EntryKind::directory) {
      co_yield make_directory(part.to[i], directory_mode(entry.mode));
      continue;
    }
    if (entry.kind == EntryKind::symlink) {
      Operation link = named(OperationKind::symlink, part.to[i]);
      link.text = part.targets[i];
      co_yield link;
      continue;
    }

    if (copies) co_yield open_file(part.from[i], kSource, O_RDONLY);
    co_yield open_file(part.to[i], kDestination, O_WRONLY | O_CREAT | O_EXCL,
                       file_mode(entry.mode));
    const std::uint64_t step = in_kernel ? kKernelCopyBytes : part.options.block_size;
    const std::span<const Hole> holes =
        part.options.fill_holes ? std::span<const Hole>{} : std::span<const Hole>(entry.holes);
    for (Pieces at(entry.size, holes, step); !at.done(); at.advance()) {
      if (in_kernel) {
        Operation copy = data(OperationKind::copy_range, kDestination, at.offset(), at.length());
        copy.source = kSource;
        copy.second = at.offset();
        copy.method = part.options.copy_method;
        if (copy.method == CopyMethod::reflink) {  // clones the whole file, including holes
          copy.offset = copy.second = 0;
          copy.length = entry.size;
          copy.expected = static_cast<std::int64_t>(entry.size);
          co_yield copy;
          break;
        }
        co_yield copy;
        continue;
      }
      if (copies) co_yield data(OperationKind::read, kSource, at.offset(), at.length());
      Operation write = data(OperationKind::write, kDestination, at.offset(), at.length());
      write.data = copies ? DataSource::last_read : DataSource::generated;
      write.entry = i;
      co_yield write;
    }
    if (ends_in_hole(entry.size, holes)) co_yield truncate_file(kDestination, entry.size);
    if (copies) co_yield close_file(kSource, false);
    co_yield close_file(kDestination, true);
    if (!part.alone()) co_yield EndOfBatch{};
  }

  if (!part.alone()) co_yield Operation{};  // barrier: the targets of links exist
  for (std::size_t at = part.thread; at < part.links.size(); at += part.options.threads) {
    const std::uint32_t i = part.links[at];
    Operation link = named(OperationKind::link, part.to[i]);
    link.old_path = part.to[part.link_targets[i]];
    co_yield link;
  }
}

OperationStream read_tree(Part part) {
  while (const std::optional<std::uint32_t> next = part.queue->take()) {
    const std::uint32_t i = *next;
    const Entry& entry = part.set.entries[i];
    co_yield open_file(part.from[i], kSource, O_RDONLY);
    const std::uint64_t step = part.options.block_size;
    for (std::uint64_t at = 0; at < entry.size; at += step) {  // a reader does not know the holes
      Operation read = data(OperationKind::read, kSource, at, std::min(step, entry.size - at));
      read.entry = i;
      co_yield read;
    }
    co_yield close_file(kSource, true);
    if (!part.alone()) co_yield EndOfBatch{};
  }
}

OperationStream remove_tree(Part part) {
  const std::vector<Entry>& entries = part.set.entries;
  while (const std::optional<std::uint32_t> i = part.queue->take()) {
    Operation unlink = named(OperationKind::unlink, part.to[*i]);
    unlink.counts_file = entries[*i].kind == EntryKind::file;
    co_yield unlink;
    if (!part.alone()) co_yield EndOfBatch{};
  }
  if (!part.directories()) co_return;
  if (!part.alone()) co_yield Operation{};  // barrier: directories contain only directories
  if (!part.first()) co_return;
  for (std::size_t i = entries.size(); i-- > 0;) {
    if (entries[i].kind == EntryKind::directory) {
      co_yield named(OperationKind::remove_directory, part.to[i]);
    }
  }
  co_yield named(OperationKind::remove_directory, part.to.back());
}

OperationStream operations_of(FcStep step, const Part& part) {
  if (step == FcStep::read) return read_tree(part);
  return step == FcStep::remove ? remove_tree(part) : make_tree(part);
}

}  // namespace

std::string_view fc_step_name(FcStep step) {
  return kStepNames[static_cast<std::size_t>(step)];
}

FcStep parse_fc_step(std::string_view name) {
  for (std::size_t i = 0; i < kFcSteps; ++i) {
    if (kStepNames[i] == name) return static_cast<FcStep>(i);
  }
  throw Error(ErrorKind::usage, fmt::format("unknown operation '{}'{}", printable(name),
                                            use_one_of(name, kStepNames)));
}

FcTest::FcTest(const FileSet& set, const FcTestOptions& options) : set_(set), options_(options) {
  const auto intern = [&](Role role, std::string_view root) {
    std::vector<PathId> ids;
    ids.reserve(set.entries.size() + 1);
    for (const Entry& entry : set.entries) {
      ids.push_back(paths_.add(role, fmt::format("{}/{}", root, entry.path)));
    }
    ids.push_back(paths_.add(role, root));
    return ids;
  };
  original_ = intern(Role::near, kOriginal);
  near_copy_ = intern(Role::near, kCopy);
  far_copy_ = intern(Role::far, kCopy);

  link_targets_.resize(set.entries.size());
  targets_.resize(set.entries.size());
  std::unordered_map<std::string_view, std::uint32_t> files;
  for (std::uint32_t i = 0; i < set.entries.size(); ++i) {
    const Entry& entry = set.entries[i];
    if (entry.kind == EntryKind::file) files.emplace(entry.path, i);
    if (entry.kind == EntryKind::symlink) targets_[i] = texts_.add(entry.target);
    if (entry.kind == EntryKind::hard_link) link_targets_[i] = files.at(entry.target);
  }
  const std::vector<std::uint32_t> owners = distribute(set.entries, link_targets_, options.parts);
  FileSet own;
  for (std::uint32_t i = 0; i < set.entries.size(); ++i) {
    const Entry& entry = set.entries[i];
    if (owners[i] != options.part) continue;
    if (options.shared && entry.kind == EntryKind::directory) continue;
    own_.push_back(i);
    if (entry.kind == EntryKind::hard_link) links_.push_back(i);
    own.entries.push_back(entry);
  }
  totals_ = own.totals();
}

Trace FcTest::trace(FcStep step) const {
  switch (step) {
    case FcStep::create:
      return make_trace(step, {}, original_);
    case FcStep::read:
      return make_trace(step, original_, {});
    case FcStep::copy_near:
      return make_trace(step, original_, near_copy_);
    case FcStep::copy_far:
      return make_trace(step, original_, far_copy_);
    case FcStep::remove:
      break;
  }
  return make_trace(step, {}, original_);
}

Trace FcTest::trace_of_copy(FcStep copies) const {
  return make_trace(FcStep::read, copies == FcStep::copy_far ? far_copy_ : near_copy_, {});
}

Trace FcTest::make_trace(FcStep step, std::span<const PathId> from,
                         std::span<const PathId> to) const {
  Trace trace;
  trace.paths = &paths_;
  trace.files = &set_;
  trace.texts = &texts_;
  trace.slots = 2;
  trace.kinds.reset(static_cast<std::size_t>(OperationKind::pace));
  trace.largest_io = std::min(options_.block_size, totals_.largest);
  std::vector<std::uint32_t> queued;
  std::ranges::copy_if(own_, std::back_inserter(queued), [&](std::uint32_t i) {
    return is_queued(set_.entries[i].kind, step, options_);
  });
  if (options_.threads > 1) {
    begin_with_largest(queued, set_.entries, totals_.bytes, options_.threads);
  }
  const auto queue = std::make_shared<Queue>(std::move(queued));
  for (std::uint32_t i = 0; i < options_.threads; ++i) {
    Part part{set_, from, to, link_targets_, targets_, options_, i, queue, links_};
    trace.threads.push_back(std::make_unique<OperationStream>(operations_of(step, part)));
  }
  return trace;
}

}  // namespace filereel
