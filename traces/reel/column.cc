// The problem. Columns are of very different kinds: flags that hardly change, offsets that are
// multiples of 4096, times that are nearly noise. A general compressor sees the bytes of such
// numbers, which mean little alone.
//
// A number is therefore written as a class (one byte: the position of its highest bit and the two
// bits below it; small numbers are classes themselves) and the bits that are left. Classes of
// similar numbers are equal, and are all that the entropy coder of zstd needs to see; the bits left
// are noise, and are stored as they are. Before that, a number can be made smaller or more regular
// (Form): by a base and a common divisor, by folding the sign, and by a dictionary of the most
// frequent numbers, whose indices are small.
//
// The writer tries the few combinations that suit the nature of the column and takes the one with
// the smallest estimate (cost_of): the entropy of the classes, the extra bits, and the tables.
// Nothing is compressed for the choice. The estimate may be wrong without harm, because the form is
// stored.
//
// Readers must accept any combination, also ones that no writer here makes. Arithmetic is modulo
// 2^64 throughout, so a base and a divisor from a hostile file yield wrong numbers, which are
// checked later, and no overflow.
#include "traces/reel/column.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <numeric>
#include <utility>
#include <vector>

namespace filereel {
namespace {

// The first byte of a column.
constexpr std::uint8_t kConstant = 1;    // one number for all
constexpr std::uint8_t kSigned = 2;      // the codes are zigzag
constexpr std::uint8_t kScaled = 4;      // a base and a divisor precede
constexpr std::uint8_t kDictionary = 8;  // frequent numbers precede
constexpr std::uint8_t kPacked = 16;     // the classes are a zstd frame
constexpr std::uint8_t kAllFlags = 31;

constexpr std::uint64_t kMaxDictionary = 255;

// A code is a class, which determines its magnitude to within a quarter, and extra bits for the
// rest.
constexpr unsigned kExactCodes = 8;  // these are classes themselves
constexpr unsigned kClasses = 252;

struct ClassTable {
  std::array<std::uint64_t, 256> first{};
  std::array<std::uint8_t, 256> extra{};
};

constexpr ClassTable make_class_table() {
  ClassTable table;
  for (unsigned c = 0; c < kClasses; ++c) {
    if (c < kExactCodes) {
      table.first[c] = c;
      continue;
    }
    const unsigned octave = (c - kExactCodes) / 4 + 3;
    const std::uint64_t quarter = (c - kExactCodes) % 4;
    table.first[c] = (std::uint64_t{4} + quarter) << (octave - 2);
    table.extra[c] = static_cast<std::uint8_t>(octave - 2);
  }
  return table;
}
constexpr ClassTable kClassTable = make_class_table();

constexpr unsigned class_of(std::uint64_t code) {
  if (code < kExactCodes) return static_cast<unsigned>(code);
  const auto octave = static_cast<unsigned>(std::bit_width(code)) - 1;
  return kExactCodes + (octave - 3) * 4 + static_cast<unsigned>((code >> (octave - 2)) & 3);
}

// An encoding of one column.
struct Form {
  bool is_signed = false;
  std::uint64_t base = 0;
  std::uint64_t divisor = 1;
  std::vector<std::uint64_t> dictionary;  // numbers before they are shifted past it

  bool scaled() const { return base != 0 || divisor != 1; }
  std::uint64_t number(std::uint64_t value) const {
    const std::uint64_t above = value - base;
    if (!is_signed) return divisor == 1 ? above : above / divisor;
    if (divisor == 1) return zigzag(above);
    return zigzag(static_cast<std::uint64_t>(static_cast<std::int64_t>(above) /
                                             static_cast<std::int64_t>(divisor)));
  }
};

// Estimated bits of these codes: the entropy of the classes plus the extra bits.
double cost_of(std::span<const std::uint64_t> codes) {
  std::array<std::uint32_t, 256> counts{};
  for (const std::uint64_t code : codes) ++counts[class_of(code)];
  double bits = 0;
  for (unsigned c = 0; c < kClasses; ++c) {
    if (counts[c] == 0) continue;
    const auto n = static_cast<double>(counts[c]);
    // 6 bits: an entry of the entropy coder's table.
    bits += n * (std::log2(static_cast<double>(codes.size()) / n) + kClassTable.extra[c]) + 6;
  }
  return bits;
}

std::uint64_t divisor_of(std::span<const std::uint64_t> values, std::uint64_t base,
                         bool is_signed) {
  std::uint64_t divisor = 0;
  for (const std::uint64_t value : values) {
    std::uint64_t above = value - base;
    if (is_signed && (above >> 63) != 0) above = 0 - above;
    divisor = std::gcd(divisor, above);
    if (divisor == 1) return 1;
  }
  // A signed divisor must be positive.
  return divisor == 0 || (is_signed && (divisor >> 63) != 0) ? 1 : divisor;
}

// The numbers frequent enough for the dictionary, the most frequent first.
std::vector<std::uint64_t> frequent(std::span<const std::uint64_t> numbers) {
  std::vector<std::uint64_t> sorted(numbers.begin(), numbers.end());
  std::ranges::sort(sorted);
  std::vector<std::pair<std::size_t, std::uint64_t>> found;  // saved bits, number
  for (std::size_t i = 0; i < sorted.size();) {
    std::size_t end = i + 1;
    while (end < sorted.size() && sorted[end] == sorted[i]) ++end;
    const std::size_t saved = (end - i) * kClassTable.extra[class_of(sorted[i])];
    const auto costs = 8 + static_cast<std::size_t>(std::bit_width(sorted[i]));
    if (saved > costs) found.emplace_back(end - i, sorted[i]);
    i = end;
  }
  std::ranges::sort(found, [](const auto& a, const auto& b) {
    return a.first != b.first ? a.first > b.first : a.second < b.second;
  });
  if (found.size() > kMaxDictionary) found.resize(kMaxDictionary);
  std::vector<std::uint64_t> dictionary;
  dictionary.reserve(found.size());
  for (const auto& [count, number] : found) dictionary.push_back(number);
  return dictionary;
}

// Replaces numbers by their dictionary indices and shifts the others past it. False if a number is
// too large to be shifted.
bool shift_behind(std::span<const std::uint64_t> dictionary, std::span<std::uint64_t> numbers) {
  std::vector<std::pair<std::uint64_t, std::uint64_t>> places;
  places.reserve(dictionary.size());
  for (std::size_t i = 0; i < dictionary.size(); ++i) places.emplace_back(dictionary[i], i);
  std::ranges::sort(places);
  for (std::uint64_t& number : numbers) {
    const auto place =
        std::ranges::lower_bound(places, number, {}, [](const auto& p) { return p.first; });
    if (place != places.end() && place->first == number) {
      number = place->second;
    } else {
      if (number > UINT64_MAX - dictionary.size()) return false;
      number += dictionary.size();
    }
  }
  return true;
}

class FormChooser {
 public:
  explicit FormChooser(std::span<const std::uint64_t> values) : values_(values) {}

  void try_form(Form form, bool with_dictionary) {
    std::vector<std::uint64_t> codes(values_.size());
    std::ranges::transform(values_, codes.begin(), [&](auto v) { return form.number(v); });
    const double cost = cost_of(codes);
    if (with_dictionary) {
      std::vector<std::uint64_t> shifted = codes;
      Form other = form;
      other.dictionary = frequent(codes);
      if (!other.dictionary.empty() && shift_behind(other.dictionary, shifted)) {
        double other_cost = cost_of(shifted);
        for (const auto number : other.dictionary) {
          other_cost += 8 + static_cast<double>(std::bit_width(number));
        }
        take_if_better(std::move(other), std::move(shifted), other_cost);
      }
    }
    take_if_better(std::move(form), std::move(codes), cost);
  }

  const Form& best() const { return best_; }
  std::span<const std::uint64_t> codes() const { return codes_; }

 private:
  void take_if_better(Form form, std::vector<std::uint64_t> codes, double cost) {
    if (!codes_.empty() && cost >= cost_) return;
    best_ = std::move(form);
    codes_ = std::move(codes);
    cost_ = cost;
  }

  std::span<const std::uint64_t> values_;
  Form best_;
  std::vector<std::uint64_t> codes_;
  double cost_ = 0;
};

void put_extra_bits(std::string& out, std::span<const std::uint64_t> codes) {
  std::uint64_t pending = 0;
  unsigned count = 0;
  const auto flush = [&] {
    for (; count >= 8; count -= 8, pending >>= 8) out += static_cast<char>(pending);
  };
  for (const std::uint64_t code : codes) {
    const unsigned c = class_of(code);
    std::uint64_t rest = code - kClassTable.first[c];
    unsigned bits = kClassTable.extra[c];
    while (bits > 0) {  // in pieces, because seven bits may be pending
      const unsigned piece = std::min(bits, 32U);
      pending |= (rest & ((std::uint64_t{1} << piece) - 1)) << count;
      count += piece;
      rest >>= piece;
      bits -= piece;
      flush();
    }
  }
  if (count > 0) out += static_cast<char>(pending);
}

std::uint64_t load(const std::byte* at, std::size_t available) {
  std::uint64_t word = 0;
  std::memcpy(&word, at, std::min(available, sizeof word));
  return word;
}

void take_extra_bits(std::span<const std::byte> classes, std::span<const std::byte> bits,
                     std::span<std::uint64_t> out) {
  std::uint64_t at = 0;  // in bits
  // A whole word can be loaded before this byte.
  const std::size_t safe = bits.size() < 8 ? 0 : bits.size() - 7;
  for (std::size_t i = 0; i < out.size(); ++i) {
    const auto c = static_cast<std::uint8_t>(classes[i]);
    const unsigned extra = kClassTable.extra[c];
    const std::size_t byte = at >> 3;
    const auto shift = static_cast<unsigned>(at & 7);
    std::uint64_t word = 0;
    if (byte < safe) {
      std::memcpy(&word, bits.data() + byte, sizeof word);
    } else if (byte < bits.size()) {
      word = load(bits.data() + byte, bits.size() - byte);
    }
    std::uint64_t rest = word >> shift;
    if (shift > 0 && extra + shift > 64) {
      rest |= static_cast<std::uint64_t>(bits[byte + 8]) << (64 - shift);
    }
    out[i] = kClassTable.first[c] + (rest & ((std::uint64_t{1} << extra) - 1));
    at += extra;
  }
}

// The classes of a column, unpacked if necessary; valid until the scratch buffer is reused.
std::span<const std::byte> take_classes(ByteReader& in, bool packed, std::size_t count,
                                        Unpacker& unpacker) {
  if (!packed) return in.take(count);
  auto& scratch = unpacker.scratch();
  if (scratch.size() < count) scratch.resize(count);
  const std::uint64_t size = in.varint(count, "a frame's length");
  const std::span<std::byte> classes(scratch.data(), count);
  unpacker.unpack(in.take(size), classes);
  return classes;
}

void take_codes(ByteReader& in, bool packed, std::span<std::uint64_t> out, Unpacker& unpacker) {
  const auto classes = take_classes(in, packed, out.size(), unpacker);
  std::uint64_t extra = 0;
  std::byte highest{0};
  for (const std::byte c : classes) {
    extra += kClassTable.extra[static_cast<std::uint8_t>(c)];
    highest = std::max(highest, c);
  }
  if (static_cast<unsigned>(highest) >= kClasses) throw Damage("unknown number class");
  if (extra == 0) {
    std::ranges::transform(classes, out.begin(),
                           [](std::byte c) { return static_cast<std::uint64_t>(c); });
    return;
  }
  take_extra_bits(classes, in.take((extra + 7) / 8), out);
}

}  // namespace

void put_column(std::string& out, std::span<const std::uint64_t> values, ColumnNature nature,
                Packer& packer) {
  if (values.empty()) return;
  if (std::ranges::all_of(values, [&](auto v) { return v == values[0]; })) {
    out += static_cast<char>(kConstant);
    put_varint(out, values[0]);
    return;
  }
  FormChooser chooser(values);
  const bool repeats = nature != ColumnNature::noise;
  if (nature == ColumnNature::positive) {
    chooser.try_form({}, repeats);
    const std::uint64_t least = std::ranges::min(values);
    const std::uint64_t divisor = divisor_of(values, least, false);
    if (divisor > 1 || least >= kExactCodes) {
      chooser.try_form({false, least, divisor, {}}, repeats);
    }
  } else {
    const auto least = static_cast<std::uint64_t>(
        std::ranges::min(values, {}, [](auto v) { return static_cast<std::int64_t>(v); }));
    chooser.try_form({false, least, divisor_of(values, least, false), {}}, repeats);
    chooser.try_form({true, 0, divisor_of(values, 0, true), {}}, repeats);
  }
  const Form& form = chooser.best();
  std::string classes;
  classes.reserve(values.size());
  for (const std::uint64_t code : chooser.codes()) classes += static_cast<char>(class_of(code));
  const std::string_view frame =
      nature == ColumnNature::noise ? packer.pack_noise(classes) : packer.pack(classes);
  out += static_cast<char>((form.is_signed ? kSigned : 0) | (form.scaled() ? kScaled : 0) |
                           (form.dictionary.empty() ? 0 : kDictionary) |
                           (frame.empty() ? 0 : kPacked));
  if (form.scaled()) {
    put_varint(out, zigzag(form.base));
    put_varint(out, form.divisor);
  }
  if (!form.dictionary.empty()) {
    put_varint(out, form.dictionary.size());
    for (const std::uint64_t number : form.dictionary) put_varint(out, number);
  }
  if (!frame.empty()) put_varint(out, frame.size());
  out += frame.empty() ? std::string_view(classes) : frame;
  put_extra_bits(out, chooser.codes());
}

bool take_column(ByteReader& in, std::span<std::uint64_t> out, Unpacker& unpacker) {
  const std::uint8_t flags = in.u8();
  if ((flags & ~kAllFlags) != 0) throw Damage("unknown column encoding");
  if ((flags & kConstant) != 0) {
    out[0] = in.varint();
    return true;
  }
  std::uint64_t base = 0;
  std::uint64_t divisor = 1;
  if ((flags & kScaled) != 0) {
    base = unzigzag(in.varint());
    divisor = in.varint();
  }
  std::array<std::uint64_t, kMaxDictionary> dictionary{};
  std::uint64_t known = 0;
  if ((flags & kDictionary) != 0) {
    known = in.varint(kMaxDictionary, "a dictionary's size");
    for (std::uint64_t i = 0; i < known; ++i) dictionary[i] = in.varint();
  }
  take_codes(in, (flags & kPacked) != 0, out, unpacker);
  if (known > 0) {
    for (std::uint64_t& code : out) code = code < known ? dictionary[code] : code - known;
  }
  if ((flags & kSigned) != 0) {
    for (std::uint64_t& code : out) code = base + unzigzag(code) * divisor;
  } else if ((flags & kScaled) != 0) {
    for (std::uint64_t& code : out) code = base + code * divisor;
  }
  return false;
}

void take_whole_column(ByteReader& in, std::span<std::uint64_t> out, Unpacker& unpacker) {
  if (out.empty()) return;
  if (take_column(in, out, unpacker)) std::ranges::fill(out, out[0]);
}

}  // namespace filereel
