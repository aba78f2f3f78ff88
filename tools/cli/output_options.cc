#include "tools/cli/output_options.h"

#include <algorithm>
#include <array>
#include <optional>

#include <fmt/format.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "filesets/ownership/atomic_file.h"
#include "filesets/ownership/output_stream.h"
#include "filesets/system/error.h"
#include "filesets/system/paths.h"
#include "filesets/system/printable.h"
#include "filesets/system/search.h"

namespace filereel {

namespace {

// Takes the output of any number of options.
bool discards(const std::string& file) {
  constexpr unsigned kMemory = 1, kNull = 3;
  struct stat info{};
  return stat(file.c_str(), &info) == 0 && S_ISCHR(info.st_mode) &&
         info.st_rdev == makedev(kMemory, kNull);
}

}  // namespace

void check_output_files(const std::vector<OutputFile>& outputs) {
  for (auto one = outputs.begin(); one != outputs.end(); ++one) {
    if (one->file.empty() || discards(one->file)) continue;
    const auto same = std::ranges::find(outputs.begin(), one, one->file, &OutputFile::file);
    if (same != one && one->file == "-") {
      throw Error(ErrorKind::usage,
                  fmt::format("only one of {} and {} can use standard output: name a file for the "
                              "other",
                              same->option, one->option));
    }
    if (same != one) {
      throw Error(ErrorKind::usage, fmt::format("{} and {} name the same file: use two files",
                                                same->option, one->option));
    }
    if (one->file != "-") AtomicFile probe(one->file);
  }
}

void check_outside(const std::vector<OutputFile>& outputs, const std::vector<Target>& volumes) {
  for (const Target& volume : volumes) {
    const std::string place = full_path(volume.path);
    for (const OutputFile& output : outputs) {
      if (output.file.empty() || output.file == "-") continue;
      const std::string file = full_path(output.file);
      const bool inside = volume.kind == TargetKind::directory && file.starts_with(place + "/");
      if (!inside && file != place) continue;
      throw Error(ErrorKind::usage,
                  fmt::format("{} {} is inside the volume {}: name a file elsewhere", output.option,
                              printable(output.file), printable(volume.text())));
    }
  }
}

namespace {

struct FileFormat {
  std::optional<OutputKind> kind;  // none: filereel only reads it
  std::string_view what;
  std::array<std::string_view, 3> suffixes;  // the usual one first; "" for none
};

// A suffix in several rows stands for the first of them.
constexpr FileFormat kFormats[] = {
    {OutputKind::reel, "a reel", {".reel"}},
    {OutputKind::file_set, "a file set", {".fileset"}},
    {OutputKind::json, "JSON", {".json"}},
    {OutputKind::json_lines, "JSON Lines", {".jsonl", ".ndjson", ".json"}},
    {OutputKind::page, "an HTML page", {".html", ".htm"}},
    {OutputKind::csv, "CSV", {".csv"}},
    {OutputKind::markdown, "Markdown", {".md", ".markdown"}},
    {OutputKind::junit, "JUnit XML", {".xml"}},
    {OutputKind::iolog, "a log of fio", {".fio", ".iolog"}},
    {std::nullopt, "YAML", {".yaml", ".yml"}},
    {std::nullopt, "a list of files of FC-Test", {".fls", ".ptn"}},
};

bool has_suffix(const FileFormat& format, std::string_view suffix) {
  return !suffix.empty() && contains(format.suffixes, suffix);
}

std::string suffix_of(std::string_view file) {
  const std::string_view name = file.substr(file.rfind('/') + 1);
  const std::size_t dot = name.rfind('.');
  std::string suffix(dot == std::string_view::npos ? "" : name.substr(dot));
  for (char& c : suffix) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  return suffix;
}

void require_suffix(std::string_view option, const std::string& file, const FileFormat& format) {
  const std::string suffix = suffix_of(file);
  if (has_suffix(format, suffix)) return;
  const FileFormat* const other = find_if_or_null(
      kFormats, [&](const FileFormat& file_format) { return has_suffix(file_format, suffix); });
  if (!other || names_stream(file)) return;
  throw Error(
      ErrorKind::usage,
      fmt::format("{} {}: {} is the suffix of {}, but {} is written; use {}", option,
                  printable(file), suffix, other->what, format.what, format.suffixes.front()));
}

const FileFormat& format_of(OutputKind kind) {
  return *std::ranges::find(kFormats, std::optional(kind), &FileFormat::kind);
}

CLI::Validator output_file(const std::string& names, OutputKind kind) {
  const std::string option = names.substr(names.rfind(',') + 1);
  const auto prepare = [option, kind](std::string& value) -> std::string {
    value = output_name(value);
    const bool binary = kind == OutputKind::reel || kind == OutputKind::file_set;
    if (binary && value == "-" && isatty(STDOUT_FILENO) != 0) {
      throw Error(
          ErrorKind::usage,
          fmt::format("{} -: standard output is a terminal; name a file or a pipe", option));
    }
    check_suffix(option, value, kind);
    return "";
  };
  return CLI::Validator(prepare, "");
}

}  // namespace

std::string output_name(const std::string& file) {
  return own_descriptor(file) == STDOUT_FILENO ? "-" : file;
}

void check_suffix(std::string_view option, const std::string& file, OutputKind kind) {
  require_suffix(option, file, format_of(kind));
}

void check_suffix(std::string_view option, const std::string& file, std::string_view usual) {
  require_suffix(option, file, *std::ranges::find_if(kFormats, [&](const FileFormat& format) {
                   return format.suffixes.front() == usual;
                 }));
}

CLI::Option* add_output_option(CLI::App& command, const std::string& names, std::string& file,
                               OutputKind kind, const std::string& help) {
  return command.add_option(names, file, help)->transform(output_file(names, kind));
}

CLI::Option* add_output_option(CLI::App& command, const std::string& names,
                               std::vector<std::string>& files, OutputKind kind,
                               const std::string& help) {
  return command.add_option(names, files, help)
      ->expected(1)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll)
      ->transform(output_file(names, kind));
}

}  // namespace filereel
