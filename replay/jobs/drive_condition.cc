#include "replay/jobs/drive_condition.h"

#include <algorithm>
#include <array>
#include <cctype>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "filesets/catalogue/catalogue.h"
#include "filesets/system/error.h"
#include "filesets/system/numbers.h"
#include "filesets/system/printable.h"
#include "filesets/system/search.h"
#include "filesets/system/units.h"

namespace filereel {
namespace {

// As in SNIA's PTS: 128 KiB in sequence for preconditioning that does not depend on the workload.
constexpr std::uint64_t kSequentialBlock = 128 << 10, kRandomBlock = 4 << 10;
constexpr std::uint64_t kLeastBlock = 4 << 10, kMostConditionBlock = 16 << 20;
constexpr double kMostPasses = 100;
constexpr std::uint64_t kLeastFillFile = 4 << 10;

[[noreturn]] void refuse_condition(const std::string& text) {
  throw ValueError(ErrorKind::usage, {.text = text, .is_predicate = true});
}

// "2x" as 2.
std::optional<double> passes_in(std::string_view text) {
  double number = 0;
  const bool known = take_number(text, number) && text == "x";
  return known ? std::optional(number) : std::nullopt;
}

std::string text_of(const Preconditioning& precondition) {
  const std::string_view place = !precondition.on_files   ? ""
                                 : *precondition.on_files ? " files"
                                                          : " device";
  return fmt::format("{} {:g}x {}{}", precondition.random ? "random" : "sequential",
                     precondition.passes, format_binary_size(precondition.block), place);
}

// "ext4=-O ^has_journal": the file system, and the rest. Nothing, and the whole text, without one.
std::pair<std::optional<FileSystemKind>, std::string_view> of_file_system(std::string_view text) {
  const std::size_t equals = text.find('=');
  const std::string_view name = text.substr(0, equals);
  const FileSystemInfo* const info =
      equals == text.npos ? nullptr : find_or_null(file_systems(), name, &FileSystemInfo::name);
  if (!info) return {std::nullopt, text};
  return {info->kind, text.substr(equals + 1)};
}

// The last text that is for the file system; "defaults" if there is none.
std::string_view text_for(std::span<const std::string> texts, FileSystemKind kind) {
  std::string_view found = "defaults";
  for (const std::string& text : texts) {
    const auto [of, rest] = of_file_system(text);
    if (!of || *of == kind) found = rest;
  }
  return found;
}

template <class Parse>
std::vector<std::string> checked(std::span<const std::string> texts, const Parse& parse) {
  for (const std::string& text : texts) {
    try {
      parse(of_file_system(text).second);
    } catch (const ValueError& error) {
      ValueError::Parts parts = error.parts();
      parts.value = text;
      throw ValueError(error.kind(), parts);
    }
  }
  return {texts.begin(), texts.end()};
}

// In the largest unit of which it is a multiple: another time has another text.
std::string exact_duration(std::uint64_t ns) {
  struct Unit {
    std::string_view name;
    std::uint64_t ns;
  };
  constexpr std::uint64_t kSecond = 1'000'000'000;
  constexpr auto kUnits = std::to_array<Unit>({{"h", 3600 * kSecond},
                                               {"min", 60 * kSecond},
                                               {"s", kSecond},
                                               {"ms", 1'000'000},
                                               {"us", 1000},
                                               {"ns", 1}});
  if (ns == 0) return "0";
  const Unit* unit = kUnits.begin();
  while (ns % unit->ns != 0) ++unit;
  return fmt::format("{} {}", ns / unit->ns, unit->name);
}

struct ConditionText {
  std::string_view key;  // of its row in kParameters
  std::string (*text)(const DriveCondition& condition);
};

std::string truth_text(bool value) {
  return value ? "true" : "false";
}

std::string options_text(const std::vector<std::string>& texts) {
  return texts.empty() ? "defaults" : fmt::format("{}", fmt::join(texts, "; "));
}

constexpr auto kConditions = std::to_array<ConditionText>({
    {"purge", [](const DriveCondition& c) { return truth_text(c.purge); }},
    {"precondition",
     [](const DriveCondition& c) -> std::string {
       return c.precondition ? text_of(*c.precondition) : "none";
     }},
    {"mkfs_options", [](const DriveCondition& c) { return options_text(c.mkfs_options); }},
    {"mount_options", [](const DriveCondition& c) { return options_text(c.mount_options); }},
    {"fill", [](const DriveCondition& c) { return fmt::format("{:g} %", c.fill * 100); }},
    {"fill_files", [](const DriveCondition& c) { return c.fill_files; }},
    {"steady", [](const DriveCondition& c) { return truth_text(c.steady); }},
    {"rest", [](const DriveCondition& c) { return exact_duration(c.rest_ns); }},
});

}  // namespace

Preconditioning parse_preconditioning(std::string_view text) {
  Preconditioning precondition;
  bool has_pattern = false;
  for (std::string_view rest = text; !rest.empty();) {
    const std::size_t end = std::min(rest.find(' '), rest.size());
    const std::string_view word = rest.substr(0, end);
    rest.remove_prefix(std::min(end + 1, rest.size()));
    if (word == "sequential" || word == "random") {
      if (has_pattern) refuse_condition("must have one pattern, sequential or random");
      has_pattern = true;
      precondition.random = word == "random";
    } else if (word == "files" || word == "device") {
      precondition.on_files = word == "files";
    } else if (const std::optional<double> passes = passes_in(word)) {
      if (!(*passes > 0) || *passes > kMostPasses) {
        refuse_condition(fmt::format("must have more than 0 passes, at most {}", kMostPasses));
      }
      precondition.passes = *passes;
    } else if (!word.empty() && std::isdigit(static_cast<unsigned char>(word.front()))) {
      precondition.block = parse_size(word, "precondition", ErrorKind::usage);
      if (precondition.block < kLeastBlock || precondition.block > kMostConditionBlock ||
          precondition.block % kLeastBlock != 0) {
        refuse_condition("must have writes of 4 KiB to 16 MiB, in multiples of 4 KiB");
      }
    } else if (!word.empty()) {
      refuse_condition(
          fmt::format("has the unknown word '{}': use sequential or random, passes such as 2x, a "
                      "size such as 128KiB, and device or files",
                      printable(word)));
    }
  }
  if (!has_pattern) refuse_condition("must name a pattern, sequential or random");
  if (precondition.block == 0) {
    precondition.block = precondition.random ? kRandomBlock : kSequentialBlock;
  }
  return precondition;
}

Format DriveCondition::format(FileSystemKind kind, bool fresh) const {
  return {.kind = kind,
          .mkfs_options = parse_mkfs_options(text_for(mkfs_options, kind)),
          .mount_options = parse_mount_options(text_for(mount_options, kind)),
          // A purge has just done it.
          .discard = !purge && !precondition && (fresh || !steady)};
}

double DriveCondition::bytes_on(std::uint64_t capacity) const {
  return ((precondition ? precondition->passes : 0) + fill) * static_cast<double>(capacity);
}

std::optional<FileSystemKind> file_system_of_options(std::string_view text) {
  return of_file_system(text).first;
}

std::string condition_value(const DriveCondition& condition, std::string_view key) {
  const ConditionText* const row = find_or_null(kConditions, key, &ConditionText::key);
  return row ? row->text(condition) : "";
}

Parameters condition_settings(const DriveCondition& condition) {
  const DriveCondition none;
  Parameters settings;
  for (const ConditionText& row : kConditions) {
    std::string text = row.text(condition);
    if (text != row.text(none)) settings.emplace_back(row.key, std::move(text));
  }
  return settings;
}

void set_fill(DriveCondition& condition, const std::string& text) {
  const std::optional<double> share = parse_percentage(text);
  if (!share || !(*share >= 0) || *share > DriveCondition::kMostFill) {
    refuse_condition("must be a percentage from 0% to 95%");
  }
  condition.fill = *share;
}

void set_fill_files(DriveCondition& condition, const std::string& text) {
  const bool is_size = !text.empty() && std::isdigit(static_cast<unsigned char>(text.front()));
  if (is_size) {
    const std::uint64_t bytes = parse_size(text, "fill_files", ErrorKind::usage);
    if (bytes < kLeastFillFile) refuse_condition("must be at least 4 KiB, or a file set");
    condition.fill_files = format_binary_size(bytes);
  } else {
    load_file_set(text);  // throws unless it is one
    condition.fill_files = text;
  }
}

void set_rest(DriveCondition& condition, const std::string& text) {
  constexpr std::uint64_t kMost = 30ULL * 24 * 3600 * 1'000'000'000;
  const std::uint64_t rest_ns = parse_duration(text, "rest", ErrorKind::usage);
  if (rest_ns > kMost) refuse_condition("must be at most 720 h");
  condition.rest_ns = rest_ns;
}

void set_mkfs_options(DriveCondition& condition, std::span<const std::string> texts) {
  condition.mkfs_options = checked(texts, parse_mkfs_options);
}

void set_mount_options(DriveCondition& condition, std::span<const std::string> texts) {
  condition.mount_options = checked(texts, parse_mount_options);
}

}  // namespace filereel
