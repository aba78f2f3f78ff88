#include "traces/mysql/binary_log.h"

#include <utility>

namespace filereel {
namespace {

constexpr std::uint64_t kFirstByte = 330;  // headers at the start of every log

}  // namespace

BinaryLog::BinaryLog(ServerCalls& calls, std::uint32_t sync_every)
    : calls_(calls),
      sync_every_(sync_every),
      end_(kFirstByte),
      written_(calls.simulation()),
      committed_(calls.simulation()) {
  calls.set_size(ServerFile::binary_log, kFirstByte);
}

Part BinaryLog::commit(std::uint32_t thread, std::uint64_t bytes,
                       std::function<Part(std::uint32_t)> commit) {
  Participant mine{bytes, std::move(commit)};
  queue_.push_back(&mine);
  if (queue_.size() == 1) co_await lead(thread);
  while (!mine.done) co_await committed_.wait();
}

Part BinaryLog::lead(std::uint32_t thread) {
  while (writing_) co_await written_.wait();
  writing_ = true;
  const std::vector<Participant*> group = std::exchange(queue_, {});
  std::uint64_t bytes = 0;
  for (const Participant* one : group) bytes += one->bytes;
  co_await calls_.write(thread, ServerFile::binary_log, end_, bytes);
  end_ += bytes;
  if (sync_every_ != 0 && ++groups_ % sync_every_ == 0) {
    co_await calls_.sync(thread, ServerFile::binary_log);
  }
  // The next group may write as soon as this one may commit.
  while (committing_) co_await committed_.wait();
  committing_ = true;
  writing_ = false;
  written_.raise();
  for (Participant* one : group) {
    co_await one->commit(thread);
    one->done = true;
  }
  committing_ = false;
  committed_.raise();
}

}  // namespace filereel
