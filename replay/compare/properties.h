// The properties of results that a comparison may name as different, besides figures.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <vector>

#include "replay/compare/comparison.h"

namespace filereel {

// All values that a group of results has for one property, without duplicates; "" means unknown.
class Values {
 public:
  void add(std::string value);
  bool empty() const { return values_.empty(); }
  std::string text() const;  // "a, b", in the order of bytes

 private:
  std::vector<std::string> values_;
};

// A result with its volumes prepared for comparison.
struct PreparedResult {
  const Result& result;
  std::vector<VolumeDescription> volumes;
};

using PreparedGroup = std::vector<PreparedResult>;

// Serial numbers are hidden in all if one of the results hides them: the same drive would look
// different. The results must outlive the groups.
std::vector<PreparedGroup> prepared(std::span<const std::span<const Result>> groups);

struct ComparedProperty {
  ChangeKind kind;
  std::string what;  // "firmware (near)"
  std::function<void(const PreparedResult&, Values&)> collect;

  Values of(const PreparedGroup& group) const;
};

inline constexpr std::string_view kVolumeSize = "volume size";

// The properties of all groups, in the order in which differences are listed. `across`: the groups
// have different file systems, so that volumes of the same role correspond; features do not.
std::vector<ComparedProperty> properties_of(std::span<const std::span<const Result>> groups,
                                            bool across);

}  // namespace filereel
