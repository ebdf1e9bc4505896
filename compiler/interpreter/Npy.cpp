// SPDX-License-Identifier: MIT
// Writes and reads .npy. The header is a Python dictionary; only what NumPy itself writes is understood, anything else is an error.
#include "compiler/interpreter/Npy.h"
#include <algorithm>
#include <cstring>
#include <fstream>
#include <iterator>

namespace tilegym::interp {
namespace {

constexpr std::string_view magic = "\x93NUMPY";

struct Row {
  DType type;
  std::string_view descr; ///< without the byte order
};
constexpr Row rows[] = {
    {DType::F64, "f8"},    {DType::F32, "f4"},    {DType::F16, "f2"},    {DType::BF16, "V2"},
    {DType::F8E4M3, "V1"}, {DType::F8E5M2, "V1"}, {DType::F8E5M2, "f1"}, // what ml_dtypes writes for it
    {DType::I8, "i1"},     {DType::I16, "i2"},    {DType::I32, "i4"},    {DType::I64, "i8"},
    {DType::U8, "u1"},     {DType::U16, "u2"},    {DType::U32, "u4"},    {DType::U64, "u8"},
    {DType::Bool, "b1"},   {DType::Index, "i8"},
};

/// A reader of the header's text.
struct Cursor {
  std::string_view text;
  void skip() {
    while (!text.empty() && (text[0] == ' ' || text[0] == '\n'))
      text.remove_prefix(1);
  }
  bool take(std::string_view word) {
    skip();
    if (text.substr(0, word.size()) != word)
      return false;
    text.remove_prefix(word.size());
    return true;
  }
  bool quoted(std::string &out) {
    if (!take("'"))
      return false;
    size_t end = text.find('\'');
    if (end == std::string_view::npos)
      return false;
    out = std::string(text.substr(0, end));
    text.remove_prefix(end + 1);
    return true;
  }
  bool integer(int64_t &out) {
    skip();
    size_t digits = 0;
    out = 0;
    while (digits < text.size() && text[digits] >= '0' && text[digits] <= '9' && digits < 18)
      out = out * 10 + (text[digits++] - '0');
    text.remove_prefix(digits);
    return digits > 0;
  }
};

struct Header {
  std::string descr;
  bool columnMajor = false;
  Dims shape;
};

/// `(3, 4)`, `(3,)` or `()`.
bool parseShape(Cursor &cursor, Dims &shape) {
  if (!cursor.take("("))
    return false;
  for (bool more = true; !cursor.take(")");) {
    int64_t extent;
    if (!more || !cursor.integer(extent))
      return false;
    shape.push_back(extent);
    more = cursor.take(",");
  }
  return true;
}

bool parseHeader(std::string_view text, Header &header) {
  Cursor cursor{text};
  bool descr = false, order = false, shape = false;
  if (!cursor.take("{"))
    return false;
  for (std::string key; !cursor.take("}");) {
    if (!cursor.quoted(key) || !cursor.take(":"))
      return false;
    if (key == "descr")
      descr = cursor.quoted(header.descr);
    else if (key == "fortran_order")
      order = (header.columnMajor = cursor.take("True")) || cursor.take("False");
    else if (key == "shape")
      shape = parseShape(cursor, header.shape);
    else
      return false;
    cursor.take(",");
  }
  return descr && order && shape;
}

/// The dtype of a file's elements. A raw dtype has several meanings, so there `expected` decides.
std::optional<DType> typeOf(std::string_view descr, std::optional<DType> expected, std::string &error) {
  std::string_view kind = descr.substr(descr.empty() ? 0 : 1);
  std::optional<DType> found;
  size_t meanings = 0;
  for (const Row &row : rows) {
    if (row.descr != kind)
      continue;
    if (expected == row.type)
      return expected;
    if (row.type != DType::Index) {
      found = row.type;
      ++meanings;
    }
  }
  bool rawBits = expected && ((expected == DType::BF16 && kind == "u2") ||
                              ((expected == DType::F8E4M3 || expected == DType::F8E5M2) && kind == "u1"));
  if (rawBits)
    return expected;
  if (!found) {
    error = "elements of type '" + std::string(descr) + "', which is no dtype of the language";
  } else if (expected) {
    error = "elements of type " +
            (meanings == 1 ? std::string(name(*found)) : "'" + std::string(descr) + "'") + ", but " +
            std::string(name(*expected)) + " is expected";
    return std::nullopt;
  } else if (meanings > 1) {
    error = "raw elements of one byte: say which dtype they are, f8e4m3 or f8e5m2";
    return std::nullopt;
  }
  return found;
}

std::string_view descrOf(DType type) {
  for (const Row &row : rows)
    if (row.type == type)
      return row.descr;
  return "";
}

/// Bytes of the data, or nullopt where they are more than a file can hold.
std::optional<uint64_t> dataBytes(DType type, const Dims &shape) {
  uint64_t bytes = sizeInBytes(type);
  for (int64_t extent : shape)
    if (__builtin_mul_overflow(bytes, static_cast<uint64_t>(extent), &bytes) || bytes > uint64_t(1) << 48)
      return std::nullopt;
  return bytes;
}

} // namespace

std::string encodeNpy(const HostTensor &tensor) {
  unsigned size = sizeInBytes(tensor.dtype);
  bool raw = tensor.dtype == DType::BF16 || tensor.dtype == DType::F8E4M3 || tensor.dtype == DType::F8E5M2;
  std::string header = std::string("{'descr': '") + (size > 1 || raw ? "<" : "|") +
                       std::string(descrOf(tensor.dtype)) + "', 'fortran_order': False, 'shape': (";
  for (size_t i = 0; i < tensor.shape.size(); ++i)
    header += std::to_string(tensor.shape[i]) + (i + 1 < tensor.shape.size() ? ", "
                                                 : tensor.shape.size() == 1  ? ","
                                                                             : "");
  header += "), }";
  // The data starts at a multiple of 64 bytes; the header ends in a newline.
  header.append((64 - (magic.size() + 4 + header.size() + 1) % 64) % 64, ' ');
  header += '\n';
  std::string out(magic);
  out += '\x01';
  out += '\0';
  out += static_cast<char>(header.size() & 0xff);
  out += static_cast<char>(header.size() >> 8);
  out += header;
  size_t start = out.size(), count = size_t(tensor.numElements());
  out.resize(start + count * size);
  if (tensor.isContiguous() && count != 0) {
    std::memcpy(out.data() + start, tensor.buffer->data() + tensor.offset * int64_t(size), count * size);
    return out;
  }
  for (size_t i = 0; i < count; ++i) {
    uint64_t bits = tensor.bits(int64_t(i));
    std::memcpy(out.data() + start + i * size, &bits, size);
  }
  return out;
}

std::optional<HostTensor> decodeNpy(std::string_view bytes, std::optional<DType> expected,
                                    std::string &error) {
  auto byte = [&](size_t i) { return uint64_t(static_cast<unsigned char>(bytes[i])); };
  if (bytes.size() < 12 || bytes.substr(0, magic.size()) != magic || byte(6) < 1 || byte(6) > 3) {
    error = "not a .npy file";
    return std::nullopt;
  }
  size_t lengthBytes = byte(6) == 1 ? 2 : 4, headerStart = 8 + lengthBytes;
  uint64_t headerSize = byte(8) | byte(9) << 8 | (lengthBytes == 4 ? byte(10) << 16 | byte(11) << 24 : 0);
  Header header;
  if (headerSize > bytes.size() - headerStart ||
      !parseHeader(bytes.substr(headerStart, headerSize), header)) {
    error = "a .npy file whose header is damaged";
    return std::nullopt;
  }
  if (header.shape.size() > 32) {
    error = "a .npy file of rank " + std::to_string(header.shape.size());
    return std::nullopt;
  }
  auto type = typeOf(header.descr, expected, error);
  if (!type)
    return std::nullopt;
  std::string_view data = bytes.substr(headerStart + headerSize);
  auto needed = dataBytes(*type, header.shape);
  if (!needed || data.size() != *needed) {
    error = "a .npy file with " + std::to_string(data.size()) + " bytes of data, but its header asks for " +
            (needed ? std::to_string(*needed) : "more than a file holds");
    return std::nullopt;
  }
  unsigned size = sizeInBytes(*type);
  // Column-major data is row-major data of the reversed shape.
  HostTensor tensor;
  tensor.dtype = *type;
  tensor.shape = header.shape;
  Dims stored = header.shape;
  if (header.columnMajor)
    std::reverse(stored.begin(), stored.end());
  tensor.strides = contiguousStrides(stored);
  if (header.columnMajor)
    std::reverse(tensor.strides.begin(), tensor.strides.end());
  tensor.buffer = HostBuffer::allocate(data.size());
  char *out = reinterpret_cast<char *>(tensor.buffer->data());
  if (!data.empty())
    std::memcpy(out, data.data(), data.size());
  if (header.descr[0] == '>')
    for (size_t i = 0; i < data.size(); i += size)
      std::reverse(out + i, out + i + size);
  return tensor;
}

bool writeNpy(const std::string &path, const HostTensor &tensor, std::string &error) {
  std::string bytes = encodeNpy(tensor);
  std::ofstream file(path, std::ios::binary);
  if (!file.write(bytes.data(), static_cast<std::streamsize>(bytes.size())) || !file.flush()) {
    error = "cannot write `" + path + "`";
    return false;
  }
  return true;
}

std::optional<HostTensor> readNpy(const std::string &path, std::optional<DType> expected,
                                  std::string &error) {
  std::ifstream file(path, std::ios::binary);
  if (!file) {
    error = "cannot read `" + path + "`";
    return std::nullopt;
  }
  std::string bytes((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
  auto tensor = decodeNpy(bytes, expected, error);
  if (!tensor)
    error = "`" + path + "`: " + error;
  return tensor;
}

} // namespace tilegym::interp
