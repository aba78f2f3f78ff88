// Counting happens after the clock was read, but within the thread of the lane, so it delays the
// next operation. It is therefore one pass over plain counters: the bucket of a latency is computed
// once for histogram and grid, and what depends on the kind is in tables by kind. Everything rare
// is out of line: slow operations, results that differ.
//
// Who owns what: the recorder, with its statistics, belongs to the lane's thread. Others read the
// counters while it runs (ReplayProgress), which Counter and Histogram permit with one writer and
// without locked instructions. Divergences, examples and failures are not read before the thread
// has ended. The context's DivergenceClassifier is shared by all lanes and takes a lock, only for
// results that differ.
//
// The result of a request arrives late, so the name of its open file is taken before (path_of): by
// then, the slot may have another file.
#include "replay/engine/outcome_recorder.h"

namespace filereel {
namespace {

// A recorded page fault has no duration: the processor time for it is a part of the work, reading
// the page from the drive is a wait. Reading a page takes this much processor time (ext4 on a loop
// device, 2.6 GHz); what is longer is the wait.
constexpr std::uint64_t kFaultWorkNs = 15'000;

// The part of a call that the trace has as work, in ns.
std::uint64_t work_in(OperationKind kind) {
  if (kind == OperationKind::fault) return kFaultWorkNs;
  return is_timed(kind) ? 0 : UINT64_MAX;
}

}  // namespace

OutcomeRecorder::OutcomeRecorder(const EngineContext& context)
    : context_(context), paced_(context.kinds[static_cast<std::size_t>(OperationKind::pace)]) {
  using enum OperationKind;
  for (std::size_t i = 0; i < kOperationKinds; ++i) {
    const auto kind = static_cast<OperationKind>(i);
    moves_data_[i] = operation_info(kind).moves_data;
    work_in_[i] = work_in(kind);
  }
  for (const OperationKind kind : {sync, sync_data, sync_range, sync_volume, sync_map}) {
    syncs_.set(static_cast<std::size_t>(kind));
  }
}

void OutcomeRecorder::keep_slow(const Operation& op, PathId path, const CallTime& time) noexcept {
  statistics_.slowest.keep({.latency_ns = time.latency,
                            .service_ns = time.service,
                            .end_ns = time.end,
                            .kind = op.kind,
                            .thread = op.thread,
                            .path = path,
                            .offset = op.offset,
                            .length = op.length,
                            .position = op.position});
}

PathId OutcomeRecorder::path_of(const Operation& op) const noexcept {
  const bool names_it = op.path != 0 || op.kind == OperationKind::open;
  if (names_it || op.file >= context_.open_files.size()) return op.path;
  return context_.open_files[op.file].path.load(std::memory_order_relaxed);
}

bool OutcomeRecorder::compare(const Operation& op, PathId path, std::int64_t result) noexcept {
  if (same_result(op, result)) return true;
  if (op.kind == OperationKind::get_xattr && !is_user_attribute(context_.texts->text(op.text))) {
    ++statistics_.unverified;  // attributes of the system are never set here
    return true;
  }
  const DivergenceClass what =
      context_.judge ? context_.judge->judge(op, path, result) : DivergenceClass::mismatch;
  note(op, path, result, what);
  if (is_failed_call(op, result)) {
    statistics_.add({.kind = op.kind,
                     .role = context_.paths->node(path).role,
                     .error = result < 0 ? static_cast<int>(-result) : 0,
                     .count = 1});
  }
  return what != DivergenceClass::mismatch;
}

bool OutcomeRecorder::content_differs(const Operation& op, PathId path,
                                      std::uint64_t position) noexcept {
  const bool explained = context_.judge && context_.judge->is_consequence(op, path);
  note(op, path, static_cast<std::int64_t>(op.offset + position),
       explained ? DivergenceClass::consequence : DivergenceClass::content);
  return explained;
}

void OutcomeRecorder::note(const Operation& op, PathId path, std::int64_t result,
                           DivergenceClass what) noexcept {
  ++statistics_.divergences;
  std::uint64_t& count = statistics_.by_class[static_cast<std::size_t>(what)];
  if (count++ >= ReplayStatistics::kDivergenceExamples) return;
  statistics_.examples.push_back(
      {op.position, op.thread, what, op.kind, path, op.expected, result});
}

}  // namespace filereel
