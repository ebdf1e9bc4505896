// SPDX-License-Identifier: MIT
// Rows and columns more than 2^31 and 2^32 elements apart, either way, in the simulator: each lies in an allocation of its own, and what lies between is
// reserved but never memory.
#include "tests/unit/simdriver/SimPackage.h"
#include "tilegym/tilegym.h"
#include "tools/simdriver/SimDriver.h"
#include <functional>

using namespace tilegym;

namespace {

/// A tile of whole rows, and rows in pieces; sums of small numbers, exact in f16.
const char *const text = R"(
op shifted(x: T[*R, N], w: T[N]) -> y: T[*R, N]
  where T: f32 | f16
reference { y = f32(x) * f32(w) + sum(f32(x), axis=1) }
kernel whole(BM, BN = pow2ceil(N)) when N <= 4 {
  grid(cdiv(R, BM))
  let i = block(0)
  let t = f32(load(x.tile(BM, BN)[i, 0]))
  store(y.tile(BM, BN)[i, 0], t * f32(load(w[0 :+ BN]))[None, :] + sum(t, axis=1))
}
tune whole { BM = 16; warps = 1 }
kernel pieces(BN) {
  grid(R)
  let row = block(0)
  var s = f32(0)
  for c in 0 .. N step BN { s += sum(f32(load(x[row, c :+ BN]))) }
  for c in 0 .. N step BN { store(y[row, c :+ BN], f32(load(x[row, c :+ BN])) * f32(load(w[c :+ BN])) + s) }
}
tune pieces { BN = 16; warps = 1 }
test { R in [1]; N in [2]; case "one" { R = 1; N = 1; x = [[1]]; w = [2]; expect y = [[3]] }; tolerance { f32: 0; f16: 0 } }
bench none "a test"
)";

/// Numbers below 128, which need no rounding in f16: sign, exponent and the bits behind the leading one.
template <class T> T encoded(int value);
template <> float encoded<float>(int value) { return float(value); }
template <> uint16_t encoded<uint16_t>(int value) {
  if (value == 0)
    return 0;
  int exponent = 31 - __builtin_clz(unsigned(value));
  return uint16_t((exponent + 15) << 10 | (value << (10 - exponent) & 0x3ff));
}

/// Lines (rows, or columns) of two matrices, each in an allocation of its own, the same distance apart.
template <class T> class Far {
public:
  Far(const runtime::Driver &driver, int64_t lines, int64_t length) : driver(driver), length(length) {
    for (int64_t i = 0; i < lines; ++i) {
      for (std::vector<runtime::CUdeviceptr> &at : {std::ref(x), std::ref(y)})
        REQUIRE(driver.memAlloc(&at.emplace_back(), bytes()) == runtime::kSuccess);
      // An allocation of nothing takes 1 MiB of addresses.
      runtime::CUdeviceptr nothing = 0;
      int holes = 0;
      while (i + 1 < lines && holes < 8200 && driver.memAlloc(&nothing, 0) == runtime::kSuccess)
        ++holes;
    }
    for (int64_t i = 0; i < lines; ++i)
      REQUIRE(
          (x[size_t(i)] == x[0] + uint64_t(i) * (x[1] - x[0]) && y[size_t(i)] - x[size_t(i)] == y[0] - x[0]));
  }
  /// In elements.
  int64_t distance() const { return int64_t(x[1] - x[0]) / int64_t(sizeof(T)); }
  void write(int64_t line, const std::vector<T> &values) {
    REQUIRE(driver.memcpyHtoD(x[size_t(line)], values.data(), bytes()) == runtime::kSuccess);
  }
  std::vector<T> read(int64_t line) {
    std::vector<T> values(static_cast<size_t>(length));
    REQUIRE(driver.memcpyDtoH(values.data(), y[size_t(line)], bytes()) == runtime::kSuccess);
    return values;
  }

  std::vector<runtime::CUdeviceptr> x, y;

private:
  size_t bytes() const { return size_t(length) * sizeof(T); }
  const runtime::Driver &driver;
  int64_t length;
};

struct Layout {
  bool linesAreRows, backwards;
  int64_t lines, length;
};

template <class T> void check(const std::string &table, TilegymDType dtype, Layout layout) {
  simdriver::Session session({});
  const runtime::Driver &driver = session.driver();
  int64_t lines = layout.lines, length = layout.length;
  int64_t rows = layout.linesAreRows ? lines : length, n = layout.linesAreRows ? length : lines;
  Far<T> memory(driver, lines, length);
  CHECK(memory.distance() > int64_t(1) << (sizeof(T) == 2 ? 32 : 31));
  auto valueAt = [&](int64_t row, int64_t column) { return int((row * 7 + column * 3) % 5); };
  auto lineOf = [&](int64_t i) { return layout.backwards ? lines - 1 - i : i; };
  for (int64_t line = 0; line < lines; ++line) {
    std::vector<T> values;
    for (int64_t i = 0; i < length; ++i)
      values.push_back(encoded<T>(layout.linesAreRows ? valueAt(line, i) : valueAt(i, line)));
    memory.write(lineOf(line), values);
  }
  std::vector<T> weights;
  for (int64_t i = 0; i < n; ++i)
    weights.push_back(encoded<T>(int(i % 3)));
  runtime::CUdeviceptr w = 0;
  REQUIRE(driver.memAlloc(&w, weights.size() * sizeof(T)) == runtime::kSuccess);
  REQUIRE(driver.memcpyHtoD(w, weights.data(), weights.size() * sizeof(T)) == runtime::kSuccess);

  int64_t far = layout.backwards ? -memory.distance() : memory.distance(), shape[] = {rows, n};
  int64_t strides[] = {layout.linesAreRows ? far : 1, layout.linesAreRows ? 1 : far};
  auto view = [&](const std::vector<runtime::CUdeviceptr> &at) {
    return TilegymTensor{reinterpret_cast<void *>(at[size_t(lineOf(0))]), shape, strides, 2, dtype};
  };
  TilegymTensor xView = view(memory.x), yView = view(memory.y);
  TilegymTensor wView{reinterpret_cast<void *>(w), &shape[1], nullptr, 1, dtype};
  std::vector<uint64_t> words(table.size() / 8 + 1);
  std::memcpy(words.data(), table.data(), table.size());
  TilegymPackage *opened = nullptr;
  REQUIRE(tilegym_package_open(words.data(), table.size(), &opened) == TILEGYM_OK);
  const void *args[] = {&xView, &wView, &yView};
  TilegymStatus status = tilegym_call(opened, 0, args, nullptr);
  INFO(tilegym_last_error());
  CHECK(status == TILEGYM_OK);
  for (int64_t line = 0; line < lines; ++line) {
    std::vector<T> want;
    for (int64_t i = 0; i < length; ++i) {
      int64_t row = layout.linesAreRows ? line : i, column = layout.linesAreRows ? i : line;
      int sum = 0;
      for (int64_t c = 0; c < n; ++c)
        sum += valueAt(row, c);
      want.push_back(encoded<T>(valueAt(row, column) * int(column % 3) + sum));
    }
    CHECK(memory.read(lineOf(line)) == want);
  }
  tilegym_package_close(opened);
}

} // namespace

TEST_CASE("rows and columns more than 2^31 and 2^32 elements apart, forwards and backwards") {
  std::string table = simPackage(text, "shifted");
  // Few, as a device has 256 GiB of addresses: whole rows and rows in pieces.
  for (Layout layout : {Layout{true, false, 3, 37}, Layout{true, true, 3, 3}, Layout{false, false, 5, 20},
                        Layout{false, true, 3, 3}}) {
    INFO((layout.linesAreRows ? "rows" : "columns")
         << " apart, " << (layout.backwards ? "backwards" : "forwards"));
    check<float>(table, TILEGYM_F32, layout);
    check<uint16_t>(table, TILEGYM_F16, layout);
  }
}
