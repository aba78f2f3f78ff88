// How this folder works: yaml_reader.h reads YAML strictly, specification.cc reads the language of
// file sets with it, file_group.h turns each group of the text into entries, by sizes from
// distribution.h, and scaling.h scales sets without changing their structure. Workloads and plans
// use the same YAML reader. Start here, then specification.cc.
//
// File sets as YAML specifications: see docs/file-sets.md.
#pragma once

#include <cstdint>
#include <string_view>

#include "filesets/file_set.h"
#include "filesets/specification/yaml_reader.h"

namespace filereel {

struct SpecificationLimits {
  std::uint64_t max_groups = 1'000;
  std::uint64_t max_count = 100'000'000;   // of one group, before scaling
  std::uint64_t max_entries = 20'000'000;  // of the set, after scaling
};

// Generates the file set that `text` specifies, at `scale` (0 to kMaxScale,
// filesets/specification/scaling.h). The bytes of each group become exactly round(bytes * scale).
// The result depends only on the text and the scale and satisfies check_file_set. Throws
// Error(unusable_input) with line and column if the text is not a valid specification, Error(usage)
// if the scale is invalid.
FileSet file_set_from_yaml(std::string_view text, std::string_view file_name, double scale = 1.0,
                           const SpecificationLimits& limits = {});
// The same for a parsed document.
FileSet file_set_from_document(const YamlValue& document, std::string_view file_name,
                               double scale = 1.0, const SpecificationLimits& limits = {});

}  // namespace filereel
