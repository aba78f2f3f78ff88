// Calls that move data, and positions: what a description's position is, they use and move.
#include <algorithm>
#include <utility>

#include <fcntl.h>
#include <linux/fs.h>
#include <sys/stat.h>
#include <unistd.h>

#include "traces/calls/call_translation.h"

namespace filereel {
namespace {

constexpr std::uint64_t kMaxOffset = INT64_MAX;

CopyMethod method_of(Call call) {
  switch (call) {
    case Call::sendfile:
      return CopyMethod::sendfile;
    case Call::splice:
      return CopyMethod::splice;
    case Call::clone_range:
      return CopyMethod::reflink;
    default:
      return CopyMethod::copy_file_range;
  }
}

}  // namespace

std::uint64_t CallTranslation::position_of(Description& file, bool appends) {
  if (appends) {
    // What was there before the trace counts until the trace has written behind it.
    const std::uint64_t before = std::exchange(file.size_before, 0);
    return std::max(before, model_.size(model_.file_of_slot(file.slot)));
  }
  if (file.inherited && !file.position_used) {
    builder_.approximated("positions of files that were open before the trace taken for 0");
    file.position_used = file.position_guessed = true;
  }
  return file.offset;
}

// Where a read or write that moved its open file's position began, if the tracer says it and the
// trace alone does not: others may append to the file or move the position too.
std::optional<std::uint64_t> CallTranslation::seen_position(const SystemCall& call,
                                                            Description& file, bool appends) {
  if (call.call != Call::read && call.call != Call::write) return std::nullopt;
  if (!call.position || call.offset || call.result < 0) return std::nullopt;
  const auto moved = static_cast<std::uint64_t>(call.result);
  if (!(file.inherited || appends) || *call.position < moved) return std::nullopt;
  file.position_used = true;  // known from here on
  file.position_guessed = false;
  return *call.position - moved;
}

void CallTranslation::transfer_call(Task& task, const SystemCall& call, OperationKind kind,
                                    Description* file, std::optional<std::uint64_t> offset) {
  const bool writes = kind == OperationKind::write;
  const bool asynchronous = call.call == Call::submit;
  const std::uint64_t flags = call.call == Call::write || asynchronous ? call.flags : 0;
  const bool appends = writes && ((file->flags & O_APPEND) || (flags & RWF_APPEND));
  Operation operation;
  operation.kind = kind;
  operation.file = file->slot;
  operation.asynchronous = asynchronous;
  // Linux appends even where an offset is given.
  if (const auto seen = seen_position(call, *file, appends)) {
    operation.offset = *seen;
  } else {
    operation.offset = offset && !appends ? *offset : position_of(*file, appends);
  }
  operation.length = std::min(call.length, kMaxTransfer);
  operation.loose = !writes && !offset && file->position_guessed;
  if (operation.offset > kMaxOffset - operation.length) {
    return builder_.lost("calls with impossible offsets");
  }
  if (call.result >= 0) {
    operation.expected = std::min(call.result, static_cast<std::int64_t>(operation.length));
    if (!offset) {
      file->offset = operation.offset + static_cast<std::uint64_t>(operation.expected);
    }
  }
  emit(task, call, operation);
  if (!writes || call.result <= 0 || !(flags & (RWF_DSYNC | RWF_SYNC))) return;
  if (asynchronous) return builder_.approximated("RWF_DSYNC and RWF_SYNC of asynchronous writes");
  builder_.approximated("writes with RWF_DSYNC or RWF_SYNC: a sync follows them");
  Operation sync;
  sync.kind = flags & RWF_SYNC ? OperationKind::sync : OperationKind::sync_data;
  sync.file = file->slot;
  emit_at(task, call.exit_ns, call.exit_ns, sync);
}

void CallTranslation::data_call(Task& task, const SystemCall& call) {
  const bool writes = call.call == Call::write;
  Description* file = file_of(task, call, first_file(call), writes ? Use::writing : Use::reading);
  if (!file) return;
  transfer_call(task, call, writes ? OperationKind::write : OperationKind::read, file, call.offset);
}

void CallTranslation::copy_call(Task& task, const SystemCall& call) {
  Description* source = file_of(task, call, first_file(call), Use::reading);
  Description* destination = file_of(task, call, second_file(call), Use::writing);
  if (!source && !destination) return;
  // Between files splice always fails; and why a copy with a pipe or socket failed, no read or
  // write of the file alone shows.
  if (call.result < 0 && (!source || !destination || call.call == Call::splice)) {
    return builder_.approximated("copies with a pipe or socket that failed left out");
  }
  if (!destination) {
    builder_.approximated("copies from a file to a pipe or socket taken for reads");
    return transfer_call(task, call, OperationKind::read, source, call.offset);
  }
  if (!source) {
    builder_.approximated("copies from a pipe or socket to a file taken for writes");
    return transfer_call(task, call, OperationKind::write, destination, call.offset2);
  }
  if (kept_.is_inside_file(source->slot) || kept_.is_inside_file(destination->slot)) {
    show(task, call, *source);
    show(task, call, *destination);
  }
  const bool clones = call.call == Call::clone_range;
  Operation operation;
  operation.kind = OperationKind::copy_range;
  operation.method = method_of(call.call);
  operation.file = destination->slot;
  operation.source = source->slot;
  const auto place = [&](Description& file, const std::optional<std::uint64_t>& offset,
                         bool writes) {
    return offset ? *offset : clones ? 0 : position_of(file, writes && (file.flags & O_APPEND));
  };
  operation.second = place(*source, call.offset, false);
  operation.offset = place(*destination, call.offset2, true);
  if (operation.second > kMaxOffset || operation.offset > kMaxOffset) {
    return builder_.lost("calls with impossible offsets");
  }
  operation.length =
      std::min(call.length, kMaxOffset - std::max(operation.second, operation.offset));
  if (clones && call.length == 0) {  // to the source's end
    const std::uint64_t size = model_.size(model_.file_of_slot(source->slot));
    operation.length = size - std::min(size, operation.second);
  }
  if (call.result >= 0) {
    const auto length = static_cast<std::int64_t>(operation.length);
    operation.expected = clones ? length : std::min(call.result, length);
    const auto moved = static_cast<std::uint64_t>(operation.expected);
    if (!clones && !call.offset) source->offset = operation.second + moved;
    if (!clones && !call.offset2) destination->offset = operation.offset + moved;
  }
  emit(task, call, operation);
}

void CallTranslation::seek_call(Task& task, const SystemCall& call) {
  const bool finds = call.flags == SEEK_DATA || call.flags == SEEK_HOLE;
  const bool shows_size = call.flags == SEEK_END && call.offset && call.result >= 0;
  Description* file =
      file_of(task, call, first_file(call), finds || shows_size ? Use::reading : Use::other);
  if (!file) return;
  if (shows_size)
    size_seen(task, call, *file, static_cast<std::uint64_t>(call.result) - *call.offset);
  if (finds) {
    Operation operation;
    operation.kind = OperationKind::seek;
    operation.file = file->slot;
    operation.flags = static_cast<std::uint32_t>(call.flags);
    operation.offset = call.offset.value_or(0);
    if (operation.offset > kMaxOffset) return builder_.lost("calls with impossible offsets");
    emit(task, call, operation);
  }
  if (call.result < 0) return;
  file->offset = static_cast<std::uint64_t>(call.result);
  file->position_used = true;  // known from here on
  file->position_guessed = false;
  if (call.result == 0) file->entries = 0;
}

void CallTranslation::size_seen(Task& task, const SystemCall& call, const Description& file,
                                std::uint64_t size) {
  const FileId entry = model_.file_of_slot(file.slot);
  if (entry == kNoFileId || size > kMaxOffset || file.directory || model_.is_directory(file.path))
    return;
  if (model_.size_is_exact(entry) && model_.size(entry) == size) return;
  builder_.approximated("a stat added that tells what size a seek showed");
  Operation stat;
  stat.kind = OperationKind::stat;
  stat.file = file.slot;
  stat.mode = S_IFREG;  // its permissions were not seen
  stat.length = size;
  stat.loose = true;
  emit_at(task, call.enter_ns, call.exit_ns, stat);
}

void CallTranslation::list_call(Task& task, const SystemCall& call) {
  Description* file = file_of(task, call, first_file(call), Use::listing);
  if (!file) return;
  file->directory = true;
  Operation operation;
  operation.kind = OperationKind::list;
  operation.file = file->slot;
  operation.offset = file->entries;
  operation.length = std::min(call.length, kMaxTransfer);
  emit(task, call, operation);
  if (call.result <= 0) return;
  // Where the tracer does not count them: an entry takes 24 bytes or more.
  const std::uint64_t entries =
      call.entries != 0 ? call.entries : static_cast<std::uint64_t>(call.result) / 24;
  file->entries += std::min<std::uint64_t>(std::max<std::uint64_t>(entries, 1), UINT32_MAX);
}

void CallTranslation::submit_call(Task& task, const SystemCall& call) {
  const bool writes = call.requested == Call::write;
  const Use use = writes ? Use::writing : Use::reading;
  const DescriptionRef held = find_file(task, call, first_file(call), use);
  if (!held) return;
  if (call.fd == SystemCall::kNone) {  // it stays open as long as it is registered
    drop(task, call.enter_ns, call.enter_ns, task.files->hold(held));
  }
  Description* file = held.get();
  announce(task, call, *file, use);
  if (!kept_.is_inside_file(file->slot)) return;
  if (task.reap_due) reap(task);  // before this one counts
  ++task.requests;
  submitters_.emplace(RequestKey{task.process->id, call.request}, task.thread);
  if (writes || call.requested == Call::read) {
    return transfer_call(task, call, writes ? OperationKind::write : OperationKind::read, file,
                         call.offset);
  }
  Operation operation;
  operation.kind =
      call.requested == Call::fdatasync ? OperationKind::sync_data : OperationKind::sync;
  operation.file = file->slot;
  operation.asynchronous = true;
  emit(task, call, operation);
}

void CallTranslation::complete_call(Task& task, const SystemCall& call) {
  const auto found = submitters_.find(RequestKey{task.process->id, call.request});
  if (found == submitters_.end()) return;
  Task* submitter = tasks_.find(found->second);
  submitters_.erase(found);
  if (!submitter) return;
  if (submitter->requests > 0) --submitter->requests;
  if (submitter != &task) return;
  // One operation says it for all that are found to be done together.
  if (!task.reap_due) task.reap_begin_ns = call.enter_ns;
  task.reap_due = true;
  task.reap_end_ns = std::max(task.reap_end_ns, call.exit_ns);
}

void CallTranslation::reap(Task& task) {
  task.reap_due = false;
  Operation operation;
  operation.kind = OperationKind::reap;
  operation.length = task.requests;
  emit_at(task, task.reap_begin_ns, std::exchange(task.reap_end_ns, 0), operation);
}

}  // namespace filereel
