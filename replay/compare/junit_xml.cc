#include "replay/compare/junit_xml.h"

#include <cstddef>
#include <optional>
#include <sstream>
#include <string_view>

#include <fmt/format.h>
#include <pugixml.hpp>

#include "filesets/system/utf8.h"

namespace filereel {
namespace {

// https://www.w3.org/TR/xml/#charsets; surrogates are not valid UTF-8 anyway.
bool is_xml(char32_t code) {
  return code == '\t' || code == '\n' || code == '\r' ||
         (code >= 0x20 && code != 0xfffe && code != 0xffff);
}

// Escapes what XML cannot hold.
std::string xml_text(std::string_view bytes) {
  std::string text;
  while (!bytes.empty()) {
    const std::optional<Character> next = first_character(bytes);
    const std::size_t length = next ? next->length : 1;
    if (next && is_xml(next->code)) {
      text += bytes.substr(0, length);
    } else {
      for (const char byte : bytes.substr(0, length)) {
        text += fmt::format("\\x{:02x}", static_cast<unsigned char>(byte));
      }
    }
    bytes.remove_prefix(length);
  }
  return text;
}

void set(pugi::xml_node node, const char* name, std::string_view value) {
  node.append_attribute(name).set_value(xml_text(value).c_str());
}

void set(pugi::xml_node node, const char* name, std::size_t value) {
  set(node, name, std::to_string(value));
}

void add_property(pugi::xml_node properties, std::string_view name, std::string_view value) {
  pugi::xml_node property = properties.append_child("property");
  set(property, "name", name);
  set(property, "value", value);
}

pugi::xml_node add_case(pugi::xml_node suite, const MeasurementKey& key, double seconds) {
  pugi::xml_node node = suite.append_child("testcase");
  MeasurementKey nameless = key;
  nameless.workload.clear();
  set(node, "name", key_text(nameless));
  set(node, "classname", "filereel." + key.workload);
  set(node, "time", fmt::format("{:.3f}", seconds));
  return node;
}

void add_outcome(pugi::xml_node test, const char* kind, std::string_view type,
                 std::string_view message) {
  pugi::xml_node node = test.append_child(kind);
  set(node, "type", type);
  set(node, "message", message);
}

}  // namespace

std::string comparison_to_junit(const ResultComparison& comparison) {
  pugi::xml_document document;
  pugi::xml_node declaration = document.append_child(pugi::node_declaration);
  set(declaration, "version", "1.0");
  set(declaration, "encoding", "UTF-8");
  const std::size_t tests = comparison.measurements.size() + comparison.only_base.size();
  const std::size_t slower = comparison.count(Verdict::slower);
  pugi::xml_node root = document.append_child("testsuites");
  pugi::xml_node suite = root.append_child("testsuite");
  for (pugi::xml_node node : {root, suite}) {
    set(node, "name", "filereel compare");
    set(node, "tests", tests);
    set(node, "failures", slower);
    set(node, "errors", std::size_t{0});
  }
  set(suite, "skipped", comparison.count(Verdict::cannot_tell) + comparison.only_base.size());
  pugi::xml_node properties = suite.append_child("properties");
  add_property(properties, "base", comparison.base_name);
  add_property(properties, "new", comparison.fresh_name);
  add_property(properties, "overall", verdict_name(comparison.overall));
  add_property(properties, "promise", promise_text(comparison));
  add_property(properties, "complete", comparison.complete ? "true" : "false");
  for (const Change& change : comparison.changes) {
    add_property(properties, "changed: " + change.what, change.base + " -> " + change.fresh);
  }
  for (const Warning& warning : comparison.warnings) {
    add_property(properties, "warning: " + warning.code, warning.text);
  }
  for (const ComparedMeasurement& one : comparison.measurements) {
    pugi::xml_node test = add_case(suite, one.key, one.fresh.median);
    if (one.verdict == Verdict::slower) {
      add_outcome(test, "failure", verdict_text(one), one.evidence);
    }
    if (one.verdict == Verdict::cannot_tell)
      add_outcome(test, "skipped", verdict_text(one), undecided_text(one));
  }
  for (const MeasurementKey& key : comparison.only_base) {
    add_outcome(add_case(suite, key, 0), "skipped", "cannot tell", "only in the base result");
  }
  std::ostringstream out;
  document.save(out, "  ", pugi::format_default, pugi::encoding_utf8);
  return out.str();
}

}  // namespace filereel
