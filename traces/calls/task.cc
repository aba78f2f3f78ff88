#include "traces/calls/task.h"

#include <algorithm>
#include <climits>
#include <cstddef>
#include <iterator>
#include <utility>

namespace filereel {
namespace {

// Limit per number. Some closes never arrive because the tracer missed them.
constexpr std::size_t kMostLateCloses = 64;

}  // namespace

DescriptionRef DescriptorTable::put(int number, DescriptorEntry descriptor) {
  return std::exchange(open_[number], std::move(descriptor)).description;
}

DescriptionRef DescriptorTable::take(int number) {
  const auto found = open_.find(number);
  if (found == open_.end()) return nullptr;
  DescriptionRef taken = std::move(found->second.description);
  open_.erase(found);
  return taken;
}

void DescriptorTable::expect_close(int number, std::uint64_t at_ns) {
  std::vector<std::uint64_t>& due = late_closes_[number];
  if (due.size() >= kMostLateCloses) due.erase(due.begin());
  due.insert(std::ranges::upper_bound(due, at_ns), at_ns);
}

bool DescriptorTable::is_late_close(int number, std::uint64_t began_ns) {
  const auto found = late_closes_.find(number);
  if (found == late_closes_.end()) return false;
  std::vector<std::uint64_t>& due = found->second;
  const auto first = std::ranges::upper_bound(due, began_ns);
  if (first == due.end()) return false;
  due.erase(first);
  if (due.empty()) late_closes_.erase(found);
  return true;
}

std::vector<DescriptionRef> DescriptorTable::take_range(int first, int last) {
  std::vector<DescriptionRef> taken;
  const auto begin = open_.lower_bound(first), end = open_.upper_bound(last);
  if (first > last) return taken;
  for (auto at = begin; at != end; ++at) taken.push_back(std::move(at->second.description));
  open_.erase(begin, end);
  return taken;
}

std::vector<DescriptionRef> DescriptorTable::take_close_on_exec() {
  std::vector<DescriptionRef> taken;
  std::erase_if(open_, [&](auto& entry) {
    if (entry.second.close_on_exec) taken.push_back(std::move(entry.second.description));
    return entry.second.close_on_exec;
  });
  return taken;
}

void DescriptorTable::set_close_on_exec(int first, int last) {
  for (auto at = open_.lower_bound(first); at != open_.end() && at->first <= last; ++at) {
    at->second.close_on_exec = true;
  }
}

DescriptionRef DescriptorTable::hold(const DescriptionRef& file) {
  DescriptionRef& held = held_[file->number];
  return held == file ? nullptr : std::exchange(held, file);
}

std::vector<DescriptionRef> DescriptorTable::take_held() {
  std::vector<DescriptionRef> taken;
  for (auto& [number, file] : held_) taken.push_back(std::move(file));
  held_.clear();
  return taken;
}

std::vector<DescriptionRef> DescriptorTable::take_all() {
  std::vector<DescriptionRef> taken = take_range(0, INT_MAX);
  std::ranges::move(take_held(), std::back_inserter(taken));
  return taken;
}

void DescriptorTable::add_missing(const DescriptorTable& other) {
  for (const auto& [number, descriptor] : other.open_) open_.try_emplace(number, descriptor);
  for (const auto& [number, file] : other.held_) held_.try_emplace(number, file);
}

DescriptionRef FileNumbers::find(std::uint64_t number) {
  const auto found = files_.find(number);
  if (found == files_.end()) return nullptr;
  DescriptionRef file = found->second.lock();
  if (!file) files_.erase(found);
  return file;
}

void FileNumbers::bind(std::uint64_t number, const DescriptionRef& file) {
  if (number == 0) return;
  const DescriptionRef earlier = find(number);
  if (earlier == file) return;
  if (earlier) earlier->number = 0;
  if (!file) {
    files_.erase(number);
    return;
  }
  if (file->number != 0) files_.erase(file->number);
  file->number = number;
  files_[number] = file;
}

void FileNumbers::forget(Description& file) {
  if (file.number != 0) files_.erase(file.number);
  file.number = 0;
}

void MappingUses::add(FileSlot mapping) {
  if (mapping >= uses_.size()) uses_.resize(std::size_t{mapping} + 1);
  ++uses_[mapping];
}

bool MappingUses::remove(FileSlot mapping) {
  return --uses_[mapping] == 0;
}

std::uint64_t AddressSpace::end_of(std::uint64_t address, std::uint64_t length) {
  const std::uint64_t highest = UINT64_MAX & ~(kPage - 1);
  if (length > highest - std::min(address, highest)) return highest;
  return std::min((address + length + kPage - 1) & ~(kPage - 1), highest);
}

bool AddressSpace::add(std::uint64_t begin, const MappedPiece& piece, MappingUses& uses) {
  if (pieces_.size() >= kMaxPieces || begin >= piece.end) return false;
  if (!pieces_.emplace(begin, piece).second) return false;
  by_file_.emplace(piece.shown.file, begin);
  uses.add(piece.mapping);
  return true;
}

bool AddressSpace::add_unplaced(std::uint64_t length, FileSlot mapping, const MappedFile& shown,
                                MappingUses& uses) {
  const std::uint64_t behind = pieces_.empty() ? 0 : pieces_.rbegin()->second.end;
  const std::uint64_t begin = std::max(kUnknownAddress, behind);
  return add(begin, {end_of(begin, length), mapping, 0, shown}, uses);
}

AddressSpace::Pieces::iterator AddressSpace::erase(Pieces::iterator piece) {
  by_file_.erase({piece->second.shown.file, piece->first});
  return pieces_.erase(piece);
}

std::vector<FileSlot> AddressSpace::remove(std::uint64_t begin, std::uint64_t end,
                                           MappingUses& uses) {
  std::vector<FileSlot> gone;
  if (begin >= end) return gone;
  auto at = pieces_.upper_bound(begin);
  if (at != pieces_.begin()) --at;
  while (at != pieces_.end() && at->first < end) {
    const std::uint64_t piece_begin = at->first;
    const MappedPiece piece = at->second;
    if (piece.end <= begin) {
      ++at;
      continue;
    }
    if (piece.end > end) {
      MappedPiece rest = piece;
      rest.offset += end - piece_begin;
      pieces_.emplace(end, rest);
      by_file_.emplace(piece.shown.file, end);
      uses.add(piece.mapping);
    }
    if (piece_begin < begin) {
      at->second.end = begin;
      ++at;
    } else {
      at = erase(at);
      if (uses.remove(piece.mapping)) gone.push_back(piece.mapping);
    }
  }
  return gone;
}

std::vector<FileSlot> AddressSpace::move(std::uint64_t from, std::uint64_t end, std::uint64_t to,
                                         std::uint64_t length, MappingUses& uses) {
  struct Moved {
    std::uint64_t begin;
    MappedPiece piece;
  };
  std::vector<Moved> moved;
  const std::uint64_t new_end = end_of(to, length);
  for (auto at = pieces_.lower_bound(from); at != pieces_.end() && at->first < end; ++at) {
    Moved one{at->first - from + to, at->second};
    if (one.begin < to || one.begin >= new_end) continue;
    // The grown part shows bytes of the file that the replayed mapping does not have.
    one.piece.end = std::min(at->second.end - from + to, new_end);
    moved.push_back(one);
    uses.add(one.piece.mapping);  // removing must not end the mapping
  }
  std::vector<FileSlot> gone = remove(from, end, uses);
  std::ranges::copy(remove(to, new_end, uses), std::back_inserter(gone));
  for (const Moved& one : moved) {
    add(one.begin, one.piece, uses);
    if (uses.remove(one.piece.mapping)) gone.push_back(one.piece.mapping);
  }
  return gone;
}

std::vector<AddressSpace::Part> AddressSpace::parts(std::uint64_t begin, std::uint64_t end) const {
  std::vector<Part> found;
  auto at = pieces_.upper_bound(begin);
  if (at != pieces_.begin()) --at;
  for (; at != pieces_.end() && at->first < end; ++at) {
    const std::uint64_t first = std::max(begin, at->first);
    const std::uint64_t last = std::min(end, at->second.end);
    if (first < last) {
      found.push_back({at->second.mapping, at->second.offset + (first - at->first), last - first});
    }
  }
  return found;
}

std::vector<AddressSpace::Part> AddressSpace::parts_of_file(FileId file, std::uint64_t begin,
                                                            std::uint64_t end,
                                                            bool only_shared) const {
  std::vector<Part> found;
  struct Shown {
    std::uint64_t begin, end;  // in the file
    const MappedPiece* piece;
  };
  std::vector<Shown> shown;
  for (auto at = by_file_.lower_bound({file, 0}); at != by_file_.end() && at->first == file; ++at) {
    const auto& [address, piece] = *pieces_.find(at->second);
    if (only_shared && !piece.shown.shared) continue;
    const std::uint64_t first = piece.shown.offset + piece.offset;
    const std::uint64_t last = first + std::min(piece.end - address, UINT64_MAX - first);
    if (first < end && begin < last) shown.push_back({first, last, &piece});
  }
  std::ranges::sort(shown, {}, &Shown::begin);
  for (const Shown& one : shown) {
    begin = std::max(begin, one.begin);
    const std::uint64_t last = std::min(end, one.end);
    if (begin >= last) continue;
    found.push_back({one.piece->mapping, begin - one.piece->shown.offset, last - begin});
    begin = last;
  }
  return found;
}

void AddressSpace::copy_from(const AddressSpace& other, MappingUses& uses) {
  pieces_ = other.pieces_;
  by_file_ = other.by_file_;
  for (const auto& [begin, piece] : pieces_) uses.add(piece.mapping);
}

namespace {

// Limit on remembered ends, for calls that arrive late.
constexpr std::size_t kMaxEnded = 1 << 16;

}  // namespace

Task* TaskTable::find(std::uint32_t thread) {
  const auto found = tasks_.find(thread);
  return found == tasks_.end() ? nullptr : found->second.get();
}

std::uint32_t TaskTable::process_of(std::uint32_t thread) {
  const Task* task = find(thread);
  return task ? task->process->id : thread;
}

Task& TaskTable::stand_in_for(std::uint32_t thread) {
  if (Task* task = find(thread)) return *task;
  const std::vector<Task*> others = all();
  return others.empty() ? last_ended_ : *others.front();
}

Process* TaskTable::find_process(std::uint32_t id) {
  const auto found = processes_.find(id);
  return found == processes_.end() ? nullptr : found->second.get();
}

Task& TaskTable::add(std::uint32_t thread, std::uint32_t process, std::uint32_t number) {
  ended_.erase(thread);
  std::unique_ptr<Process>& owner = processes_[process];
  if (!owner) {
    owner = std::make_unique<Process>(Process{process, number, {}});
    ended_leaders_.erase(process);
  }
  std::unique_ptr<Task>& task = tasks_[thread];
  task = std::make_unique<Task>();
  task->thread = thread;
  task->number = number;
  task->process = owner.get();
  owner->tasks.push_back(task.get());
  return *task;
}

void TaskTable::leave_process(Task& task) {
  Process& process = *task.process;
  std::erase(process.tasks, &task);
  if (!process.tasks.empty()) return;
  if (ended_leaders_.size() >= kMaxEnded) ended_leaders_.clear();
  ended_leaders_[process.id] = process.leader;
  processes_.erase(process.id);
}

void TaskTable::remove(Task& task, std::uint64_t at_ns) {
  leave_process(task);
  last_ended_.number = task.number;
  last_ended_.last_start_ns = task.last_start_ns;
  if (ended_.size() >= kMaxEnded) ended_.clear();
  const std::uint32_t thread = task.thread;
  ended_[thread] = {at_ns, task.number};
  tasks_.erase(thread);
}

void TaskTable::rename(Task& task) {
  const std::uint32_t thread = task.process->id;
  if (task.thread == thread || tasks_.contains(thread)) return;
  auto node = tasks_.extract(task.thread);
  node.key() = thread;
  task.thread = thread;
  tasks_.insert(std::move(node));
  ended_.erase(thread);
}

void TaskTable::join_process(Task& task, Process& process) {
  if (task.process == &process) return;
  const std::uint32_t taken_for = task.process->id;
  leave_process(task);
  ended_leaders_.erase(taken_for);
  task.process = &process;
  process.tasks.push_back(&task);
}

bool TaskTable::ended_after(std::uint32_t thread, std::uint64_t at_ns) const {
  const auto found = ended_.find(thread);
  return found != ended_.end() && found->second.at_ns >= at_ns;
}

std::optional<std::uint32_t> TaskTable::number_of(std::uint32_t thread) {
  if (const Task* task = find(thread)) return task->number;
  const auto found = ended_.find(thread);
  return found == ended_.end() ? std::nullopt : std::optional(found->second.number);
}

std::optional<std::uint32_t> TaskTable::wait_for(std::uint32_t process) {
  const auto found = ended_leaders_.find(process);
  if (found == ended_leaders_.end()) return std::nullopt;
  const std::uint32_t leader = found->second;
  ended_leaders_.erase(found);
  return leader;
}

std::vector<Task*> TaskTable::all() {
  std::vector<Task*> tasks;
  tasks.reserve(tasks_.size());
  for (const auto& [thread, task] : tasks_) tasks.push_back(task.get());
  std::ranges::sort(tasks, {}, &Task::number);
  return tasks;
}

}  // namespace filereel
