// An io_uring ring with the kernel's optimisations: registered buffers and files, and completions
// on request. Missing features are skipped silently.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include <liburing.h>

namespace filereel {

// Created by any thread, then used by one, which calls begin() first and end() last. Submissions
// and completions neither throw nor allocate.
class Ring {
 public:
  // For `entries` concurrent requests. `polled`: the waiting thread polls the device, which raises
  // no interrupts; for direct reads and writes only. Throws Error(failed).
  explicit Ring(unsigned entries, bool polled = false);
  Ring(const Ring&) = delete;
  Ring& operator=(const Ring&) = delete;
  ~Ring() { end(); }

  // Registers memory for reads and writes, at most 1 GiB.
  void register_buffers(std::span<std::byte> memory);
  // Creates a table for this number of registered files.
  void create_file_table(std::size_t count);

  void begin() noexcept;
  void end() noexcept;

  // Whether file `number` is registered. The kernel keeps it open until it is unregistered, even if
  // it is closed elsewhere.
  bool has_file(std::size_t number) const noexcept {
    return number < held_files_.size() && held_files_[number];
  }
  bool can_hold_file(std::size_t number) const noexcept { return number < held_files_.size(); }
  void register_file(std::size_t number, int fd) noexcept;
  void unregister_file(std::size_t number) noexcept;

  // Queue a request; there must be room. `tag` is returned with the completion. `file` is an index
  // of the table if `held`, otherwise a descriptor.
  struct FileRef {
    int file;
    bool held;
  };
  void queue_read(FileRef file, std::span<std::byte> to, std::uint64_t offset, void* tag) noexcept;
  void queue_write(FileRef file, std::span<const std::byte> from, std::uint64_t offset,
                   void* tag) noexcept;
  void queue_sync(FileRef file, bool data_only, void* tag) noexcept;

  // Submits the queue and waits until `wait` unhandled completions exist. Returns the number of
  // submitted entries, or -errno.
  int submit(unsigned wait) noexcept { return io_uring_submit_and_wait(&ring_, wait); }
  // Entries not yet taken by the kernel.
  unsigned queued() const noexcept { return io_uring_sq_ready(&ring_); }
  // Unhandled completions, as far as known without a system call.
  unsigned done() const noexcept { return io_uring_cq_ready(&ring_); }
  // Waits for a completion, at most `most_ns`. Returns 0 or -errno.
  int wait(std::uint64_t most_ns) noexcept;

  // Calls see(tag, result) for every completion; returns their number. Needs no system call if
  // completions are available or none are due.
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
