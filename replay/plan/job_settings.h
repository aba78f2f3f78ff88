// Reads the settings of plans and of jobs in them (docs/plans.md).
#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "filesets/specification/yaml_reader.h"
#include "filesets/system/error.h"
#include "replay/jobs/job_options.h"
#include "replay/results/result.h"

namespace filereel {

inline constexpr std::size_t kMostListItems = 100;  // of a list in a plan

// A parameter, its values and their place in the file; no place: from the command line.
struct Setting {
  const JobParameter* parameter = nullptr;
  std::vector<std::string> values;
  std::optional<YamlValue> place = {};
};

// Settings of a job from one place: the plan as a whole, the job's entry in it, or the command
// line.
struct JobSettings {
  std::vector<Setting> settings;
  bool of_many = false;  // skip settings that do not apply to a job
  SweepOverrides sweep;
  std::string name;
  std::vector<FileSystemKind> file_systems;
  std::optional<std::uint32_t> runs;
  bool repetitions = false;  // see PlanOverrides in plan.h
};

// These throw Error(unusable_input) with line and column.

// The keys that jobs and plans share.
JobSettings read_settings(const YamlMap& map);
// The same for a job.
JobSettings read_job_settings(const YamlMap& map);
// `runs: auto` and its keys; nothing for other plans.
std::optional<AutoRuns> read_auto_runs(const YamlMap& map);

// These keys and those of all parameters.
std::vector<std::string_view> with_parameters(std::initializer_list<std::string_view> keys);

// Throws the text, or an error without a place, with the place in the file.
[[noreturn]] void fail_at(const YamlValue& place, std::string_view text);
[[noreturn]] void fail_at(const YamlValue& place, const Error& error);

// The same for an error of a setting of a file, at the list item that it is about.
[[noreturn]] void fail_at(const Setting& setting, const ValueError& error);

}  // namespace filereel
