#include "replay/jobs/job_options.h"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <sstream>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <doctest/doctest.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "tests/kept_file.h"

namespace filereel {
namespace {

using Lines = std::vector<std::string>;

// A document below docs/. With FILEREEL_WRITE_DOCUMENTS in the environment, differences from the
// rows of parameters are written into it, not only reported.
class CheckedDocument {
 public:
  explicit CheckedDocument(const std::string& name) : name_("../docs/" + name) {
    std::istringstream text(kept_file(name_));
    for (std::string line; std::getline(text, line);) lines_.push_back(line);
  }

  // The lines of the section that are rows of parameters are these.
  template <class IsRow>
  void expect(const std::string& heading, const IsRow& is_row, const Lines& expected) {
    const auto [begin, end] = section(heading);
    Lines found, others;
    std::size_t place = 0;
    for (std::size_t i = begin; i < end; ++i) {
      if (is_row(lines_[i]) && found.empty()) place = others.size();
      (is_row(lines_[i]) ? found : others).push_back(lines_[i]);
    }
    if (found == expected) return;
    if (std::getenv("FILEREEL_WRITE_DOCUMENTS")) {
      others.insert(others.begin() + static_cast<std::ptrdiff_t>(place), expected.begin(),
                    expected.end());
      replace(begin, end, others);
    }
    FAIL_CHECK(name_, ": ", heading, remark(), " must have\n",
               fmt::format("{}", fmt::join(expected, "\n")));
  }

  // An entry of a man page begins with the tag; a missing one is added at the end of the section.
  void expect_entry(const std::string& heading, const std::string& tag, const Lines& text) {
    const auto [begin, end] = section(heading);
    for (std::size_t i = begin; i < end; ++i) {
      const std::string padded = lines_[i] + ",";
      if (padded.contains(tag + ",") || padded.contains(tag + " ")) return;
    }
    if (std::getenv("FILEREEL_WRITE_DOCUMENTS")) {
      Lines more(lines_.begin() + static_cast<std::ptrdiff_t>(begin),
                 lines_.begin() + static_cast<std::ptrdiff_t>(end));
      more.insert(more.end(), {".TP", tag});
      more.insert(more.end(), text.begin(), text.end());
      replace(begin, end, more);
    }
    FAIL_CHECK(name_, ": ", heading, remark(), " lacks\n.TP\n", tag, "\n",
               fmt::format("{}", fmt::join(text, "\n")));
  }

 private:
  static std::string_view remark() {
    return std::getenv("FILEREEL_WRITE_DOCUMENTS") ? " (has it now)"
                                                   : " (FILEREEL_WRITE_DOCUMENTS=1 writes it)";
  }

  // From the line behind the heading to the next heading.
  std::pair<std::size_t, std::size_t> section(const std::string& heading) const {
    std::size_t begin = 0;
    while (begin < lines_.size() && lines_[begin] != heading) ++begin;
    REQUIRE(begin < lines_.size());
    std::size_t end = ++begin;
    const auto is_heading = [](const std::string& line) {
      return line.starts_with("#") || line.starts_with(".S");
    };
    while (end < lines_.size() && !is_heading(lines_[end])) ++end;
    return {begin, end};
  }

  void replace(std::size_t begin, std::size_t end, const Lines& by) {
    Lines all(lines_.begin(), lines_.begin() + static_cast<std::ptrdiff_t>(begin));
    all.insert(all.end(), by.begin(), by.end());
    all.insert(all.end(), lines_.begin() + static_cast<std::ptrdiff_t>(end), lines_.end());
    lines_ = all;
    std::ofstream file(std::string(std::getenv("FILEREEL_TEST_DATA")) + "/" + name_);
    for (const std::string& line : lines_) file << line << '\n';
  }

  std::string name_;  // below tests/
  Lines lines_;
};

std::string_view reason(const JobParameter& parameter, JobKind kind) {
  return inapplicable_reason(parameter, kind, kind == JobKind::trace);
}

// "FC-Test, workloads", "all".
std::string kinds_of(const JobParameter& parameter) {
  std::vector<std::string_view> names;
  for (const JobKind kind : job_kinds()) {
    if (inapplicable_reason(parameter, kind, false).empty()) names.push_back(info_of(kind).plural);
  }
  return names.size() == kJobKinds ? "all" : fmt::format("{}", fmt::join(names, ", "));
}

// "depth, clients": the keys that a kind can sweep, each between these.
std::vector<std::string> swept_by(JobKind kind, std::string_view around) {
  std::vector<std::string> keys;
  for (const JobParameter& parameter : job_parameters()) {
    if (parameter.swept && reason(parameter, kind).empty()) {
      keys.push_back(fmt::format("{}{}{}", around, parameter.key, around));
    }
  }
  return keys;
}

std::string in_words(std::vector<std::string> keys) {
  const std::string last = keys.back();
  keys.pop_back();
  return fmt::format("{} and {}.", fmt::join(keys, ", "), last);
}

std::string roff(std::string_view text) {
  std::string escaped;
  for (const char c : text) escaped += c == '-' ? "\\-" : std::string(1, c);
  return escaped;
}

std::string values_of(const JobParameter& parameter) {
  if (!parameter.values.empty()) return std::string(parameter.values);
  std::vector<std::string> words;
  for (const Candidate& candidate : parameter.candidates())
    words.push_back("`" + candidate.text + "`");
  return fmt::format("{}", fmt::join(words, ", "));
}

// At most 80 columns, as in all man pages.
Lines in_lines(const std::string& text) {
  constexpr std::size_t kWidth = 80;
  Lines lines(1);
  std::istringstream words(text);
  for (std::string word; words >> word;) {
    if (lines.back().size() + 1 + word.size() > kWidth) lines.emplace_back();
    lines.back() += (lines.back().empty() ? "" : " ") + word;
  }
  return lines;
}

TEST_CASE("docs/plans.md has the rows of all parameters") {
  CheckedDocument plans("plans.md");
  Lines parameters, kinds;
  for (const JobParameter& parameter : job_parameters()) {
    parameters.push_back(fmt::format("| `{}`, `{}` | {} | {} | {} |", parameter.key,
                                     parameter.option, values_of(parameter), parameter.default_text,
                                     kinds_of(parameter)));
    std::string row = fmt::format("| `{}` |", parameter.option);
    for (const JobKind kind : job_kinds()) {
      const std::string_view why = reason(parameter, kind);
      row += fmt::format(" {} |", why.empty()                 ? "yes"
                                  : why.starts_with("it is ") ? why.substr(6)
                                                              : why);
    }
    kinds.push_back(row);
  }
  plans.expect(
      "## Parameters", [](const std::string& line) { return line.starts_with("| `"); }, parameters);
  const auto is_parameter = [](const std::string& line) {
    return std::ranges::any_of(job_parameters(), [&](const JobParameter& one) {
      return line.starts_with(fmt::format("| `{}` |", one.option));
    });
  };
  plans.expect("## Options × kinds of jobs", is_parameter, kinds);
  for (const JobKind kind : {JobKind::fc_test, JobKind::trace}) {
    const std::string begin = fmt::format("| {} | ", info_of(kind).title);
    plans.expect("### Sweeps", [&](const std::string& line) { return line.starts_with(begin); },
                 {fmt::format("{}{} |", begin, fmt::join(swept_by(kind, "`"), ", "))});
  }
}

TEST_CASE("the man pages have an entry of every parameter, and the keys of sweeps") {
  CheckedDocument run("man/filereel-run.1"), replay("man/filereel-replay.1");
  for (const JobParameter& parameter : job_parameters()) {
    std::string tag = fmt::format("\\fB{}\\fR", roff(parameter.option));
    if (!parameter.value_name.empty()) tag += fmt::format(" \\fI{}\\fR", parameter.value_name);
    if (parameter.form == JobParameter::Form::list) tag += ",...";
    for (CheckedDocument* const page : {&run, &replay}) {
      page->expect_entry(fmt::format(".SS {}", parameter.group), tag,
                         in_lines(roff(parameter.help) + "."));
    }
  }
  // A sentence takes several lines: those that have nothing but keys continue it.
  const auto is_keys = [](const std::string& line) {
    std::istringstream words(line);
    for (std::string word; words >> word;) {
      if (word.ends_with(",") || word.ends_with(".")) word.pop_back();
      if (word != "and" && !find_job_parameter(word)) return false;
    }
    return !line.empty();
  };
  const auto is_row = [&](const std::string& line) {
    return line.starts_with("The keys of FC-Test ") || line.starts_with("The keys of recorded ") ||
           line.starts_with("The keys are ") || is_keys(line);
  };
  const std::string of_traces = in_words(swept_by(JobKind::trace, ""));
  Lines keys = in_lines("The keys of FC-Test are " + in_words(swept_by(JobKind::fc_test, "")));
  std::ranges::copy(in_lines("The keys of recorded traces are " + of_traces),
                    std::back_inserter(keys));
  run.expect(".SS What to measure", is_row, keys);
  replay.expect(".SS What to measure", is_row, in_lines("The keys are " + of_traces));
}

}  // namespace
}  // namespace filereel
