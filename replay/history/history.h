// A folder of results, by drive and firmware (docs/guide-firmware.md): what is in it, and adding to it.
// It is files and nothing else, so that people may copy, rename and delete what is in it.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "replay/results/result.h"

namespace filereel {

struct HistoryEntry {
  std::uint32_t number = 0;      // from 1, by `started`
  std::string name;              // of the file below the folder, without ".json"
  std::string device, firmware;  // as tested_device says
  std::string started, label;
  Result result;
};

struct HistoryFolder {
  std::vector<HistoryEntry> entries;  // by number
  std::vector<std::string> others;    // files and folders that hold no result, and why: a line each
};

// Reads all results in the folder, at any depth that histories have. Throws Error(unusable_input)
// when there is no such folder.
HistoryFolder read_history(const std::string& folder);

// The entries that `which` names: a number, the name of a result, or that of a folder, which means
// all results in it. Throws Error(usage) if nothing is called that.
std::vector<HistoryEntry> find_entries(const HistoryFolder& history, std::string_view which);

struct AddedResult {
  std::string name;        // as HistoryEntry's
  bool was_there = false;  // the same bytes lay there already
};

// Puts the text of `result` into the folder, which is made if need be. It is there as a whole or
// not at all, and nothing that is there already is overwritten: a different result of the same
// second gets a number. Throws Error(failed).
AddedResult add_to_history(const std::string& folder, const Result& result, std::string_view text);

}  // namespace filereel
