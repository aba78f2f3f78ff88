#include "tools/job_arguments.h"

#include <algorithm>
#include <cstddef>

#include <fmt/format.h>

#include "filesets/system/error.h"
#include "filesets/system/search.h"

namespace filereel {

void add_repeated(CLI::App& command, const std::string& option, std::vector<std::string>& values,
                  const std::string& help) {
  command.add_option(option, values, help)
      ->expected(1)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
}

void add_parameter_options(CLI::App& command, ParameterArguments& arguments,
                           std::span<const std::string_view> keys) {
  arguments.resize(job_parameters().size());
  for (std::size_t i = 0; i < job_parameters().size(); ++i) {
    const JobParameter& parameter = job_parameters()[i];
    if (!keys.empty() && !contains(keys, parameter.key)) continue;
    std::vector<std::string>& values = arguments[i];
    const std::string option(parameter.option), help(parameter.help);
    switch (parameter.form) {
      case JobParameter::Form::value:
        command.add_option(option, values, help)
            ->expected(1)
            ->multi_option_policy(CLI::MultiOptionPolicy::TakeLast);
        break;
      case JobParameter::Form::list:
        command.add_option(option, values, help)->delimiter(',');
        break;
      case JobParameter::Form::repeated:
        add_repeated(command, option, values, help);
        break;
      case JobParameter::Form::flag:
        command.add_flag_callback(option, [&values] { values = {"true"}; }, help);
        break;
    }
  }
}

std::vector<std::pair<const JobParameter*, std::vector<std::string>>> given_parameters(
    const ParameterArguments& arguments) {
  std::vector<std::pair<const JobParameter*, std::vector<std::string>>> given;
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    if (!arguments[i].empty()) given.emplace_back(&job_parameters()[i], arguments[i]);
  }
  return given;
}

void add_format_options(CLI::App& command, FormatArguments& arguments) {
  command.add_option("--fs", arguments.file_systems, "File systems to create, such as ext4,ntfs")
      ->delimiter(',');
  command.add_option("--destroy", arguments.destroy,
                     "Block device or part to format; all data on it is lost");
}

std::vector<Target> parse_targets(const std::vector<std::string>& texts) {
  std::vector<Target> targets;
  for (const std::string& text : texts) targets.push_back(parse_target(text));
  return targets;
}

std::vector<Target> parse_devices(const std::vector<std::string>& texts) {
  std::vector<Target> targets;
  for (const std::string& text : texts) {
    try {
      targets.push_back(parse_device(text));
    } catch (const Error& error) {
      throw Error(ErrorKind::usage, fmt::format("--destroy {}", error.what()));
    }
  }
  return targets;
}

bool mounts_something(std::span<const Target> volumes) {
  return volumes.empty() || std::ranges::any_of(volumes, [](const Target& one) {
           return one.kind != TargetKind::directory;
         });
}

}  // namespace filereel
