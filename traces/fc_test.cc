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
#include <utility>

#include <fcntl.h>
#include <fmt/format.h>

#include "filesets/system/error.h"
#include "filesets/system/printable.h"
#include "filesets/system/wording.h"
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
void begin_with_largest(std::vector<std::uint32_t>& queued, const EntryList& entries,
                        std::uint64_t bytes, std::uint32_t threads) {
  // The others wait for at most 2 % of the time.
  const std::uint64_t large = bytes / threads / 50;
  const auto size = [&](std::uint32_t i) { return entries.file_size(i); };
  const auto rest =
      std::ranges::stable_partition(queued, [&](std::uint32_t i) { return size(i) > large; });
  std::ranges::stable_sort(queued.begin(), rest.begin(), std::greater{}, size);
}

bool ends_in_hole(std::uint64_t size, std::span<const Hole> holes) {
  return !holes.empty() && holes.back().offset + holes.back().length == size;
}

}  // namespace

std::string_view fc_step_name(FcStep step) {
  return kStepNames[static_cast<std::size_t>(step)];
}

FcStep parse_fc_step(std::string_view name) {
  for (std::size_t i = 0; i < kFcSteps; ++i) {
    if (kStepNames[i] == name) return static_cast<FcStep>(i);
  }
  throw ValueError(ErrorKind::usage,
                   {.value = std::string(name),
                    .text = fmt::format("unknown operation '{}'{}", printable(name),
                                        use_one_of(name, kStepNames))});
}

// The entries that the threads of a step process. Each thread takes the next one when it has
// completed the one before, so that no thread has the last files to itself.
class FcTest::Queue {
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
struct FcTest::Part {
  const FcTest& test;
  Tree from;  // does not exist if nothing is read
  Tree to;    // the same for what is created or removed
  std::uint32_t thread;
  std::shared_ptr<Queue> queue;                        // shared by the threads
  std::shared_ptr<const std::vector<HardLink>> links;  // to create after the files; the same

  const EntryList& entries() const { return test.set_.entries; }
  const FcTestOptions& options() const { return test.options_; }
  // Whether the step creates and removes directories.
  bool directories() const { return !options().shared; }
  bool first() const { return thread == 0; }
  bool alone() const { return options().threads == 1; }
};

FcTest::FcTest(const FileSet& set, const FcTestOptions& options) : set_(set), options_(options) {
  const std::size_t trees = 1u + (options.near_copy ? 1 : 0) + (options.far_copy ? 1 : 0);
  paths_.reserve(paths_.size() + trees * (set.entries.size() + 1));
  original_ = add_tree(Role::near, kOriginal);
  if (options.near_copy) near_copy_ = add_tree(Role::near, kCopy);
  if (options.far_copy) far_copy_ = add_tree(Role::far, kCopy);
  add_links();
  if (options.parts > 1) distribute();
  count_own();
}

FcTest::Tree FcTest::add_tree(Role role, std::string_view name) {
  const EntryList& entries = set_.entries;
  const Tree tree{paths_.append_unlisted(PathTable::root(role), name)};
  for (std::uint32_t i = 0; i < entries.size(); ++i) {
    const std::uint32_t directory = entries.directory(i);
    const PathId parent = directory == EntryList::kNoDirectory ? tree.root : tree.of(directory);
    if (original_.exists()) {
      paths_.append_unlisted(parent, original_.of(i));
    } else {
      paths_.append_unlisted(parent, entries.name(i));
    }
  }
  return tree;
}

void FcTest::add_links() {
  const EntryList& entries = set_.entries;
  std::optional<EntryFinder> finder;  // most sets have no hard links
  for (std::uint32_t i = 0; i < entries.size(); ++i) {
    if (entries.kind(i) == EntryKind::symlink) {
      targets_.emplace(i, texts_.add(entries.target(i)));
    } else if (entries.kind(i) == EntryKind::hard_link) {
      if (!finder) finder.emplace(entries);
      hard_links_.push_back({i, finder->find(entries.target(i))});
    }
  }
}

// Distributes the files among parts so that all have about the same work: the largest first, each
// to the part with the least so far. Names of a file (hard links) belong to one part.
void FcTest::distribute() {
  const EntryList& entries = set_.entries;
  // A file costs about as much as this many bytes: opening, creating and closing it.
  constexpr std::uint64_t kFileWeight = 64 << 10;
  std::vector<std::uint32_t> files;
  for (std::uint32_t i = 0; i < entries.size(); ++i) {
    const EntryKind kind = entries.kind(i);
    if (kind != EntryKind::directory && kind != EntryKind::hard_link) files.push_back(i);
  }
  std::ranges::stable_sort(files, std::greater{},
                           [&](std::uint32_t i) { return entries.file_size(i); });
  using Load = std::pair<std::uint64_t, std::uint32_t>;  // weight, part
  std::priority_queue<Load, std::vector<Load>, std::greater<>> loads;
  for (std::uint32_t part = 0; part < options_.parts; ++part) loads.emplace(0, part);
  owners_.resize(entries.size());
  for (const std::uint32_t file : files) {
    const auto [weight, part] = loads.top();
    loads.pop();
    owners_[file] = part;
    loads.emplace(weight + kFileWeight + entries.file_size(file), part);
  }
  for (const HardLink& hard_link : hard_links_) owners_[hard_link.link] = owners_[hard_link.target];
}

bool FcTest::is_own(std::uint32_t entry) const {
  return owners_.empty() || owners_[entry] == options_.part;
}

void FcTest::count_own() {
  const EntryList& entries = set_.entries;
  for (std::uint32_t i = 0; i < entries.size(); ++i) {
    if (entries.kind(i) != EntryKind::file || !is_own(i)) continue;
    ++totals_.files;
    totals_.bytes += entries.file_size(i);
    totals_.largest = std::max(totals_.largest, entries.file_size(i));
  }
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

std::vector<std::uint32_t> FcTest::queued_entries(FcStep step) const {
  const EntryList& entries = set_.entries;
  std::vector<std::uint32_t> queued;
  queued.reserve(owners_.empty() ? entries.size() : 0);
  for (std::uint32_t i = 0; i < entries.size(); ++i) {
    const EntryKind kind = entries.kind(i);
    if (!is_own(i) || (options_.shared && kind == EntryKind::directory)) continue;
    if (is_queued(kind, step, options_)) queued.push_back(i);
  }
  if (options_.threads > 1) {
    begin_with_largest(queued, entries, totals_.bytes, options_.threads);
  }
  return queued;
}

Trace FcTest::make_trace(FcStep step, Tree from, Tree to) const {
  Trace trace;
  trace.paths = &paths_;
  trace.files = &set_;
  trace.texts = &texts_;
  trace.slots = 2;
  trace.kinds.reset(static_cast<std::size_t>(OperationKind::pace));
  trace.largest_io = std::min(options_.block_size, totals_.largest);
  const auto queue = std::make_shared<Queue>(queued_entries(step));
  std::vector<HardLink> links;
  std::ranges::copy_if(hard_links_, std::back_inserter(links),
                       [&](const HardLink& link) { return is_own(link.link); });
  const auto own_links = std::make_shared<const std::vector<HardLink>>(std::move(links));
  const auto operations_of = step == FcStep::read     ? read_tree
                             : step == FcStep::remove ? remove_tree
                                                      : make_tree;
  for (std::uint32_t i = 0; i < options_.threads; ++i) {
    const Part part{*this, from, to, i, queue, own_links};
    trace.threads.push_back(std::make_unique<OperationStream>(operations_of(part)));
  }
  return trace;
}

// Creates the tree `to`, with generated content or as a copy of the tree `from`.
OperationStream FcTest::make_tree(Part part) {
  const bool copies = part.from.exists();
  const FcTestOptions& options = part.options();
  const bool in_kernel = copies && options.copy_method != CopyMethod::readwrite;
  const EntryList& entries = part.entries();
  if (part.first() && part.directories()) {
    co_yield make_directory(part.to.root, 0755);
    for (std::uint32_t i = 0; i < entries.size(); ++i) {
      if (!part.alone() && entries.kind(i) == EntryKind::directory) {
        co_yield make_directory(part.to.of(i), directory_mode(entries.mode(i)));
      }
    }
  }
  if (part.directories() && !part.alone()) co_yield Operation{};  // barrier: directories exist

  while (const std::optional<std::uint32_t> next = part.queue->take()) {
    const std::uint32_t i = *next;
    if (entries.kind(i) == EntryKind::directory) {
      co_yield make_directory(part.to.of(i), directory_mode(entries.mode(i)));
      continue;
    }
    if (entries.kind(i) == EntryKind::symlink) {
      Operation link = named(OperationKind::symlink, part.to.of(i));
      link.text = part.test.targets_.at(i);
      co_yield link;
      continue;
    }

    if (copies) co_yield open_file(part.from.of(i), kSource, O_RDONLY);
    co_yield open_file(part.to.of(i), kDestination, O_WRONLY | O_CREAT | O_EXCL,
                       file_mode(entries.mode(i)));
    const std::uint64_t size = entries.file_size(i);
    const std::uint64_t step = in_kernel ? kKernelCopyBytes : options.block_size;
    const std::span<const Hole> holes =
        options.fill_holes ? std::span<const Hole>{} : entries.holes(i);
    for (Pieces at(size, holes, step); !at.done(); at.advance()) {
      if (in_kernel) {
        Operation copy = data(OperationKind::copy_range, kDestination, at.offset(), at.length());
        copy.source = kSource;
        copy.second = at.offset();
        copy.method = options.copy_method;
        if (copy.method == CopyMethod::reflink) {  // clones the whole file, including holes
          copy.offset = copy.second = 0;
          copy.length = size;
          copy.expected = static_cast<std::int64_t>(size);
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
    if (ends_in_hole(size, holes)) co_yield truncate_file(kDestination, size);
    if (copies) co_yield close_file(kSource, false);
    co_yield close_file(kDestination, true);
    if (!part.alone()) co_yield EndOfBatch{};
  }

  if (!part.alone()) co_yield Operation{};  // barrier: the targets of links exist
  for (std::size_t at = part.thread; at < part.links->size(); at += options.threads) {
    const HardLink& hard_link = (*part.links)[at];
    Operation link = named(OperationKind::link, part.to.of(hard_link.link));
    link.old_path = part.to.of(hard_link.target);
    co_yield link;
  }
}

OperationStream FcTest::read_tree(Part part) {
  while (const std::optional<std::uint32_t> next = part.queue->take()) {
    const std::uint32_t i = *next;
    co_yield open_file(part.from.of(i), kSource, O_RDONLY);
    const std::uint64_t size = part.entries().file_size(i);
    const std::uint64_t step = part.options().block_size;
    for (std::uint64_t at = 0; at < size; at += step) {  // a reader does not know the holes
      Operation read = data(OperationKind::read, kSource, at, std::min(step, size - at));
      read.entry = i;
      co_yield read;
    }
    co_yield close_file(kSource, true);
    if (!part.alone()) co_yield EndOfBatch{};
  }
}

OperationStream FcTest::remove_tree(Part part) {
  const EntryList& entries = part.entries();
  while (const std::optional<std::uint32_t> i = part.queue->take()) {
    Operation unlink = named(OperationKind::unlink, part.to.of(*i));
    unlink.counts_file = entries.kind(*i) == EntryKind::file;
    co_yield unlink;
    if (!part.alone()) co_yield EndOfBatch{};
  }
  if (!part.directories()) co_return;
  if (!part.alone()) co_yield Operation{};  // barrier: directories contain only directories
  if (!part.first()) co_return;
  for (auto i = static_cast<std::uint32_t>(entries.size()); i-- > 0;) {
    if (entries.kind(i) == EntryKind::directory) {
      co_yield named(OperationKind::remove_directory, part.to.of(i));
    }
  }
  co_yield named(OperationKind::remove_directory, part.to.root);
}

}  // namespace filereel
