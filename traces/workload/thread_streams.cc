#include "traces/workload/thread_streams.h"

#include <algorithm>
#include <vector>

#include <fcntl.h>

#include "filesets/system/random.h"
#include "traces/open_flags.h"
#include "traces/operation_stream.h"

namespace filereel {
namespace {

constexpr FileSlot kFile = 0, kCopy = 1, kDirectory = 2;
static_assert(kDirectory < kStepSlots);
constexpr std::uint64_t kListBytes = 32 << 10;  // buffer of the C library's readdir
constexpr std::uint32_t kListed = 1000;         // entries in such a buffer: names are short

// The current state of one of the thread's files.
struct OwnFile {
  PathId name() const { return renamed ? file->other_name : file->path; }

  const StepFile* file;
  std::uint64_t size;
  bool renamed = false;
};

struct StepState {
  explicit StepState(const StepJob& what) : job(what), pacer(job.threads), random(job.seed) {
    for (std::size_t i = job.thread; i < job.files.size(); i += job.threads_of_group) {
      mine.push_back({.file = &job.files[i], .size = job.files[i].size});
    }
    if (job.threads.order == FileOrder::shuffled) random.shuffle(mine);
  }

  bool is_enough() const {
    return mine.empty() || (job.operations > 0 && files >= job.operations) ||
           (job.bytes > 0 && bytes >= job.bytes) ||
           (job.passes > 0 && files >= job.passes * mine.size());
  }

  // The current file.
  OwnFile& draw_file() {
    return job.threads.order == FileOrder::random ? mine[random.below(mine.size())]
                                                  : mine[files % mine.size()];
  }

  const StepChoice& draw_choice() {
    const auto& choices = job.threads.choices;
    if (choices.size() == 1) return choices.front();
    std::uint64_t number = random.below(100'000);
    for (const StepChoice& choice : choices) {
      if (number < choice.share) return choice;
      number -= choice.share;
    }
    return choices.back();
  }

  StepJob job;
  Pacer pacer;
  Random random;
  std::vector<OwnFile> mine;
  std::uint64_t files = 0, bytes = 0;  // done
};

// The flags with which a step opens the file that it writes.
int write_flags(StepKind kind) {
  switch (kind) {
    case StepKind::create:
      return O_WRONLY | O_CREAT | O_EXCL;
    case StepKind::rewrite:
    case StepKind::replace:
    case StepKind::copy:
      return O_WRONLY | O_CREAT | O_TRUNC;
    default:
      return O_WRONLY;
  }
}

// The transfer of a step on one file.
struct Transfer {
  Transfer(const OwnFile& own, const FileStep& step)
      : file(*own.file),
        name(own.name()),
        reads(step.kind == StepKind::read || step.kind == StepKind::copy),
        writes(step.kind != StepKind::read),
        slot(step.kind == StepKind::copy ? kCopy : kFile),
        end(own.size) {
    if (step.kind == StepKind::append) {
      begin = end;
      end += step.size;
    } else if (write_flags(step.kind) != O_WRONLY && step.kind != StepKind::copy) {
      end = file.size;  // the file is truncated
    }
  }

  Operation open(const FileStep& step, bool for_writing) const {
    const PathId path = !for_writing                     ? name
                        : step.kind == StepKind::replace ? file.beside
                        : step.kind == StepKind::copy    ? file.copy
                                                         : name;
    Operation operation = for_writing ? open_file(path, slot, write_flags(step.kind), file.mode)
                                      : open_file(path, kFile, O_RDONLY);
    operation.entry = file.entry;
    return operation;
  }

  Operation read(std::uint64_t at, std::uint64_t length) const {
    Operation operation = data(OperationKind::read, kFile, at, length);
    operation.entry = file.entry;
    return operation;
  }

  Operation write(std::uint64_t at, std::uint64_t length) const {
    Operation operation = data(OperationKind::write, slot, at, length);
    operation.entry = file.entry;
    operation.data = reads ? DataSource::last_read : DataSource::generated;
    return operation;
  }

  const StepFile& file;
  PathId name;
  bool reads, writes;
  FileSlot slot;                 // destination
  std::uint64_t begin = 0, end;  // range transferred
};

Operation rename_to(PathId path, PathId old_path, bool counts_file) {
  Operation operation = named(OperationKind::rename, path);
  operation.old_path = old_path;
  operation.counts_file = counts_file;
  return operation;
}

// Removal and attributes.
Operation on_name(OperationKind kind, PathId name, FileId entry, bool counts_file) {
  Operation operation = named(kind, name);
  operation.entry = entry;
  operation.counts_file = counts_file;
  return operation;
}

Operation list_directory(bool first) {
  Operation operation = of_file(OperationKind::list, kDirectory);
  operation.length = kListBytes;
  operation.offset = first ? 0 : 1;
  operation.loose = true;  // the file system determines the size of a listing
  return operation;
}

OperationStream steps(StepState& state) {
  const StepJob& job = state.job;
  if (job.thread == 0) {
    for (const PathId directory : job.directories) co_yield make_directory(directory, 0755);
  }
  // All directories exist before any thread continues.
  if (!job.directories.empty() && job.threads.count > 1) co_yield Operation{};
  for (; !state.is_enough(); ++state.files) {
    if (state.pacer.paces()) co_yield state.pacer.next(state.files);
    OwnFile& own = state.draw_file();
    const StepFile& file = *own.file;
    const std::vector<FileStep>& steps_on_file = state.draw_choice().steps;
    for (const FileStep& step : steps_on_file) {
      const bool last = &step == &steps_on_file.back();  // a file counts once, however many steps
      if (moves_content(step.kind)) {
        const Transfer transfer(own, step);
        if (transfer.reads) co_yield transfer.open(step, false);
        if (transfer.writes) co_yield transfer.open(step, true);
        for (std::uint64_t at = transfer.begin; at < transfer.end; at += step.block) {
          const std::uint64_t length = std::min(step.block, transfer.end - at);
          state.bytes += length;
          if (transfer.reads) co_yield transfer.read(at, length);
          if (transfer.writes) co_yield transfer.write(at, length);
        }
        if (step.sync != SyncKind::none) co_yield of_file(operation_of(step.sync), transfer.slot);
        if (transfer.reads) co_yield close_file(kFile, last && !transfer.writes);
        if (transfer.writes) co_yield close_file(transfer.slot, last);
        if (step.kind == StepKind::replace) co_yield rename_to(transfer.name, file.beside, false);
        if (step.kind != StepKind::copy) own.size = transfer.end;
        continue;
      }
      const PathId name = own.name();
      switch (step.kind) {
        case StepKind::rename:
          own.renamed = !own.renamed;
          co_yield rename_to(own.name(), name, last);
          break;
        case StepKind::list:
          co_yield open_file(file.directory, kDirectory, O_RDONLY | open_flags::kDirectory);
          for (std::uint32_t call = 0; call <= file.siblings / kListed + 1; ++call) {
            co_yield list_directory(call == 0);
          }
          co_yield close_file(kDirectory, last);
          break;
        case StepKind::remove:
          own.size = file.size;
          co_yield on_name(OperationKind::unlink, name, file.entry, last);
          break;
        default:
          co_yield on_name(OperationKind::stat, name, file.entry, last);
          break;
      }
    }
  }
}

class StepSource final : public OperationSource {
 public:
  explicit StepSource(const StepJob& job) : state_(job), stream_(steps(state_)) {}
  std::size_t next(std::span<Operation> out) override { return cut_ ? 0 : stream_.next(out); }
  // Interrupted work is in the middle of a file: nothing needs to be completed.
  void wind_up() noexcept override { cut_ = true; }

 private:
  StepState state_;
  OperationStream stream_;
  bool cut_ = false;
};

}  // namespace

std::unique_ptr<OperationSource> make_step_source(const StepJob& job) {
  return std::make_unique<StepSource>(job);
}

std::uint64_t largest_block(const RecipeThreads& threads) {
  std::uint64_t largest = 0;
  for (const StepChoice& choice : threads.choices) {
    for (const FileStep& step : choice.steps) {
      if (moves_content(step.kind)) largest = std::max(largest, step.block);
    }
  }
  return largest;
}

namespace {

// State shared by a source and its coroutine.
struct AccessState {
  explicit AccessState(const AccessJob& what)
      : job(what),
        pattern(job.threads.access.value(), job.space, job.thread, job.threads.count, job.seed,
                job.spots_seed),
        pacer(job.threads),
        dirty(job.files.size()) {}

  // Whether a limit of accesses, bytes or passes is reached.
  bool is_enough() const {
    return over || (job.operations > 0 && accesses >= job.operations) ||
           (job.bytes > 0 && bytes >= job.bytes) ||
           (job.passes > 0 && pattern.passes() >= job.passes);
  }

  void note_write(std::uint32_t file) {
    dirty[file] = 1;
    any_dirty = any_written = true;
  }
  void note_sync() {
    std::ranges::fill(dirty, 0);
    any_dirty = false;
  }

  AccessJob job;
  AccessPattern pattern;
  Pacer pacer;
  std::uint64_t accesses = 0, bytes = 0;  // of the thread
  bool over = false;                      // wound up
  bool any_dirty = false;                 // written since the last sync
  bool any_written = false;               // at all
  std::vector<char> dirty;                // by file: written since it was synced
};

int flags_of_open(const AccessJob& job) {
  const AccessMix& mix = *job.threads.access;
  const bool writes = mix.ratio > 0 || mix.reads < 100'000;
  int flags = !writes ? O_RDONLY : mix.ratio > 0 || mix.reads > 0 ? O_RDWR : O_WRONLY;
  if (mix.truncate) flags |= O_CREAT | O_TRUNC;
  if (job.direct) flags |= open_flags::kDirect;
  if (job.threads.write_through) flags |= O_DSYNC;
  return flags;
}

OperationStream accesses(AccessState& state) {
  const AccessJob& job = state.job;
  const SyncPolicy& sync = job.threads.sync;
  const auto files = static_cast<FileSlot>(job.files.size());
  const int flags = flags_of_open(job);
  for (FileSlot slot = 0; slot < files; ++slot) {
    Operation open = open_file(job.files[slot].path, slot, flags, job.files[slot].mode);
    open.entry = job.files[slot].entry;
    co_yield open;
  }
  const bool first = job.turn == 0;  // does the common work of all turns
  Operation access = data(OperationKind::read, 0, 0, 0);
  for (std::uint32_t turn = 0; !state.is_enough(); turn = turn + 1 < job.turns ? turn + 1 : 0) {
    const Access next = state.pattern.next();
    const bool mine = turn == job.turn;
    ++state.accesses;
    state.bytes += next.length;
    if (mine) {
      if (state.pacer.paces()) {
        co_yield state.pacer.next(state.accesses - 1);
        if (state.over) break;  // during the pause: the access is not due any more
      }
      access.kind = next.is_write ? OperationKind::write : OperationKind::read;
      access.file = next.file;
      access.entry = job.files[next.file].entry;
      access.offset = next.offset;
      access.length = next.length;
      access.expected = static_cast<std::int64_t>(next.length);
      co_yield access;
    }
    if (next.is_write) state.note_write(next.file);
    if (sync.every == 0 || state.accesses % sync.every != 0 || !state.any_dirty) continue;
    for (FileSlot slot = 0; first && slot < files; ++slot) {
      if (sync.all_files || state.dirty[slot]) co_yield of_file(operation_of(sync.kind), slot);
    }
    state.note_sync();
  }
  // Syncs all files, even those unchanged since their last sync, like sysbench.
  const bool at_end =
      sync.at_end && first && (sync.all_files ? state.any_written : state.any_dirty);
  for (FileSlot slot = 0; at_end && slot < files; ++slot) {
    if (sync.all_files || state.dirty[slot]) co_yield of_file(operation_of(sync.kind), slot);
  }
  for (FileSlot slot = 0; slot < files; ++slot) co_yield close_file(slot, false);
}

class AccessSource final : public OperationSource {
 public:
  explicit AccessSource(const AccessJob& job) : state_(job), stream_(accesses(state_)) {}
  std::size_t next(std::span<Operation> out) override { return stream_.next(out); }
  void wind_up() noexcept override { state_.over = true; }

 private:
  AccessState state_;
  OperationStream stream_;
};

}  // namespace

std::unique_ptr<OperationSource> make_access_source(const AccessJob& job) {
  return std::make_unique<AccessSource>(job);
}

}  // namespace filereel
