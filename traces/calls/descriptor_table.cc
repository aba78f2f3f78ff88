#include "traces/calls/descriptor_table.h"

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

}  // namespace filereel
