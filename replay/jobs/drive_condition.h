// The prepared state of the drives before a job (docs/drive-condition.md): declared here, made by
// replay/run/preconditioning.h and fill.h.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "replay/results/result.h"
#include "replay/volumes/format.h"

namespace filereel {

// Writes before the job, so that the drive has no blocks left that were never written.
struct Preconditioning {
  bool random = false;      // each block once per pass in random order; otherwise in sequence
  double passes = 2;        // over the whole device, or the free space of the file system
  std::uint64_t block = 0;  // bytes per write
  // Files, removed afterwards, instead of the device below the file system. Nothing: the device
  // where filereel formats it, otherwise files.
  std::optional<bool> on_files = {};

  bool operator==(const Preconditioning&) const = default;
};

// "random 2x 4KiB files": the pattern, and any of the others in any order. Throws ValueError.
Preconditioning parse_preconditioning(std::string_view text);

struct DriveCondition {
  static constexpr double kMostFill = 0.95;

  bool purge = false;
  std::optional<Preconditioning> precondition = {};
  double fill = 0;                    // used share of the file system, as counted by df
  std::string fill_files = "64 MiB";  // size of its files, or the name of a file set
  bool steady = false;                // repetitions are rounds until the steady state
  std::uint64_t rest_ns = 0;          // without I/O, before the first step
  // As written, of the file system that comes before "=", or of all.
  std::vector<std::string> mkfs_options = {}, mount_options = {};

  // `fresh`: no earlier repetition has prepared the drive.
  Format format(FileSystemKind kind, bool fresh) const;
  // What preconditioning and fill write on a volume of such a size, for estimates.
  double bytes_on(std::uint64_t capacity) const;
  // Whether writes of earlier repetitions are part of the condition.
  bool keeps_state() const { return precondition || steady; }
  bool operator==(const DriveCondition&) const = default;
};

// The conditions by their keys in plans, in the order in which they are made. Those that differ
// from the default, or all, as texts that are the same for the same condition.
Parameters condition_settings(const DriveCondition& condition);
std::string condition_value(const DriveCondition& condition, std::string_view key);

// The file system before "=" in options for mkfs and mount; nothing: for all.
std::optional<FileSystemKind> file_system_of_options(std::string_view text);

// Set a condition to a text of the user. Throw ValueError.
void set_fill(DriveCondition& condition, const std::string& text);
void set_fill_files(DriveCondition& condition, const std::string& text);
void set_rest(DriveCondition& condition, const std::string& text);
void set_mkfs_options(DriveCondition& condition, std::span<const std::string> texts);
void set_mount_options(DriveCondition& condition, std::span<const std::string> texts);

}  // namespace filereel
