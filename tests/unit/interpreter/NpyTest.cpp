// SPDX-License-Identifier: MIT
// .npy files: every dtype there and back, what NumPy writes, and files that are damaged.
#include "compiler/interpreter/Npy.h"

#include <catch2/catch.hpp>

using namespace tilegym;
using namespace tilegym::interp;

namespace {

std::string file(const std::string &header, const std::string &data) {
  std::string text = header + "\n";
  return std::string("\x93NUMPY\x01\0", 8) + char(text.size() & 0xff) + char(text.size() >> 8) + text + data;
}

std::string errorOf(const std::string &bytes, std::optional<DType> expected = {}) {
  std::string error;
  CHECK(!decodeNpy(bytes, expected, error));
  return error;
}

} // namespace

TEST_CASE("every dtype comes back from its file") {
  for (DType type : allDTypes) {
    HostTensor x = HostTensor::allocate(type, {2, 3});
    for (int64_t i = 0; i < 6; ++i)
      x.setBits(i, isBool(type) ? i & 1 : uint64_t(i) * 0x1234567 + 1);
    std::string bytes = encodeNpy(x), error;
    auto back = decodeNpy(bytes, type, error);
    INFO(name(type) << " " << error);
    REQUIRE(back);
    CHECK(back->dtype == type);
    CHECK(back->shape == x.shape);
    for (int64_t i = 0; i < 6; ++i)
      CHECK(back->bits(i) == x.bits(i));
  }
}

TEST_CASE("the header is NumPy's, and data starts at a multiple of 64") {
  std::string bytes = encodeNpy(HostTensor::allocate(DType::F32, {3}));
  CHECK(bytes.substr(0, 8) == std::string("\x93NUMPY\x01\0", 8));
  CHECK(bytes.substr(10, 56) == "{'descr': '<f4', 'fortran_order': False, 'shape': (3,), ");
  CHECK((bytes.size() - 12) % 64 == 0);
  CHECK(encodeNpy(HostTensor::allocate(DType::F32, {})).find("'shape': ()") != std::string::npos);
  CHECK(encodeNpy(HostTensor::allocate(DType::U8, {0, 4}))
            .find("'|u1', 'fortran_order': False, 'shape': (0, 4)") != std::string::npos);
}

TEST_CASE("strides of a tensor do not show in its file") {
  HostTensor x = HostTensor::fromInts(DType::I16, {2, 3}, {0, 1, 2, 3, 4, 5});
  std::swap(x.shape[0], x.shape[1]);
  std::swap(x.strides[0], x.strides[1]);
  std::string error;
  auto back = decodeNpy(encodeNpy(x), DType::I16, error);
  REQUIRE(back);
  CHECK(back->toDoubles() == std::vector<double>{0, 3, 1, 4, 2, 5});
}

TEST_CASE("column-major and big-endian files are read") {
  std::string error;
  auto columns = decodeNpy(
      file("{'descr': '|u1', 'fortran_order': True, 'shape': (2, 3), }", std::string("\0\1\2\3\4\5", 6)), {},
      error);
  REQUIRE(columns);
  CHECK(columns->toDoubles() == std::vector<double>{0, 2, 4, 1, 3, 5});
  auto big = decodeNpy(
      file("{'descr': '>i2', 'fortran_order': False, 'shape': (2,), }", std::string("\1\2\xff\xfe", 4)), {},
      error);
  REQUIRE(big);
  CHECK(big->toDoubles() == std::vector<double>{0x102, -2});
}

TEST_CASE("raw elements take the dtype that is expected") {
  std::string error;
  std::string bf16 = file("{'descr': '<V2', 'fortran_order': False, 'shape': (1,), }", "\x80\x3f");
  CHECK(decodeNpy(bf16, {}, error)->dtype == DType::BF16);
  CHECK(decodeNpy(bf16, DType::BF16, error)->toDoubles() == std::vector<double>{1});
  CHECK(decodeNpy(file("{'descr': '<u2', 'fortran_order': False, 'shape': (1,), }", "\x80\x3f"), DType::BF16,
                  error)
            ->asDouble(0) == 1);
  std::string f8 = file("{'descr': '<V1', 'fortran_order': False, 'shape': (1,), }", "\x38");
  CHECK(decodeNpy(f8, DType::F8E4M3, error)->asDouble(0) == 1);
  CHECK(decodeNpy(f8, DType::F8E5M2, error)->asDouble(0) == 0.5);
  CHECK(errorOf(f8) == "raw elements of one byte: say which dtype they are, f8e4m3 or f8e5m2");
}

TEST_CASE("damaged and unfitting files are refused") {
  const std::string header = "{'descr': '<f4', 'fortran_order': False, 'shape': (2,), }";
  CHECK(errorOf("") == "not a .npy file");
  CHECK(errorOf("PK\3\4 a zip archive") == "not a .npy file");
  CHECK(errorOf(file(header, "12345678").substr(0, 40)) == "a .npy file whose header is damaged");
  CHECK(errorOf(file("{'descr': '<f4', 'shape': (2,), }", "12345678")) ==
        "a .npy file whose header is damaged");
  CHECK(errorOf(file(header, "1234567")) == "a .npy file with 7 bytes of data, but its header asks for 8");
  CHECK(errorOf(file(
            "{'descr': '<f4', 'fortran_order': False, 'shape': (99999999999999999, 99999999999999999), }",
            "")) == "a .npy file with 0 bytes of data, but its header asks for more than a file holds");
  CHECK(errorOf(file("{'descr': '<c8', 'fortran_order': False, 'shape': (1,), }", "12345678")) ==
        "elements of type '<c8', which is no dtype of the language");
  CHECK(errorOf(file(header, "12345678"), DType::F16) == "elements of type f32, but f16 is expected");
  // Every prefix of a good file is a bad one.
  std::string good = file(header, "12345678");
  for (size_t length = 0; length < good.size(); ++length)
    errorOf(good.substr(0, length));
  std::string error;
  CHECK(!readNpy("/nonexistent/x.npy", {}, error));
  CHECK(error == "cannot read `/nonexistent/x.npy`");
}
