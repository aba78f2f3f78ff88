// Calls that move data, list directories, or move the position of an open file.
#include <algorithm>
#include <cerrno>
#include <string_view>
#include <utility>

#include <fcntl.h>
#include <linux/fs.h>
#include <sys/stat.h>
#include <unistd.h>

#include "traces/calls/file_calls.h"
#include "traces/calls/known_calls.h"

namespace filereel {
namespace {

constexpr std::uint64_t kMaxOffset = INT64_MAX;
constexpr std::string_view kOutOfRange = "calls with offsets out of range";

OperationKind kind_of_request(Call requested) {
  return requested == Call::read        ? OperationKind::read
         : requested == Call::write     ? OperationKind::write
         : requested == Call::fdatasync ? OperationKind::sync_data
                                        : OperationKind::sync;
}

// Start of a read or write that moved the position of its open file, if the tracer reports it and
// the trace cannot: other processes may append to the file or move the position.
std::optional<std::uint64_t> seen_position(const SystemCall& call, Description& file,
                                           bool appends) {
  if (call.call != Call::read && call.call != Call::write) return std::nullopt;
  if (!call.position || call.offset || call.result < 0) return std::nullopt;
  const auto moved = static_cast<std::uint64_t>(call.result);
  if (!(file.inherited || appends) || *call.position < moved) return std::nullopt;
  file.position_used = true;  // known from here on
  file.position_guessed = false;
  return *call.position - moved;
}

// Whether the model would take the offset of a write for the end of the file.
bool reveals_end(CallParts& parts, const Description& file) {
  if ((file.flags & O_APPEND) == 0) return false;
  const FileId entry = parts.model.file_of_slot(file.slot);
  return entry != kNoFileId && !parts.model.size_is_exact(entry);
}

// A write with RWF_NOAPPEND equals one while the file does not append.
void switch_append(CallParts& parts, const CallContext& context, const Description& file, bool on) {
  if (!on) parts.builder.approximated("writes with RWF_NOAPPEND, between changes of O_APPEND");
  const std::uint32_t flags = file.flags & kStatusFlags;
  const std::uint64_t at_ns = on ? context.call.exit_ns : context.call.enter_ns;
  parts.emitter.add(context.task, at_ns, at_ns,
                    {.kind = OperationKind::set_flags,
                     .flags = on ? flags : flags & ~static_cast<std::uint32_t>(O_APPEND),
                     .file = file.slot});
}

// Whether a read returned less than it asked for although the file had more: a pipe or socket was
// full, the buffer was not accessible, or RWF_NOWAIT. A replay gets all that it asks for.
bool is_short_of_end(CallParts& parts, const SystemCall& call, const Description& file,
                     std::uint64_t offset) {
  if (call.result <= 0 || static_cast<std::uint64_t>(call.result) >= call.length) return false;
  if (call.call != Call::read && call.call != Call::submit) return true;  // a copy
  const FileId entry = parts.model.file_of_slot(file.slot);
  return entry != kNoFileId && parts.model.size_is_exact(entry) &&
         !parts.model.size_is_assumed(entry) &&
         offset + static_cast<std::uint64_t>(call.result) < parts.model.size(entry);
}

// Whether a write is known to be at the offset of its operation.
bool is_place_certain(CallParts& parts, const SystemCall& call, const Description& file,
                      bool appends) {
  if (!appends) return call.offset || !file.position_guessed;
  const FileId entry = parts.model.file_of_slot(file.slot);
  return call.position || (entry != kNoFileId && parts.model.size_is_exact(entry) &&
                           !parts.model.size_is_assumed(entry));
}

void transfer(CallParts& parts, const CallContext& context, OperationKind kind, Description& file,
              std::optional<std::uint64_t> offset) {
  const SystemCall& call = context.call;
  const bool writes = kind == OperationKind::write;
  const bool asynchronous = call.call == Call::submit;
  const std::uint64_t flags = call.call == Call::write || asynchronous ? call.flags : 0;
  const bool no_append = (flags & call_flags::kNoAppend) != 0;
  const bool appends = writes && !no_append && ((file.flags & O_APPEND) || (flags & RWF_APPEND));
  Operation operation{.kind = kind,
                      .asynchronous = asynchronous,
                      .file = file.slot,
                      .length = std::min(call.length, kMaxTransfer)};
  // Linux appends even if an offset is given, unless RWF_NOAPPEND is.
  if (const auto seen = seen_position(call, file, appends)) {
    operation.offset = *seen;
  } else {
    operation.offset = offset && !appends ? *offset : parts.files.position_of(file, appends);
    const FileId entry = parts.model.file_of_slot(file.slot);
    if (appends && call.result > 0 && !parts.model.size_is_exact(entry)) {
      parts.builder.approximated("appends to files of unknown size");
    }
  }
  operation.loose = !writes && !offset && file.position_guessed;
  if (!writes && is_short_of_end(parts, call, file, operation.offset)) {
    operation.length = static_cast<std::uint64_t>(call.result);
  }
  if (operation.offset > kMaxOffset - operation.length) return parts.builder.lost(kOutOfRange);
  if (call.result >= 0) {
    operation.expected = std::min(call.result, static_cast<std::int64_t>(operation.length));
    if (!offset) file.offset = operation.offset + static_cast<std::uint64_t>(operation.expected);
  }
  const bool is_certain = is_place_certain(parts, call, file, appends);
  const bool elsewhere = no_append && call.result > 0 && reveals_end(parts, file);
  if (elsewhere) switch_append(parts, context, file, false);
  parts.emitter.emit(context, operation, is_certain ? call.data : std::string_view());
  if (elsewhere) switch_append(parts, context, file, true);
  if (!writes || call.result <= 0 || !(flags & (RWF_DSYNC | RWF_SYNC))) return;
  if (asynchronous) {
    return parts.builder.approximated("RWF_DSYNC and RWF_SYNC on asynchronous writes");
  }
  parts.builder.approximated("writes with RWF_DSYNC or RWF_SYNC, replaced by a write and a sync");
  const OperationKind sync = flags & RWF_SYNC ? OperationKind::sync : OperationKind::sync_data;
  parts.emitter.add(context.task, call.exit_ns, call.exit_ns, {.kind = sync, .file = file.slot});
}

// Adds a stat to the trace after a seek showed the size of `file`.
void add_size_stat(CallParts& parts, const CallContext& context, const Description& file,
                   std::uint64_t size) {
  const FileId entry = parts.model.file_of_slot(file.slot);
  if (entry == kNoFileId || size > kMaxOffset || file.directory ||
      parts.model.is_directory(file.path)) {
    return;
  }
  if (parts.model.size_is_exact(entry) && parts.model.size(entry) == size) return;
  parts.builder.approximated("stat operations added for file sizes found by seeks");
  parts.emitter.add(context.task, context.call.enter_ns, context.call.exit_ns,
                    {.kind = OperationKind::stat,
                     .loose = true,
                     .mode = S_IFREG,  // its permissions are unknown
                     .file = file.slot,
                     .length = size});
}

}  // namespace

void transfer_call(CallParts& parts, CallContext& context, OperationKind kind) {
  const FileUse use = kind == OperationKind::write ? FileUse::writing : FileUse::reading;
  Description* file = parts.files.find_open(context, first_file(context.call), use);
  if (file) transfer(parts, context, kind, *file, context.call.offset);
}

void copy_call(CallParts& parts, CallContext& context, CopyMethod method) {
  const SystemCall& call = context.call;
  Description* source = parts.files.find_open(context, first_file(call), FileUse::reading);
  Description* destination = parts.files.find_open(context, second_file(call), FileUse::writing);
  if (!source && !destination) return;
  // splice between two files always fails. Why a copy to or from a pipe or socket failed cannot be
  // seen from a read or write of the file.
  if (call.result < 0 && (!source || !destination || method == CopyMethod::splice)) {
    return parts.builder.approximated("failed copies to or from pipes and sockets omitted");
  }
  if (!destination) {
    parts.builder.approximated("copies from a file to a pipe or socket recorded as reads");
    return transfer(parts, context, OperationKind::read, *source, call.offset);
  }
  if (!source) {
    parts.builder.approximated("copies from a pipe or socket to a file recorded as writes");
    return transfer(parts, context, OperationKind::write, *destination, call.offset2);
  }
  const DirectoryFilter& kept = parts.emitter.kept();
  if (kept.is_inside_file(source->slot) || kept.is_inside_file(destination->slot)) {
    parts.files.require_open(context, *source);
    parts.files.require_open(context, *destination);
  }
  const bool clones = method == CopyMethod::reflink;
  const auto place = [&](Description& file, const std::optional<std::uint64_t>& offset,
                         bool writes) {
    return offset   ? *offset
           : clones ? 0
                    : parts.files.position_of(file, writes && (file.flags & O_APPEND));
  };
  Operation operation{.kind = OperationKind::copy_range,
                      .method = method,
                      .file = destination->slot,
                      .source = source->slot};
  operation.second = place(*source, call.offset, false);
  operation.offset = place(*destination, call.offset2, true);
  if (operation.second > kMaxOffset || operation.offset > kMaxOffset) {
    return parts.builder.lost(kOutOfRange);
  }
  operation.length =
      std::min(call.length, kMaxOffset - std::max(operation.second, operation.offset));
  if (clones && call.length == 0) {  // up to the end of the source
    const std::uint64_t size = parts.model.size(parts.model.file_of_slot(source->slot));
    operation.length = size - std::min(size, operation.second);
  }
  if (call.result >= 0) {
    const auto length = static_cast<std::int64_t>(operation.length);
    operation.expected = clones ? length : std::min(call.result, length);
    const auto moved = static_cast<std::uint64_t>(operation.expected);
    if (!clones && !call.offset) source->offset = operation.second + moved;
    if (!clones && !call.offset2) destination->offset = operation.offset + moved;
  }
  parts.emitter.emit(context, operation);
}

namespace {

// What a search for data or a hole shows about the file before the trace.
void learn_holes(CallParts& parts, const SystemCall& call, const Description& file) {
  constexpr std::uint64_t kBlock = 4096;  // a hole has at least this size
  const FileId entry = parts.model.file_of_slot(file.slot);
  const std::uint64_t from = call.offset.value_or(0);
  const bool finds_data = call.flags == SEEK_DATA;
  if (entry == kNoFileId || from > kMaxOffset) return;
  if (finds_data && call.result == -ENXIO) parts.model.learn_hole(entry, from, kMaxOffset);
  if (call.result < 0) return;
  const auto found = static_cast<std::uint64_t>(call.result);
  if (found < from) return;
  if (finds_data) {
    parts.model.learn_hole(entry, from, found - from);
    parts.model.learn_data(entry, found, 1);
  } else {
    parts.model.learn_data(entry, from, found - from);
    parts.model.learn_hole(entry, found, kBlock);
  }
}

}  // namespace

void seek_call(CallParts& parts, CallContext& context) {
  const SystemCall& call = context.call;
  const bool finds = call.flags == SEEK_DATA || call.flags == SEEK_HOLE;
  const bool shows_size = call.flags == SEEK_END && call.offset && call.result >= 0;
  Description* file = parts.files.find_open(
      context, first_file(call), finds || shows_size ? FileUse::reading : FileUse::other);
  if (!file) return;
  if (shows_size) {
    add_size_stat(parts, context, *file, static_cast<std::uint64_t>(call.result) - *call.offset);
  }
  if (finds) {
    const std::uint64_t offset = call.offset.value_or(0);
    if (offset > kMaxOffset) return parts.builder.lost(kOutOfRange);
    parts.emitter.emit(context, {.kind = OperationKind::seek,
                                 .flags = static_cast<std::uint32_t>(call.flags),
                                 .file = file->slot,
                                 .offset = offset});
    learn_holes(parts, call, *file);
  }
  if (call.result < 0) return;
  file->offset = static_cast<std::uint64_t>(call.result);
  file->position_used = true;  // known from here on
  file->position_guessed = false;
  if (call.result == 0) file->entries = 0;
}

void list_call(CallParts& parts, CallContext& context) {
  const SystemCall& call = context.call;
  Description* file = parts.files.find_open(context, first_file(call), FileUse::listing);
  if (!file) return;
  file->directory = true;
  parts.emitter.emit(context, {.kind = OperationKind::list,
                               .file = file->slot,
                               .offset = file->entries,
                               .length = std::min(call.length, kMaxTransfer)});
  if (call.result <= 0) return;
  // If the tracer does not count them: an entry takes at least 24 bytes.
  const std::uint64_t entries =
      call.entries != 0 ? call.entries : static_cast<std::uint64_t>(call.result) / 24;
  file->entries += std::min<std::uint64_t>(std::max<std::uint64_t>(entries, 1), UINT32_MAX);
}

void submit_call(CallParts& parts, CallContext& context) {
  const SystemCall& call = context.call;
  Task& task = context.task;
  const OperationKind kind = kind_of_request(call.requested);
  const FileUse use = kind == OperationKind::write ? FileUse::writing : FileUse::reading;
  const DescriptionRef file = parts.files.find(context, first_file(call), use);
  if (!file) return;
  if (call.fd == SystemCall::kNone) {  // the file stays open while it is registered
    parts.files.drop(task, call.enter_ns, call.enter_ns, task.files->hold(file));
  }
  parts.files.ensure_open(context, *file, use);
  if (!parts.emitter.kept().is_inside_file(file->slot)) return;
  parts.emitter.reap(task);  // before this one is counted
  ++task.requests;
  parts.submitters.emplace(std::pair(task.process->id, call.request), task.thread);
  if (kind == OperationKind::read || kind == OperationKind::write) {
    return transfer(parts, context, kind, *file, call.offset);
  }
  parts.emitter.emit(context, {.kind = kind, .asynchronous = true, .file = file->slot});
}

void complete_call(CallParts& parts, CallContext& context) {
  const SystemCall& call = context.call;
  Task& task = context.task;
  const std::pair key{task.process->id, call.request};
  auto found = parts.submitters.upper_bound(key);  // the latest with that name
  if (found == parts.submitters.begin() || (--found)->first != key) return;
  Task* submitter = parts.tasks.find(found->second);
  parts.submitters.erase(found);
  if (!submitter) return;
  if (submitter->requests > 0) --submitter->requests;
  if (submitter != &task) return;
  // One operation covers all requests found to be completed together.
  if (!task.reap_due) task.reap_begin_ns = call.enter_ns;
  task.reap_due = true;
  task.reap_end_ns = std::max(task.reap_end_ns, call.exit_ns);
}

}  // namespace filereel
