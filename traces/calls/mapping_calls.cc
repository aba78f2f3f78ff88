// Calls that map files into memory.
#include <algorithm>

#include <sys/mman.h>

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
    file = file_of(task, call, call.fd, call.fd_path, stores ? Use::writing : Use::reading);
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
  if (!task.memory->add(begin, end, operation.source, 0, mapping_uses_)) {
    builder_.free_mapping(operation.source);
    return builder_.lost("memory maps beyond what a process can have");
  }
  if (stores) builder_.approximated("stores to shared mappings are not visible");
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

}  // namespace filereel
