// What a trace tells of one file's size and bytes.
#pragma once

#include <cstdint>

#include "traces/model/data_ranges.h"

namespace filereel {

// Where a file comes from.
enum class Origin : std::uint8_t {
  made,     // by the trace
  perhaps,  // opened with O_CREAT when nothing was known: made, unless bytes turn up in it
  before,   // was there before the trace
};

// Sizes and offsets are bytes. What is known of the initial size is what the trace has needed of
// it so far: a replay's file has just that size, so guesses stay consistent with each other.
class FileData {
 public:
  explicit FileData(Origin origin) : origin_(origin), exact_(origin == Origin::made) {}

  Origin origin() const { return origin_; }
  std::uint64_t size() const { return size_; }
  bool exact() const { return exact_; }
  std::uint64_t initial_size() const { return initial_size_; }

  // It turns out to have been made by the trace, to have been there before.
  void now_made();
  void now_before();
  // Was there before, with just this size.
  void begin_with(std::uint64_t size);

  // `got` bytes came of the `asked` ones.
  void was_read(std::uint64_t offset, std::uint64_t asked, std::uint64_t got);
  // Bytes of another file were read, as far as copying tells: a short copy need not mean the end.
  void was_copied(std::uint64_t offset, std::uint64_t length) { was_read(offset, length, length); }
  // A whole range may be looked at through a mapping, whose last page may reach over the end.
  void was_mapped(std::uint64_t offset, std::uint64_t length);
  void has_size(std::uint64_t size);

  void write(std::uint64_t offset, std::uint64_t length, bool own);
  // Changes bytes that exist; the size stays.
  void store(std::uint64_t offset, std::uint64_t length);
  void truncate(std::uint64_t size);
  void allocate(std::uint32_t flags, std::uint64_t offset, std::uint64_t length);

  // Whether not all of the range is known to hold the bytes that belong to the file.
  bool hole(std::uint64_t offset, std::uint64_t length) const;

 private:
  static constexpr std::uint64_t kEndless = INT64_MAX;
  static std::uint64_t end_of(std::uint64_t offset, std::uint64_t length);
  void needs_initial(std::uint64_t size);
  void is_exact();
  // Initial bytes can be found below this.
  std::uint64_t known_initial() const { return initial_size_ < reach_ ? initial_size_ : reach_; }

  Origin origin_;
  bool exact_;            // the size now
  bool guessed_ = false;  // the initial size was taken from a mapping
  std::uint64_t size_ = 0;
  std::uint64_t initial_size_ = 0;
  std::uint64_t reach_ = kEndless;  // initial bytes are found only below this
  // Bytes that collapsing took out and inserting put in while the size was not known.
  std::uint64_t taken_out_ = 0, put_in_ = 0;
  bool cut_ = false;  // the trace truncated it
  DataRanges ranges_;
};

}  // namespace filereel
