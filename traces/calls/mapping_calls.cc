// Calls that map files into memory.
#include <algorithm>

#include <sys/mman.h>
#include <sys/stat.h>

#include "traces/calls/call_translation.h"

namespace filereel {
namespace {

// Where a mapping lies says nothing about the file.
constexpr std::uint64_t kPlacing = MAP_FIXED | MAP_FIXED_NOREPLACE;
constexpr unsigned kMapFlagsShift = 8;  // in an operation's flags, above PROT_*

}  // namespace

void CallTranslation::emit_unmaps(Task& task, std::uint64_t begin_ns, std::uint64_t end_ns,
                                  const std::vector<FileSlot>& gone) {
  for (const FileSlot mapping : gone) {
    Operation operation;
    operation.kind = OperationKind::unmap;
    operation.source = mapping;
    emit_at(task, begin_ns, end_ns, operation);
    builder_.free_mapping(mapping);
  }
}

void CallTranslation::unmap_all(Task& task, std::uint64_t at_ns) {
  std::vector<FileSlot> gone;
  if (task.memory.use_count() == 1) task.memory->remove(0, UINT64_MAX, mapping_uses_, gone);
  emit_unmaps(task, at_ns, at_ns, gone);
}

void CallTranslation::map_call(Task& task, const SystemCall& call) {
  Description* file = nullptr;
  const bool of_file = !(call.flags & MAP_ANONYMOUS) && call.fd >= 0;
  if (call.result < 0) {
    if (of_file) builder_.lost("memory maps that failed");
    return;
  }
  const auto begin = static_cast<std::uint64_t>(call.result);
  const std::uint64_t end = AddressSpace::end_of(begin, call.length);
  std::vector<FileSlot> gone;
  task.memory->remove(begin, end, mapping_uses_, gone);
  emit_unmaps(task, call.enter_ns, call.enter_ns, gone);

  const bool stores = (call.flags & MAP_TYPE) != MAP_PRIVATE && (call.mode & PROT_WRITE);
  if (of_file) {
    file = file_of(task, call, first_file(call), stores ? Use::writing : Use::reading);
  }
  if (!file) return;
  Operation operation;
  operation.kind = OperationKind::map;
  operation.file = file->slot;
  operation.flags = static_cast<std::uint32_t>(
      (call.mode & 0xff) | ((call.flags & ~kPlacing) & 0xffffff) << kMapFlagsShift);
  operation.offset = call.offset.value_or(0);
  operation.length = call.length;
  if (operation.offset > INT64_MAX - std::min<std::uint64_t>(operation.length, INT64_MAX) ||
      operation.length > INT64_MAX) {
    return builder_.lost("calls with impossible offsets");
  }
  operation.source = builder_.take_mapping();
  const MappedFile shown{.file = model_.file_of_slot(file->slot),
                         .offset = operation.offset,
                         .shared = (call.flags & MAP_TYPE) != MAP_PRIVATE};
  if (!task.memory->add(begin, {end, operation.source, 0, shown}, mapping_uses_)) {
    builder_.free_mapping(operation.source);
    return builder_.lost("memory maps beyond what a process can have");
  }
  if (stores) {
    builder_.approximated(sees_faults_ ? "stores to shared mappings are known by page only"
                                       : "stores to shared mappings are not visible");
  }
  emit(task, call, operation);
}

void CallTranslation::mapping_call(Task& task, const SystemCall& call) {
  if (call.result < 0) return;
  const std::uint64_t begin = call.address;
  std::vector<FileSlot> gone;
  if (call.call == Call::munmap) {
    task.memory->remove(begin, AddressSpace::end_of(begin, call.length), mapping_uses_, gone);
    return emit_unmaps(task, call.enter_ns, call.exit_ns, gone);
  }
  if (call.call == Call::mremap) {
    const std::uint64_t end = AddressSpace::end_of(begin, call.offset.value_or(call.length));
    const bool grows = AddressSpace::end_of(begin, call.length) > end;
    if (grows && !task.memory->parts(begin, end).empty()) {
      builder_.approximated("memory maps that grow");
    }
    task.memory->move(begin, end, static_cast<std::uint64_t>(call.result), call.length,
                      mapping_uses_, gone);
    return emit_unmaps(task, call.enter_ns, call.exit_ns, gone);
  }
  if (call.call == Call::fault && call.address == 0) return fault_call(task, call);
  const std::uint64_t length = call.length == 0 ? AddressSpace::kPage : call.length;
  const std::uint64_t end = AddressSpace::end_of(begin, length);
  for (const AddressSpace::Part& part : task.memory->parts(begin, end)) {
    if (call.call == Call::madvise) {
      builder_.approximated("advice on mapped memory left out");
      return;
    }
    Operation operation;
    operation.kind = call.call == Call::msync ? OperationKind::sync_map : OperationKind::fault;
    operation.source = part.mapping;
    operation.flags = static_cast<std::uint32_t>(call.flags);
    operation.offset = part.offset;
    operation.length = part.length;
    emit(task, call, operation);
  }
}

// A page of a file that was brought in or first stored to, without its address.
void CallTranslation::fault_call(Task& task, const SystemCall& call) {
  const std::uint64_t begin = call.offset.value_or(0);
  const std::uint64_t length = call.length == 0 ? AddressSpace::kPage : call.length;
  if (begin > INT64_MAX || length > INT64_MAX - begin) return;
  const FileId by_identity = call.stat ? identities_.find(*call.stat) : kNoFileId;
  PathId path = 0;
  const bool named = names_file(call.fd_path);
  bool deleted = false;
  if (named) path = paths_.real(call.fd_path, deleted);
  const FileId by_path = named ? model_.file_of(path) : kNoFileId;
  const auto find = [&](bool only_shared) {
    for (const FileId file : {by_identity, by_path}) {
      if (file == kNoFileId) continue;
      auto parts = task.memory->parts_of_file(file, begin, begin + length, only_shared);
      if (!parts.empty()) return parts;
    }
    return std::vector<AddressSpace::Part>{};
  };
  // A store to a private page changes a copy of it: of the file it is only read.
  const bool stores = (call.flags & 1) != 0;
  bool writes = stores;
  std::vector<AddressSpace::Part> parts = find(writes);
  if (parts.empty() && stores) {
    writes = false;
    parts = find(false);
  }
  if (by_identity != kNoFileId) {  // it may have been renamed since
    if (const auto now = model_.path_of(by_identity)) path = *now;
  }
  // What no map explains somebody else stored: a request's worker in the kernel.
  if (parts.empty() && !stores && named && !deleted &&
      map_unseen(task, call, path, begin + length)) {
    const FileId file = model_.file_of(path);
    parts = task.memory->parts_of_file(file, begin, begin + length, false);
  }
  for (const AddressSpace::Part& part : parts) {
    Operation operation;
    operation.kind = OperationKind::fault;
    operation.source = part.mapping;
    operation.flags = writes ? 1 : 0;
    operation.offset = part.offset;
    operation.length = part.length;
    emit(task, call, operation);
  }
}

// Programs and their dynamic linkers are mapped by exec itself.
bool CallTranslation::map_unseen(Task& task, const SystemCall& call, PathId path,
                                 std::uint64_t end) {
  if (paths_.is_left_out(path) || specials_.contains(path) || !kept_.is_inside(path)) return false;
  builder_.approximated("maps that exec makes");
  Operation open;
  open.kind = OperationKind::open;
  open.path = path;
  open.file = builder_.take_slot();
  open.loose = true;
  if (call.stat) {
    const std::uint32_t mode = call.stat->mode != 0 ? call.stat->mode : S_IFREG;
    model_.learn_opened(open.file, {.mode = mode, .size = call.stat->size});
  }
  emit_at(task, call.enter_ns, call.enter_ns, open);
  Operation map;
  map.kind = OperationKind::map;
  map.file = open.file;
  map.flags = PROT_READ | MAP_PRIVATE << kMapFlagsShift;
  const std::uint64_t size = call.stat ? call.stat->size : 0;
  const bool reaches = size <= INT64_MAX && AddressSpace::end_of(0, size) >= end;
  map.length = reaches ? size : end;
  map.source = builder_.take_mapping();
  map.loose = true;
  const bool added = task.memory->add_somewhere(
      map.length, map.source, {.file = model_.file_of_slot(open.file)}, mapping_uses_);
  if (added) {
    emit_at(task, call.enter_ns, call.enter_ns, map);
  } else {
    builder_.free_mapping(map.source);
    builder_.lost("memory maps beyond what a process can have");
  }
  Operation close;
  close.kind = OperationKind::close;
  close.file = open.file;
  emit_at(task, call.enter_ns, call.enter_ns, close);
  builder_.free_slot(open.file);
  return added;
}

}  // namespace filereel
