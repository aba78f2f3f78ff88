// A ring of io_uring with what the kernel knows to make it fast: buffers and files that it holds
// on to, completions that come when they are asked for. What it lacks is done without, silently.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include <liburing.h>

namespace filereel {

// Made by one thread, then used by one, which calls begin() first and end() last. Submissions and
// completions neither throw nor allocate.
class Ring {
 public:
  // For `entries` requests at once. `polled`: the thread that waits asks the device, which raises
  // no interrupts; for direct reads and writes only. Throws Error(failed).
  explicit Ring(unsigned entries, bool polled = false);
  Ring(const Ring&) = delete;
  Ring& operator=(const Ring&) = delete;
  ~Ring() { end(); }

  // Has the kernel hold on to memory that reads and writes use, up to 1 GiB of it.
  void hold_buffers(std::span<std::byte> memory);
  // Makes a table of as many files that the kernel can hold on to.
  void hold_files(std::size_t count);

  void begin() noexcept;
  void end() noexcept;

  // Whether the kernel holds file `number` open. Until it is let go, closing it elsewhere does not.
  bool holds_file(std::size_t number) const noexcept {
    return number < held_files_.size() && held_files_[number];
  }
  bool can_hold_file(std::size_t number) const noexcept { return number < held_files_.size(); }
  void hold_file(std::size_t number, int fd) noexcept;
  void let_go_of_file(std::size_t number) noexcept;

  // Put into the queue; there must be room. `tag` comes back with the completion. `file` is a
  // number of the table if `held`, else a descriptor.
  struct FileRef {
    int file;
    bool held;
  };
  void queue_read(FileRef file, std::span<std::byte> to, std::uint64_t offset, void* tag) noexcept;
  void queue_write(FileRef file, std::span<const std::byte> from, std::uint64_t offset,
                   void* tag) noexcept;
  void queue_sync(FileRef file, bool data_only, void* tag) noexcept;

  // Submits all that is queued and waits until so many are done that were not seen yet. The
  // kernel's answer: how many it took, or -errno.
  int submit(unsigned wait) noexcept { return io_uring_submit_and_wait(&ring_, wait); }
  // What is queued and not taken by the kernel.
  unsigned queued() const noexcept { return io_uring_sq_ready(&ring_); }
  // What is done and was not seen, as far as known without a system call.
  unsigned done() const noexcept { return io_uring_cq_ready(&ring_); }
  // Waits for one to be done, at most so long. 0, or -errno.
  int wait(std::uint64_t most_ns) noexcept;

  // Calls see(tag, result) for everything that is done; gives their number. Costs no system call
  // where completions lie ready or nothing is done.
  template <class See>
  unsigned reap(See see) noexcept {
    std::array<io_uring_cqe*, 64> done;
    unsigned all = 0;
    for (;;) {
      const unsigned some = io_uring_peek_batch_cqe(&ring_, done.data(), done.size());
      for (unsigned i = 0; i < some; ++i) see(io_uring_cqe_get_data(done[i]), done[i]->res);
      io_uring_cq_advance(&ring_, some);
      all += some;
      if (some < done.size()) return all;
    }
  }

 private:
  bool is_held(std::span<const std::byte> memory) const noexcept {
    return memory.data() >= held_memory_.data() &&
           memory.data() + memory.size() <= held_memory_.data() + held_memory_.size();
  }
  static void complete(io_uring_sqe* entry, FileRef file, void* tag) noexcept;

  io_uring ring_{};
  bool open_ = false;
  bool disabled_ = false;  // until begin()
  std::span<const std::byte> held_memory_;
  std::vector<bool> held_files_;  // by number
};

}  // namespace filereel
