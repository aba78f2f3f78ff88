// --history, --device and --firmware: results that go into a history directory.
#pragma once

#include <span>
#include <string>

#include <CLI/CLI.hpp>

#include "replay/history/history.h"
#include "tools/cli/session.h"

namespace filereel {

struct HistoryOptions {
  std::string folder;  // "" for none
  TestedDevice said;   // as given by the user; empty: as reported by the drive
};

// Whether the user has named the drive or its firmware.
bool names_device(const HistoryOptions& options);

// --device and --firmware. `said` outlives the command.
void add_device_options(CLI::App& command, TestedDevice& said);

// All three options, for commands that measure. `options` outlives the command.
void add_history_options(CLI::App& command, HistoryOptions& options);

// A result as it is stored in a history.
struct HistoryAddition {
  std::string text;
  Result result;
};

// `text`: of the result file at `path`, which names it in messages. Throws Error for an unusable
// result.
HistoryAddition make_addition(const std::string& path, std::string text, const TestedDevice& said);

// Call after adding: a notice if results of several labels count as those of one drive.
void warn_of_same_names(const HistoryOptions& options, std::span<const HistoryAddition> added,
                        const Session& session);

// Call before any work. Throws Error unless results can be stored in the directory.
void check_history(const HistoryOptions& options);

// Call before any work. Throws Error if the history has results of the device that the user names,
// and the latest one is of a share, but near is not, or the reverse: a share that is not
// mounted would be measured as the disk below. `near`: as on the command line.
void check_device_place(const HistoryOptions& options, const std::string& near);

// If the result is stored under another device or firmware than `addition`, its name there, as in
// HistoryEntry; otherwise "".
std::string stored_elsewhere(const std::string& folder, const HistoryAddition& addition);

}  // namespace filereel
