// Copies operations from one trace to another: paths, texts, threads, open files and mappings get
// the numbers of the output.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "traces/edit/edit.h"

namespace filereel {

// Replacements of names.
struct NameChange {
  std::function<std::string(std::string_view)> component;  // of a path
  std::function<std::string(std::string_view)> link_text;
  std::function<std::string(std::string_view)> attribute;  // of an extended attribute
};

class IdRemapper {
 public:
  // All paths are moved below the directory `below`, a single name, unless it is empty. `change`
  // may be null. All outlive the remapper.
  IdRemapper(const TraceInput& input, TraceBuilder& out, std::string below = {},
             const NameChange* change = nullptr);

  // Converts a tree of the input to the output.
  FileSet tree(const FileSet& set) const;

  // Adds all threads of the input.
  void add_threads();
  // The number of a thread in the output; a new thread is added.
  std::uint32_t thread(std::uint32_t number);
  bool has_thread(std::uint32_t number) const;

  PathId path(PathId path);
  bool has_slot(FileSlot slot) const;
  FileSlot take_slot(FileSlot slot);  // of the input; returns its number in the output
  bool has_mapping(FileSlot mapping) const;
  FileSlot take_mapping(FileSlot mapping);

  // Add operations of `thread` of the output, at its time, that close the file, unmap the mapping,
  // or both for everything that is open and mapped in the output. Numbers are those of the input.
  void close(FileSlot slot, std::uint32_t thread, std::uint64_t at_ns);
  void unmap(FileSlot mapping, std::uint32_t thread, std::uint64_t at_ns);
  void close_all(std::uint32_t thread, std::uint64_t at_ns);

  // Adds an operation of the input, delayed by `later`.
  void add(RecordedOperation recorded, std::uint64_t later = 0);

  // Adds the losses and approximations of the input.
  void add_losses();

 private:
  static constexpr std::uint32_t kUnmapped = UINT32_MAX;
  // The number at `index`, created by `make` if it is missing.
  template <typename Make>
  static std::uint32_t numbered(std::vector<std::uint32_t>& numbers, std::uint32_t index,
                                Make make);
  static void forget(std::vector<std::uint32_t>& numbers, std::uint32_t index);

  std::string changed_path(std::string_view path) const;
  TextId text(const Operation& operation);
  void remap_file(Operation& operation);
  void remap_mapping(Operation& operation);

  const TraceInput& input_;
  TraceBuilder& out_;
  std::string below_;
  const NameChange* change_;
  std::vector<PathId> paths_;  // the rest: by number in the input
  std::vector<FileSlot> slots_, mappings_;
  std::vector<std::uint32_t> threads_;
  std::vector<PathId> chain_;
};

// Merges trees with the same root: of files in both, the larger one; otherwise the first entry.
FileSet unite(std::vector<FileSet> sets);

// Reads a source one operation at a time.
class OperationReader {
 public:
  explicit OperationReader(RecordedSource& source) : source_(source), buffer_(1024) {}

  // The next operation, or null at the end; valid until pop().
  const RecordedOperation* peek();
  void pop() { ++at_; }

 private:
  RecordedSource& source_;
  std::vector<RecordedOperation> buffer_;
  std::size_t at_ = 0, count_ = 0;
};

}  // namespace filereel
