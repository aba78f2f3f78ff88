#include "traces/calls/descriptor_table.h"

#include <utility>

namespace filereel {

Descriptor DescriptorTable::put(int number, Descriptor descriptor) {
  return std::exchange(open_[number], std::move(descriptor));
}

Descriptor DescriptorTable::take(int number) {
  const auto found = open_.find(number);
  if (found == open_.end()) return {};
  Descriptor taken = std::move(found->second);
  open_.erase(found);
  return taken;
}

std::vector<Descriptor> DescriptorTable::take_range(int first, int last) {
  std::vector<Descriptor> taken;
  const auto begin = open_.lower_bound(first), end = open_.upper_bound(last);
  if (first > last) return taken;
  for (auto at = begin; at != end; ++at) taken.push_back(std::move(at->second));
  open_.erase(begin, end);
  return taken;
}

std::vector<Descriptor> DescriptorTable::take_close_on_exec() {
  std::vector<Descriptor> taken;
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

void DescriptorTable::add_missing(const DescriptorTable& other) {
  for (const auto& [number, descriptor] : other.open_) open_.try_emplace(number, descriptor);
}

}  // namespace filereel
