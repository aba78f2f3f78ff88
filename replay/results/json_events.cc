// RapidJSON's parser, which takes a tenth of the time of nlohmann's. It reports events, from which
// the places are filled. Its errors are told in nlohmann's words, by parsing the text again.
#include "replay/results/json_events.h"

#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <rapidjson/encodings.h>
#include <rapidjson/memorystream.h>
#include <rapidjson/reader.h>

#include "filesets/system/numbers.h"
#include "filesets/system/utf8.h"

namespace filereel {
namespace {

// RapidJSON copies texts byte by byte; this encoding copies runs of plain bytes.
struct Utf8InRuns : rapidjson::UTF8<> {};

bool is_plain(char c) {
  return static_cast<unsigned char>(c) >= 0x20 && static_cast<signed char>(c) >= 0 && c != '"' &&
         c != '\\';
}

// Whether all eight bytes are ASCII without quotes, backslashes and control bytes.
bool are_plain(const char* bytes) {
  constexpr std::uint64_t kOnes = 0x0101010101010101, kHighBits = 0x80 * kOnes;
  std::uint64_t word = 0;
  std::memcpy(&word, bytes, sizeof word);
  const auto zeros = [](std::uint64_t of) { return (of - kOnes) & ~of; };
  const std::uint64_t control = word - 0x20 * kOnes;
  const std::uint64_t special = zeros(word ^ '"' * kOnes) | zeros(word ^ '\\' * kOnes);
  return ((word | control | special) & kHighBits) == 0;
}

// Number of bytes before the next quote, backslash, control byte or byte that is not UTF-8.
std::size_t run_length(std::string_view text) {
  std::size_t at = 0;
  while (true) {
    while (text.size() - at >= sizeof(std::uint64_t) && are_plain(&text[at])) {
      at += sizeof(std::uint64_t);
    }
    while (at < text.size() && is_plain(text[at])) ++at;
    if (at == text.size() || static_cast<signed char>(text[at]) >= 0) return at;
    const auto character = first_character(text.substr(at));
    if (!character) return at;
    at += character->length;
  }
}

}  // namespace
}  // namespace filereel

namespace rapidjson {

// Called for the bytes of texts that need no other treatment.
template <>
struct Transcoder<filereel::Utf8InRuns, UTF8<>> {
  template <class Input, class Output>
  static bool Validate(Input& in, Output& out) {
    const std::size_t length =
        filereel::run_length({in.src_, static_cast<std::size_t>(in.end_ - in.src_)});
    if (length == 0) return false;
    std::memcpy(out.Push(static_cast<SizeType>(length)), in.src_, length);
    in.src_ += length;
    return true;
  }
  template <class Input, class Output>
  static bool Transcode(Input& in, Output& out) {
    return Validate(in, out);
  }
};

}  // namespace rapidjson

namespace filereel {
namespace {

// Half of a surrogate pair, escaped, becomes bytes that are not UTF-8.
bool has_surrogate(std::string_view text) {
  constexpr char kLead = '\xed';
  for (std::size_t at = text.find(kLead); at != std::string_view::npos;
       at = text.find(kLead, at + 1)) {
    if (!first_character(text.substr(at))) return true;
  }
  return false;
}

// Integers beyond 64 bits are rounded. Nothing for numbers that no double holds.
std::optional<JsonEvent> number_event(const char* text, std::size_t length) {
  const std::string_view all(text, length);
  if (*text == '-') {
    if (const auto integer = parse_number<std::int64_t>(all)) return *integer;
  } else if (const auto natural = parse_number<std::uint64_t>(all)) {
    return *natural;
  }
  double number = 0;
  if (!parse_number(all, number)) number = std::strtod(text, nullptr);  // too small, or too large
  if (!std::isfinite(number)) return std::nullopt;
  return number;
}

// Passes the parser's events to the places.
class PlaceFiller : public rapidjson::BaseReaderHandler<rapidjson::UTF8<>, PlaceFiller> {
 public:
  explicit PlaceFiller(JsonPlace root) : next_(root) {}

  // False ends the parser.
  bool Null() { return set(nullptr); }
  bool Bool(bool value) { return set(value); }
  bool RawNumber(const char* text, rapidjson::SizeType length, bool) {
    const std::optional<JsonEvent> event = number_event(text, length);
    return event && set(*event);
  }
  bool String(const char* text, rapidjson::SizeType length, bool) {
    const std::string_view value(text, length);
    return !has_surrogate(value) && set(value);
  }
  bool StartObject() { return open(ObjectBegin{}, false); }
  bool Key(const char* text, rapidjson::SizeType length, bool) {
    const std::string_view name(text, length);
    const JsonPlace& object = open_.back().place;
    open_.back().member.assign(name);
    const bool takes = object.type && object.type->member;
    next_ = takes ? object.type->member(object.value, name) : JsonPlace{};
    return !has_surrogate(name);
  }
  bool EndObject(rapidjson::SizeType) { return close(); }
  bool StartArray() { return open(ListBegin{}, true); }
  bool EndArray(rapidjson::SizeType) { return close(); }

  std::optional<SchemaError>& mismatch() { return mismatch_; }

 private:
  struct Open {
    JsonPlace place;
    bool is_list = false;
    std::string member = {};   // the last one of an object
    std::size_t elements = 0;  // of a list
  };

  bool set(const JsonEvent& event) {
    fill(place(), event);
    return true;
  }

  bool open(const JsonEvent& event, bool is_list) {
    JsonPlace to = place();
    if (!fill(to, event)) to = {};
    open_.push_back({.place = to, .is_list = is_list});
    return true;
  }

  bool close() {
    const JsonPlace& from = open_.back().place;
    if (from.type && from.type->end) from.type->end(from.value);
    open_.pop_back();
    return true;
  }

  JsonPlace place() {
    if (open_.empty() || !open_.back().is_list) return next_;
    ++open_.back().elements;
    const JsonPlace& list = open_.back().place;
    const bool takes = list.type && list.type->element;
    return takes ? list.type->element(list.value, list.key) : JsonPlace{};
  }

  // After a mismatch only the rest of the enclosing objects is filled, for the schema's version.
  bool fill(const JsonPlace& to, const JsonEvent& event) {
    if (!to.type) return false;
    try {
      to.type->set(to.value, event, to.key);
      return true;
    } catch (SchemaError& error) {
      if (!mismatch_) mismatch_ = {std::move(error.why), enclosing()};
      return false;
    }
  }

  // The place of the object around the current value, which its message names; of the element if
  // it is one.
  std::string enclosing() const {
    std::string place;
    for (std::size_t i = 0; i < open_.size(); ++i) {
      const Open& open = open_[i];
      if (open.is_list) {
        place += fmt::format("[{}]", open.elements - 1);
      } else if (i + 1 < open_.size()) {
        place = joined_place(place, open.member);
      }
    }
    return place;
  }

  JsonPlace next_;  // of the root, or of the member whose name was read
  std::vector<Open> open_;
  std::optional<SchemaError> mismatch_;
};

// Bytes of a mark that some editors put at the begin of UTF-8.
constexpr std::string_view kByteOrderMark = "\xef\xbb\xbf";

[[noreturn]] void refuse_text(std::string_view text, std::size_t at) {
  const auto discard = [](int, Json::parse_event_t, Json&) { return false; };
  [[maybe_unused]] const Json nothing = Json::parse(text, discard);
  throw SchemaError{fmt::format("a value at byte {} is not supported", at + 1)};
}

}  // namespace

std::optional<SchemaError> read_json(std::string_view text, JsonPlace root) {
  constexpr unsigned kFlags =
      rapidjson::kParseValidateEncodingFlag | rapidjson::kParseNumbersAsStringsFlag;
  const std::size_t begin = text.starts_with(kByteOrderMark) ? kByteOrderMark.size() : 0;
  rapidjson::MemoryStream stream(text.data() + begin, text.size() - begin);
  rapidjson::GenericReader<Utf8InRuns, rapidjson::UTF8<>> reader;
  PlaceFiller filler(root);
  reader.Parse<kFlags>(stream, filler);
  if (reader.HasParseError()) refuse_text(text, begin + reader.GetErrorOffset());
  if (begin + stream.Tell() != text.size()) refuse_text(text, begin + stream.Tell());
  return std::move(filler.mismatch());
}

}  // namespace filereel
