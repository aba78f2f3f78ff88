#include "tests/model_drive/service.h"

#include <algorithm>
#include <functional>
#include <utility>

#include <fmt/format.h>

#include "filesets/system/error.h"
#include "filesets/system/units.h"

namespace filereel::model_drive {

ServiceQueue::ServiceQueue(Script script, std::uint64_t now_ns)
    : script_(std::move(script)),
      medium_(script_, now_ns),
      begin_ns_(now_ns),
      free_ns_(script_.slots) {}

Service ServiceQueue::admit(Kind kind, std::uint64_t offset, std::uint64_t length,
                            std::uint64_t now_ns) {
  Service service{.kind = kind, .offset = offset, .length = length, .arrival_ns = now_ns};
  if (kind == Kind::flush) {
    service.length = std::exchange(unflushed_, 0);
    service.due_ns = now_ns;
    if (service.length == 0) return service;
  } else if (kind != Kind::read) {
    unflushed_ += length;
  }
  service.number = ++counts_[static_cast<std::size_t>(kind)];
  const Decision decision = decide(script_, kind, service.number, service.length);

  std::ranges::pop_heap(free_ns_, std::greater());
  const std::uint64_t begin = std::max(now_ns, free_ns_.back());
  const Window window = window_at(script_, kind, begin - begin_ns_);
  const std::uint64_t ready = begin_ns_ + window.end_ns + decision.latency_ns;
  service.due_ns = medium_.transfer(kind, offset, service.length, ready) + decision.stall_ns;
  service.service_ns = service.due_ns - begin;
  service.stalls = decision.stalls | window.stalls;
  free_ns_.back() = service.due_ns;
  std::ranges::push_heap(free_ns_, std::greater());
  return service;
}

const Medium& ServiceQueue::medium_at(std::uint64_t now_ns) {
  medium_.rest(now_ns);
  return medium_;
}

void ServiceQueue::replace(Script script, std::uint64_t now_ns, std::string_view where) {
  if (script.size != script_.size) {
    throw_unusable(where, fmt::format("'size' is {} bytes, that of the running drive {}; leave it "
                                      "as it is, or start another drive",
                                      script.size, script_.size));
  }
  // The longest services keep their slots.
  std::ranges::sort(free_ns_, std::greater());
  free_ns_.resize(script.slots);
  std::ranges::make_heap(free_ns_, std::greater());
  counts_ = {};
  begin_ns_ = now_ns;
  medium_.replace(script, now_ns);
  script_ = std::move(script);
}

}  // namespace filereel::model_drive
