#include "tests/model_drive/drive.h"

#include <utility>

#include <fmt/format.h>

#include "replay/measure/clock.h"

namespace filereel::model_drive {

Drive::Drive(Script script, OperationLog& log)
    : log_(log), content_(script.size), queue_(std::move(script), kernel_ns()) {}

Service Drive::begin(Kind kind, std::uint64_t offset, std::uint64_t length) {
  // The time is taken behind the lock, so that numbers follow arrivals.
  const std::lock_guard lock(mutex_);
  return queue_.admit(kind, offset, length, kernel_ns());
}

void Drive::end(const Service& service, std::function<void()> answer) {
  completions_.at(service.due_ns, [this, service, answer = std::move(answer)] {
    // First the log: whoever has the answer finds the operation in it.
    log_.add(service, kernel_ns());
    answer();
  });
}

std::uint64_t Drive::replace(Script script, std::string_view where) {
  const std::lock_guard lock(mutex_);
  const std::uint64_t now = kernel_ns();
  queue_.replace(std::move(script), now, where);
  return now;
}

std::string Drive::medium_state() {
  const std::lock_guard lock(mutex_);
  const Medium& medium = queue_.medium_at(kernel_ns());
  const std::string celsius = medium.heat() ? fmt::format("{:.2f}", medium.heat()->celsius()) : "-";
  return fmt::format("cached {} in_use {} old {} celsius {}", medium.cached(),
                     medium.blocks_in_use(), medium.old_blocks(), celsius);
}

}  // namespace filereel::model_drive
