// How this folder works: main.cc calls run_command_line() in command_line.cc, which adds all
// commands, parses, and prints errors. Each command has its function here and a file, such as
// run_command.cc, which only translates: options into requests of the layers below, results into
// text. Other files print (such as result_table.h) or have options that several commands share
// (such as run_options.h). Results are printed through a Session (session.h), which makes text
// from outside printable. Start with command_line.cc, then run_command.cc.
//
// One function per command. It adds the command to the command line; the callback does the work and
// may throw Error. `session` must outlive parsing.
#pragma once

#include <cstdint>

#include <CLI/CLI.hpp>

#include "tools/cli/session.h"

namespace filereel {

void add_run_command(CLI::App& app, Session& session);
void add_capture_command(CLI::App& app, Session& session);
void add_populate_command(CLI::App& app, Session& session);
void add_show_command(CLI::App& app, Session& session);
void add_record_command(CLI::App& app, Session& session);
void add_import_command(CLI::App& app, Session& session);
void add_export_command(CLI::App& app, Session& session);
void add_replay_command(CLI::App& app, Session& session);
void add_predict_command(CLI::App& app, Session& session);
void add_report_command(CLI::App& app, Session& session);
void add_cut_command(CLI::App& app, Session& session);
void add_merge_command(CLI::App& app, Session& session);
void add_repeat_command(CLI::App& app, Session& session);
void add_anonymise_command(CLI::App& app, Session& session);
void add_compare_command(CLI::App& app, Session& session);
void add_list_command(CLI::App& app, Session& session);
void add_doctor_command(CLI::App& app, Session& session);
void add_history_command(CLI::App& app, Session& session);
void add_clean_command(CLI::App& app, Session& session);
void add_completion_command(CLI::App& app, Session& session);

// Accepts whole numbers of this range, others with the same message for all versions of CLI11.
CLI::Validator in_range(std::uint32_t least, std::uint32_t most);

// Adds all commands and their common options.
void add_commands(CLI::App& app, Session& session);

}  // namespace filereel
