// The values of options and positional arguments. Names come from where they are defined; words
// that are defined by the parsing of a text stand here, and the tests parse them.
#include <algorithm>
#include <array>
#include <utility>

#include "filesets/catalog.h"
#include "replay/run/catalogue.h"
#include "replay/volumes/file_system.h"
#include "tools/completion/completion.h"
#include "traces/catalog_reel.h"
#include "traces/export/exporter.h"
#include "traces/fc_test.h"
#include "traces/import/importer.h"
#include "traces/workload/workload.h"

namespace filereel {
namespace {

template <class List>
std::vector<std::string> names_of(const List& list) {
  std::vector<std::string> names;
  for (const auto& one : list) names.emplace_back(one.name);
  return names;
}

CompletedValue runnables() {
  std::vector<std::string> names = names_of(list_catalog_plans());
  std::ranges::copy(names_of(list_catalog_workloads()), std::back_inserter(names));
  return {ValueKind::files, std::move(names)};
}

CompletedValue file_sets(bool list) {
  return {ValueKind::files, names_of(list_catalog_file_sets()), list};
}

CompletedValue known_file_systems(bool list) {
  return {ValueKind::words, names_of(file_systems()), list};
}

CompletedValue fc_steps() {
  std::vector<std::string> names;
  for (std::size_t i = 0; i < kFcSteps; ++i) {
    names.emplace_back(fc_step_name(static_cast<FcStep>(i)));
  }
  return {ValueKind::words, std::move(names), true};
}

CompletedValue words(std::vector<std::string> list) {
  return {ValueKind::words, std::move(list)};
}

// Other arguments, which mean the same in every command and have no words.
constexpr std::pair<std::string_view, ValueKind> kByName[] = {
    {"--against", ValueKind::volumes},
    {"--against-far", ValueKind::volumes},
    {"--against-json", ValueKind::files},
    {"--alpha", ValueKind::other},
    {"--at", ValueKind::directories},
    {"--base", ValueKind::files},
    {"--block-size", ValueKind::other},
    {"--budget", ValueKind::other},
    {"--clients", ValueKind::other},
    {"--csv", ValueKind::files},
    {"--cwd", ValueKind::directories},
    {"--depth", ValueKind::other},
    {"--destroy", ValueKind::files},
    {"--device", ValueKind::other},
    {"--duration", ValueKind::other},
    {"--grace", ValueKind::other},
    {"--far", ValueKind::volumes},
    {"--from", ValueKind::other},
    {"--google-benchmark", ValueKind::files},
    {"--html", ValueKind::files},
    {"--json", ValueKind::files},
    {"--junit", ValueKind::files},
    {"--key", ValueKind::other},
    {"--label", ValueKind::other},
    {"--markdown", ValueKind::files},
    {"--memory", ValueKind::other},
    {"--near", ValueKind::volumes},
    {"--new", ValueKind::files},
    {"--note", ValueKind::other},
    {"--output", ValueKind::files},
    {"--path", ValueKind::other},
    {"--pid", ValueKind::other},
    {"--precision", ValueKind::other},
    {"--scale", ValueKind::other},
    {"--sweep", ValueKind::other},
    {"--thread", ValueKind::other},
    {"--threads", ValueKind::other},
    {"--threshold", ValueKind::other},
    {"--time", ValueKind::other},
    {"--times", ValueKind::other},
    {"--title", ValueKind::other},
    {"--to", ValueKind::other},
    {"--under", ValueKind::directories},
    {"A", ValueKind::other},
    {"B", ValueKind::other},
    {"COMMAND", ValueKind::program},
    {"DIR", ValueKind::directories},
    {"FILE", ValueKind::files},
    {"REEL", ValueKind::files},
    {"REELS", ValueKind::files},
    {"RESULT", ValueKind::files},
    {"RESULTS", ValueKind::files},
    {"VOLUME", ValueKind::volumes},
};

}  // namespace

std::optional<CompletedValue> value_of(std::string_view command, std::string_view argument) {
  const bool replay = command == "replay";
  if (argument == "NAMES") return runnables();
  if (argument == "REEL" && replay)
    return CompletedValue{ValueKind::files, names_of(reel_catalog())};
  if (argument == "FILE" && command == "show") return file_sets(false);
  if (argument == "SET" || argument == "--initial") return file_sets(false);
  if (argument == "--set") return file_sets(true);
  if (argument == "--fs") return known_file_systems(!replay);
  if (argument == "--operations") return fc_steps();
  if (argument == "SHELL") return words({"bash", "zsh", "fish"});
  if (argument == "--copy-method") {
    return words({"readwrite", "copy_file_range", "reflink", "sendfile"});
  }
  if (argument == "--order") return words({"resource", "strict", "thread"});
  if (argument == "--pace") return words({"asap", "natural", "think", "2x"});
  if (argument == "--engine") return words({"auto", "blocking", "io_uring", "null"});
  if (argument == "--verify") return words({"results", "content", "tree"});
  if (argument == "--backend") return words({"auto", "bpf", "strace"});
  if (argument == "--runs") return words({"auto"});
  if (argument == "--format" && command == "import") {
    std::vector<std::string> names = {"auto"};
    std::ranges::copy(names_of(importers()), std::back_inserter(names));
    return words(std::move(names));
  }
  if (argument == "--format" && command == "export") return words(names_of(exporters()));
  const auto found =
      std::ranges::find(kByName, argument, &std::pair<std::string_view, ValueKind>::first);
  if (found == std::end(kByName)) return std::nullopt;
  return CompletedValue{found->second};
}

}  // namespace filereel
