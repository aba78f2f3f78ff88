#include "traces/calls/task.h"

#include <algorithm>
#include <utility>

namespace filereel {
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
