// Values of a workload that may be swept: a list, or a range, where one value would do.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "filesets/specification/yaml_reader.h"

namespace filereel {

inline constexpr std::uint64_t kMostPoints = 10'000;  // of one workload
inline constexpr std::size_t kMostAxes = 32;          // each is a level of the matrices of results

// A value that is swept.
struct SweepAxis {
  std::string name;  // its key; SCOPE.KEY or SCOPE.SCOPE.KEY where several have the same key
  std::vector<std::string> values;  // as written

  bool operator==(const SweepAxis&) const = default;
};

// A key that may be swept, by a name that no other key goes by.
struct SweepKey {
  std::string name;
  std::vector<std::string> values;  // as written; none: it is left out
};

// Values that stand in the place of those in the text, by KEY, SCOPE.KEY or SCOPE.SCOPE.KEY.
using SweepOverrides = std::map<std::string, std::vector<std::string>, std::less<>>;

// Finds the keys and axes of a document while it is read for the first time, and takes the right
// value of each while it is read again. An alias of a list is the same axis as the list.
class Sweep {
 public:
  Sweep() = default;
  // For the same document, with other values for some of the keys that `read` found. Throws
  // Error(usage) for names of no key, or of several.
  Sweep(const Sweep& read, const SweepOverrides& overrides);

  // What keys are part of (a phase's name, say) until it goes out of scope.
  class Scope {
   public:
    Scope(Sweep& sweep, std::string name) : sweep_(sweep) {
      sweep_.scopes_.push_back(std::move(name));
    }
    Scope(const Scope&) = delete;
    Scope& operator=(const Scope&) = delete;
    ~Scope() { sweep_.scopes_.pop_back(); }

   private:
    Sweep& sweep_;
  };

  // The value of `key` at this point, if there is one. Throws Error(unusable_input) for lists that
  // are empty, ranges that make no sense, sweeps of more than kMostPoints, and axes that only some
  // points have.
  std::optional<YamlValue> pick(std::string_view key, const YamlMap& map);

  // To be called when the document was read once: its keys and axes are known from then on.
  void settle();

  // In the order of the text.
  const std::vector<SweepKey>& keys() const { return keys_; }
  const std::vector<SweepAxis>& axes() const { return axes_; }
  std::uint64_t points() const { return points_; }

  // The document is read at this point next; points count through the last axis first.
  void go_to(std::uint64_t point);
  // The number of each axis' value at a point.
  std::vector<std::size_t> at(std::uint64_t point) const;

 private:
  // Where a key stands, or would: aliases stand at the same place.
  struct Place {
    std::string where;
    std::vector<std::string> names;  // that it goes by, from the key alone to all scopes
    std::vector<YamlValue> values;
    bool written = true;
  };

  YamlValue pick_axis(std::string_view key, const std::string& where, const YamlValue& value,
                      const std::vector<std::string>* given);
  std::vector<std::string> names_of(std::string_view key) const;
  void note(std::string_view key, const std::string& where, const YamlValue& value, bool written);
  void name_keys();
  std::size_t number_of(const std::string& name) const;

  std::map<std::string, std::vector<std::string>> overrides_;  // by Place::where
  std::vector<std::string> scopes_;
  std::vector<Place> found_;                    // by key
  std::map<std::string, std::size_t> numbers_;  // in it, by Place::where
  std::vector<SweepKey> keys_;
  std::vector<Place> places_;  // by axis
  std::vector<SweepAxis> axes_;
  std::vector<std::size_t> now_;  // by axis: the number of the value that is taken
  std::uint64_t points_ = 1;
  bool settled_ = false;
};

}  // namespace filereel
