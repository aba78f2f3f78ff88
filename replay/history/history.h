// How this folder works: a history is a directory of result files. history.cc reads it and names
// new files by drive and firmware, trend.h finds changes over time by the comparisons of the
// compare folder, and history_page.h shows them. There is no index: the files are all there is.
// Start here, then trend.h.
//
// A directory of results, by drive and firmware (docs/guide-firmware.md). It holds only files, so
// users can copy, rename and delete them.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "replay/results/result.h"

namespace filereel {

// --- Names of results in a history: by drive, then firmware, then time.

// The device that a result is of; from the volume near.
struct TestedDevice {
  // "Fast Disk 3 S123", or the source of a share, "nas:/data"; several are joined with " + ".
  // Without any of these the result's label, otherwise the kernel's name of the drive, otherwise
  // "unknown".
  std::string name;
  std::string firmware;  // "1.07"; several are joined with " + "; "" if unknown
};

TestedDevice tested_device(const Result& result);

// Overrides the drives' identity with the user's. Each drive of near gets the name, without its
// serial number. Empty members change nothing. Throws Error(usage) for a result without volumes.
void set_tested_device(Result& result, const TestedDevice& said);

// Turns `text` into a path component that is valid on any file system. Keeps letters, digits, "_",
// "+", "." inside and UTF-8, and replaces everything else with "-". At most 100 bytes, never empty;
// a hash replaces a truncated end.
std::string file_name_of(std::string_view text);

// "Fast-Disk-3-S123/1.07/2026-11-21T10-00-00Z-fc-test".
std::string entry_name(const Result& result);

struct HistoryEntry {
  std::uint32_t number = 0;      // from 1, by `started`
  std::string name;              // path of the file in the directory, without ".json"
  std::string device, firmware;  // from tested_device
  std::string started, label;
  Result result;
};

struct HistoryDirectory {
  std::vector<HistoryEntry> entries;  // by number
  std::vector<std::string> others;    // other files and directories, and why: a line each
};

// Reads all results in the directory, down to the depth of histories. Throws Error(unusable_input)
// if it cannot be read.
HistoryDirectory read_history(const std::string& folder);

// If results of the same device have other labels, and no serial number shows that it is the same
// drive: a sentence that says so. Otherwise "".
std::string doubt_of_device(const HistoryDirectory& history, const Result& added);

// The entries for `which`: a number, the name of a result, or a directory (all results in it).
// Throws Error(usage) if there are none.
std::vector<HistoryEntry> find_entries(const HistoryDirectory& history, std::string_view which);

// Other results of the devices that `base` and `fresh` are of, a group for each firmware, kernel
// and version of filereel: from them the spread between sessions is known (compare_results).
// Results of the compared sessions are left out.
std::vector<std::vector<Result>> other_sessions(const HistoryDirectory& history,
                                                std::span<const Result> base,
                                                std::span<const Result> fresh);

struct AddedResult {
  std::string name;              // as in HistoryEntry
  bool already_existed = false;  // the same bytes existed
};

// Stores the text of `result` in the directory, and creates the directory if needed. The file
// appears completely or not at all, and never overwrites another: a different result of the same
// second gets a number. Throws Error(failed).
AddedResult add_to_history(const std::string& folder, const Result& result, std::string_view text);

}  // namespace filereel
