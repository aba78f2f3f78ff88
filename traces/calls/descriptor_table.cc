#include "traces/calls/descriptor_table.h"

#include <algorithm>
#include <climits>
#include <iterator>
#include <utility>

namespace filereel {
namespace {

// Of one number. Some never come: the tracer missed them.
constexpr std::size_t kMostLateCloses = 64;

}  // namespace

DescriptorEntry DescriptorTable::put(int number, DescriptorEntry descriptor) {
  return std::exchange(open_[number], std::move(descriptor));
}

DescriptorEntry DescriptorTable::take(int number) {
  const auto found = open_.find(number);
  if (found == open_.end()) return {};
  DescriptorEntry taken = std::move(found->second);
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

std::vector<DescriptorEntry> DescriptorTable::take_range(int first, int last) {
  std::vector<DescriptorEntry> taken;
  const auto begin = open_.lower_bound(first), end = open_.upper_bound(last);
  if (first > last) return taken;
  for (auto at = begin; at != end; ++at) taken.push_back(std::move(at->second));
  open_.erase(begin, end);
  return taken;
}

std::vector<DescriptorEntry> DescriptorTable::take_close_on_exec() {
  std::vector<DescriptorEntry> taken;
  for (auto at = open_.begin(); at != open_.end();) {
    if (!at->second.close_on_exec) {
      ++at;
      continue;
    }
    taken.push_back(std::move(at->second));
    at = open_.erase(at);
  }
  return taken;
}

void DescriptorTable::set_close_on_exec(int first, int last) {
  for (auto at = open_.lower_bound(first); at != open_.end() && at->first <= last; ++at) {
    at->second.close_on_exec = true;
  }
}

DescriptorEntry DescriptorTable::hold(const DescriptionRef& file) {
  DescriptorEntry& held = held_[file->number];
  if (held.description == file) return {};
  return std::exchange(held, {.description = file});
}

std::vector<DescriptorEntry> DescriptorTable::take_held() {
  std::vector<DescriptorEntry> taken;
  for (auto& [number, descriptor] : held_) taken.push_back(std::move(descriptor));
  held_.clear();
  return taken;
}

std::vector<DescriptorEntry> DescriptorTable::take_all() {
  std::vector<DescriptorEntry> taken = take_range(0, INT_MAX);
  std::ranges::move(take_held(), std::back_inserter(taken));
  return taken;
}

void DescriptorTable::add_missing(const DescriptorTable& other) {
  for (const auto& [number, descriptor] : other.open_) open_.try_emplace(number, descriptor);
  for (const auto& [number, descriptor] : other.held_) held_.try_emplace(number, descriptor);
}

}  // namespace filereel
