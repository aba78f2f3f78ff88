// Calls that are about descriptors, and calls that use one without moving data.
#include <algorithm>
#include <climits>
#include <utility>

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "traces/calls/call_translation.h"

namespace filereel {
namespace {

// linux/close_range.h
constexpr std::uint64_t kUnshare = 1 << 1, kCloseOnExec = 1 << 2;

// What F_SETFL can change.
constexpr std::uint32_t kStatusFlags = O_APPEND | O_ASYNC | O_DIRECT | O_NOATIME | O_NONBLOCK;

std::uint32_t lock_flags_of(const SystemCall& call) {
  if (call.call == Call::flock) {
    std::uint32_t flags = call.flags & LOCK_UN   ? lock_flags::kUnlock
                          : call.flags & LOCK_EX ? lock_flags::kExclusive
                                                 : lock_flags::kShared;
    if (!(call.flags & (LOCK_NB | LOCK_UN))) flags |= lock_flags::kWait;
    return flags;
  }
  std::uint32_t flags = lock_flags::kRecord;
  flags |= call.flags == F_UNLCK   ? lock_flags::kUnlock
           : call.flags == F_WRLCK ? lock_flags::kExclusive
                                   : lock_flags::kShared;
  if (call.mode != 0 && call.flags != F_UNLCK) flags |= lock_flags::kWait;
  return flags;
}

}  // namespace

void CallTranslation::put(Task& task, const SystemCall& call, std::int64_t number,
                          DescriptionRef file, bool close_on_exec) {
  if (number < 0 || number > INT_MAX) return;
  const auto at = static_cast<int>(number);
  DescriptorEntry descriptor{
      .description = std::move(file), .close_on_exec = close_on_exec, .since_ns = call.exit_ns};
  if (task.files->find(at)) task.files->expect_close(at, call.exit_ns);
  drop(task, call.enter_ns, call.enter_ns, task.files->put(at, std::move(descriptor)));
}

void CallTranslation::new_descriptor_call(Task& task, const SystemCall& call) {
  if (call.result < 0) return;
  DescriptionRef file;
  // Another process's file, or one that was sent here.
  if (names_file(call.result_path)) {
    file = open_files_.find(call.result_file);
    const Handle handle{static_cast<int>(std::min<std::int64_t>(call.result, INT_MAX)),
                        call.result_path, call.result_file};
    if (!file) file = inherit(task, call, handle, Use::other);
  }
  open_files_.bind(call.result_file, file);
  put(task, call, call.result, std::move(file), (call.flags & O_CLOEXEC) != 0);
}

void CallTranslation::drop(Task& task, std::uint64_t begin_ns, std::uint64_t end_ns,
                           DescriptorEntry&& descriptor, std::int64_t result) {
  // Gone at the end, so that a duplicate that is dropped next can be the last.
  const DescriptionRef file = std::move(descriptor.description);
  if (!file || file.use_count() > 1 || file->slot == kNoFile) return;
  if (DescriptionRef first = give_back(*file)) {
    return drop(task, begin_ns, end_ns, {.description = std::move(first)}, result);
  }
  Operation close;
  close.kind = OperationKind::close;
  close.file = file->slot;
  close.expected = result;
  close.loose = result != 0;
  emit_at(task, begin_ns, end_ns, close);
  builder_.free_slot(file->slot);
  open_files_.forget(*file);
}

DescriptionRef CallTranslation::give_back(Description& file) {
  if (!file.opened_before) return nullptr;
  file.slot = kNoFile;
  open_files_.forget(file);
  return std::exchange(file.opened_before, nullptr);
}

void CallTranslation::close_call(Task& task, const SystemCall& call) {
  if (call.result == -EBADF || call.fd < 0) return;
  if (task.files->is_late_close(call.fd, call.enter_ns)) return;
  // Linux closes even where it reports an error; an interrupted close is not one to expect.
  const std::int64_t result =
      call.result < 0 && call.result != -EINTR && call.result > -512 ? call.result : 0;
  drop(task, call.enter_ns, call.exit_ns, task.files->take(call.fd), result);
}

void CallTranslation::close_range_call(Task& task, const SystemCall& call) {
  if (call.result < 0) return;
  const int first = std::max(call.fd, 0);
  const int last = call.fd2 < 0 ? INT_MAX : call.fd2;
  if ((call.flags & kUnshare) && task.files.use_count() > 1) {
    task.files = std::make_shared<DescriptorTable>(*task.files);
  }
  if (call.flags & kCloseOnExec) return task.files->set_close_on_exec(first, last);
  for (DescriptorEntry& descriptor : task.files->take_range(first, last)) {
    drop(task, call.enter_ns, call.exit_ns, std::move(descriptor));
  }
}

void CallTranslation::dup_call(Task& task, const SystemCall& call) {
  if (call.result < 0 || call.fd < 0) return;
  if (call.result == call.fd) return;  // dup2 to itself
  const std::uint64_t of_kernel = call.file != 0 ? call.file : call.result_file;
  DescriptionRef file = find_file(task, call, {call.fd, call.fd_path, of_kernel}, Use::other);
  if (call.result > INT_MAX) return;
  const auto number = static_cast<int>(call.result);
  const bool replaces = call.fd2 == number;  // dup2; others are given what is free
  if (replaces) drop(task, call.enter_ns, call.exit_ns, task.files->take(number));
  put(task, call, number, std::move(file), (call.flags & O_CLOEXEC) != 0);
}

void CallTranslation::set_flags_call(Task& task, const SystemCall& call) {
  Description* file = file_of(task, call, first_file(call), Use::reading);
  if (!file) return;
  Operation operation;
  operation.kind = OperationKind::set_flags;
  operation.file = file->slot;
  operation.flags = static_cast<std::uint32_t>(call.flags) & kStatusFlags;
  if (call.result >= 0) file->flags = (file->flags & ~kStatusFlags) | operation.flags;
  emit(task, call, operation);
}

bool CallTranslation::locate_lock(const SystemCall& call, Description& file, std::uint64_t& offset,
                                  std::uint64_t& length) {
  // Two's complement: negative numbers count backwards.
  if (call.offset2 == SEEK_CUR) {
    offset += position_of(file, false);
  } else if (call.offset2 == SEEK_END) {
    offset += model_.size(model_.file_of_slot(file.slot));
  }
  if (length > INT64_MAX) {  // what lies before
    offset += length;
    length = -length;
  }
  return offset <= INT64_MAX;
}

void CallTranslation::file_call(Task& task, const SystemCall& call) {
  Operation operation;
  Target target;
  if (call.call == Call::sync) {
    operation.kind = OperationKind::sync_volume;
    return emit(task, call, operation);
  }
  const bool writes = call.call == Call::ftruncate || call.call == Call::fallocate ||
                      (call.call == Call::record_lock && call.flags == F_WRLCK);
  target.file = file_of(task, call, first_file(call), writes ? Use::writing : Use::reading);
  if (!target.file) return;
  if (call.stat && call.result >= 0 && !S_ISREG(call.stat->mode) && !S_ISDIR(call.stat->mode) &&
      !S_ISLNK(call.stat->mode)) {
    return;  // a pipe or a device after all
  }
  std::uint64_t offset = call.offset.value_or(0), length = call.length;
  if (call.call == Call::record_lock && !locate_lock(call, *target.file, offset, length)) {
    if (call.result < 0) return;
    return builder_.lost("calls with impossible offsets");
  }
  operation.file = target.file->slot;
  const auto ranged = [&](OperationKind kind, std::uint64_t flags) {
    operation.kind = kind;
    operation.flags = static_cast<std::uint32_t>(flags);
    operation.offset = offset;
    operation.length = std::min<std::uint64_t>(length, INT64_MAX - offset);
  };
  if (offset > INT64_MAX && call.call != Call::fchown) {
    return builder_.lost("calls with impossible offsets");
  }
  switch (call.call) {
    case Call::ftruncate:
      operation.kind = OperationKind::truncate;
      operation.offset = offset;
      break;
    case Call::fallocate:
      ranged(OperationKind::allocate, call.flags);
      break;
    case Call::fsync:
      operation.kind = OperationKind::sync;
      break;
    case Call::fdatasync:
      operation.kind = OperationKind::sync_data;
      break;
    case Call::sync_file_range:
      ranged(OperationKind::sync_range, call.flags);
      break;
    case Call::syncfs:
      operation.kind = OperationKind::sync_volume;
      break;
    case Call::fstat:
      operation.kind = OperationKind::stat;
      describe(call, target, operation);
      break;
    case Call::fstatfs:
      operation.kind = OperationKind::stat_volume;
      break;
    case Call::fchmod:
      operation.kind = OperationKind::change_mode;
      operation.mode = static_cast<std::uint32_t>(call.mode & 07777);
      break;
    case Call::fchown:
      operation.kind = OperationKind::change_owner;
      set_owner(call, operation);
      break;
    case Call::futimens:
      operation.kind = OperationKind::set_times;
      operation.offset = call.times[0];
      operation.second = call.times[1];
      break;
    case Call::fadvise:
      ranged(OperationKind::advise, call.flags);
      break;
    case Call::readahead:
      ranged(OperationKind::read_ahead, 0);
      break;
    case Call::flock:
    case Call::record_lock:
      ranged(OperationKind::lock, lock_flags_of(call));
      break;
    default:
      return emit_attribute(task, call, operation);
  }
  emit(task, call, operation);
}

void CallTranslation::set_owner(const SystemCall& call, Operation& operation) {
  const auto owner = [](const std::optional<std::uint64_t>& id) {
    return !id || *id >= UINT32_MAX ? UINT64_MAX : *id;
  };
  operation.offset = owner(call.offset);
  operation.second = owner(call.offset2);
}

void CallTranslation::emit_attribute(Task& task, const SystemCall& call, Operation operation) {
  operation.length = call.length;
  operation.text = builder_.tables().texts.add(call.text);
  switch (call.call) {
    case Call::getxattr:
      operation.kind = OperationKind::get_xattr;
      break;
    case Call::setxattr:
      operation.kind = OperationKind::set_xattr;
      operation.flags = static_cast<std::uint32_t>(call.flags & 3);  // XATTR_CREATE, XATTR_REPLACE
      break;
    case Call::listxattr:
      operation.kind = OperationKind::list_xattr;
      operation.text = 0;
      break;
    default:
      operation.kind = OperationKind::remove_xattr;
      operation.length = 0;
      break;
  }
  emit(task, call, operation);
}

}  // namespace filereel
