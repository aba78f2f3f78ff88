// Options of the commands that measure: parameters of jobs, and volumes to format.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <CLI/CLI.hpp>

#include "replay/run/job_options.h"
#include "replay/volumes/target.h"

namespace filereel {

// The values of parameters as given, by job_parameters(); empty: not given.
using ParameterArguments = std::vector<std::vector<std::string>>;

// Adds a repeatable option that takes one value each time.
void add_repeated(CLI::App& command, const std::string& option, std::vector<std::string>& values,
                  const std::string& help);

// Adds the options of the parameters with these keys, of all without keys; `arguments` must outlive
// the command.
void add_parameter_options(CLI::App& command, ParameterArguments& arguments,
                           std::span<const std::string_view> keys = {});

// Parameters with values, for PlanOverrides.
std::vector<std::pair<const JobParameter*, std::vector<std::string>>> given_parameters(
    const ParameterArguments& arguments);

struct FormatArguments {
  std::vector<std::string> file_systems, destroy;
};

// Adds --fs and --destroy to a command; `arguments` must outlive it.
void add_format_options(CLI::App& command, FormatArguments& arguments);

// These throw Error(usage).
std::vector<Target> parse_targets(const std::vector<std::string>& texts);
std::vector<Target> parse_devices(const std::vector<std::string>& texts);  // of --destroy

// Whether a run on these volumes mounts something, which needs privileges. Without volumes,
// filereel creates its own.
bool mounts_something(std::span<const Target> volumes);

}  // namespace filereel
