#include "traces/workload/access_stream.h"

#include <algorithm>
#include <vector>

#include <fcntl.h>

#include "traces/open_flags.h"
#include "traces/operation_makers.h"
#include "traces/operation_stream.h"
#include "traces/workload/pacer.h"

namespace filereel {
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
