#include "traces/mysql/page_io.h"

#include <algorithm>

namespace filereel {

PageIo::PageIo(ServerCalls& calls, ServerThreads threads, bool native)
    : calls_(calls),
      threads_(threads),
      native_(native),
      added_(calls.simulation()),
      done_(calls.simulation()) {}

void PageIo::start() {
  if (native_) return;
  for (std::uint32_t i = 0; i < ServerThreads::kIoThreads; ++i) calls_.simulation().start(work(i));
}

void PageIo::write(std::uint32_t thread, ServerFile file, std::uint64_t offset,
                   std::uint64_t length, Requests& requests) {
  if (native_) {
    requests.until = std::max(requests.until, calls_.submit_write(thread, file, offset, length));
    return;
  }
  ++requests.queued;
  jobs_.push_back({file, offset, length, &requests, nullptr});
  added_.raise();
}

Part PageIo::wait(std::uint32_t thread, Requests& requests) {
  while (requests.queued > 0) co_await done_.wait();
  if (requests.until == 0) co_return;
  co_await calls_.simulation().sleep_until(requests.until);
  calls_.reap(thread, 0);
  requests.until = 0;
}

void PageIo::read_ahead(std::uint32_t thread, PageId page, BufferPool& pool) {
  const BufferPool::Frame frame =
      pool.put(page, calls_.simulation().now(), BufferPool::Coming::read_ahead);
  if (native_) {
    pool.set_arrival(frame, calls_.submit_read(thread, page.file, page.number * kPage, kPage));
    return;
  }
  pool.set_arrival(frame, BufferPool::kUnknown);
  jobs_.push_back({page.file, page.number * kPage, kPage, nullptr, &pool});
  added_.raise();
}

Part PageIo::wait_for_arrival(PageId page, const BufferPool& pool) {
  for (;;) {
    const BufferPool::Frame frame = pool.find(page);
    if (frame == BufferPool::kNone) co_return;
    const std::uint64_t arrival = pool.arrival(frame);
    if (arrival <= calls_.simulation().now()) co_return;
    if (arrival == BufferPool::kUnknown) {
      co_await done_.wait();
    } else {
      co_await calls_.simulation().sleep_until(arrival);
    }
  }
}

Part PageIo::work(std::uint32_t number) {
  const std::uint32_t thread = threads_.io(number);
  for (;;) {
    while (jobs_.empty()) co_await added_.wait();
    const Job job = jobs_.front();
    jobs_.pop_front();
    if (job.requests) {
      co_await calls_.write(thread, job.file, job.offset, job.length);
      --job.requests->queued;
    } else {
      co_await calls_.read(thread, job.file, job.offset, job.length);
      const PageId page{job.file, static_cast<std::uint32_t>(job.offset / kPage)};
      const BufferPool::Frame frame = job.pool->find(page);
      if (frame != BufferPool::kNone) job.pool->set_arrival(frame, calls_.simulation().now());
    }
    done_.raise();
  }
}

}  // namespace filereel
