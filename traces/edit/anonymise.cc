// Replaces names in a trace.
#include <algorithm>
#include <string>
#include <unordered_map>
#include <unordered_set>

#include <xxhash.h>

#include "filesets/system/random.h"
#include "traces/edit/id_remapper.h"
#include "traces/recorded_trace.h"

namespace filereel {
namespace {

constexpr std::size_t kLongestExtension = 5;
constexpr std::string_view kLetters = "abcdefghijklmnopqrstuvwxyz0123456789";

bool is_plain(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
}

// Maps each name to another one: always the same, and never the same for two names.
class NewNames {
 public:
  explicit NewNames(std::uint64_t key) : key_(key) {}

  const std::string& of(std::string_view name) {
    const auto [at, fresh] = names_.try_emplace(std::string(name));
    if (fresh) {
      for (std::uint64_t attempt = 0;; ++attempt) {
        at->second = candidate(name, attempt);
        if (used_.insert(at->second).second) break;
      }
    }
    return at->second;
  }

  // Every component except "." and "..".
  std::string link_text(std::string_view text) { return parts(text, '/'); }

  // The part after the namespace ("user.").
  std::string attribute(std::string_view name) {
    const std::size_t dot = name.find('.');
    if (dot == std::string_view::npos) return of(name);
    return std::string(name.substr(0, dot + 1)) + parts(name.substr(dot + 1), '.');
  }

 private:
  std::string parts(std::string_view text, char separator) {
    std::string changed;
    for (std::size_t begin = 0; begin <= text.size();) {
      const std::size_t end = std::min(text.find(separator, begin), text.size());
      const std::string_view name = text.substr(begin, end - begin);
      if (begin != 0) changed += separator;
      changed += name.empty() || name == "." || name == ".." ? std::string(name) : of(name);
      begin = end + 1;
    }
    return changed;
  }

  // Has the length of `name`, unless that leaves too few combinations, its extension, and the
  // leading dot of hidden files.
  std::string candidate(std::string_view name, std::uint64_t attempt) const {
    std::string_view front, extension;
    if (name.size() > 1 && name.front() == '.') front = name.substr(0, 1);
    name.remove_prefix(front.size());
    const std::size_t dot = name.rfind('.');
    if (dot != std::string_view::npos && dot != 0) {
      const std::string_view end = name.substr(dot + 1);
      if (!end.empty() && end.size() <= kLongestExtension && std::ranges::all_of(end, is_plain)) {
        extension = name.substr(dot);
        name.remove_suffix(extension.size());
      }
    }
    constexpr std::uint64_t kAttemptsPerLength = 8;
    const std::size_t length = name.size() + (name.size() < 16 ? attempt / kAttemptsPerLength : 0);
    Random random(mix_seed(XXH3_64bits_withSeed(name.data(), name.size(), key_), attempt));
    std::string made(front);
    for (std::size_t i = 0; i < length; ++i) made += kLetters[random.below(kLetters.size())];
    return made + std::string(extension);
  }

  std::uint64_t key_;
  std::unordered_map<std::string, std::string> names_;
  std::unordered_set<std::string> used_;
};

}  // namespace

void anonymise_trace(const TraceInput& input, std::uint64_t key, TraceBuilder& out) {
  NewNames names(key);
  NameChange change;
  change.component = [&](std::string_view name) { return names.of(name); };
  change.link_text = [&](std::string_view text) { return names.link_text(text); };
  change.attribute = [&](std::string_view name) { return names.attribute(name); };
  IdRemapper remapper(input, out, {}, &change);
  out.model().begin_with(remapper.tree(input.trees.initial));
  remapper.add_threads();
  remapper.add_losses();
  // Other facts, such as the command, may contain names.
  for (const std::string_view kept : {std::string_view("source"), kStoppedFact, kThrottledFact,
                                      kFailedFact, kRunningFact, kBusyFact, kClientFact}) {
    const auto fact = input.info.facts.find(std::string(kept));
    if (fact != input.info.facts.end()) out.fact(fact->first, fact->second);
  }
  OperationReader operations(input.source);
  for (; const RecordedOperation* next = operations.peek(); operations.pop()) remapper.add(*next);
}

}  // namespace filereel
