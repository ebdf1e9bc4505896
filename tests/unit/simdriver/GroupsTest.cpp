// SPDX-License-Identifier: MIT
// Leading dims that do not merge, in the simulator: general kernels split the row's number into as many digits as a call has dims, by what is shared
// among rows and tensors. Checked against plain indexing.
#include "tests/unit/simdriver/SimPackage.h"
#include "tilegym/tilegym.h"
#include "tools/simdriver/SimDriver.h"

using namespace tilegym;

namespace {

/// Rows of a tile, a single row, and rows of a tensor of rows alone.
const char *const text = R"(
op scaled(x: f32[*R, N], s: f32[*R]) -> (y: f32[*R, N], t: f32[*R])
reference { y = x; t = s }
kernel rows(BM, BN = pow2ceil(N)) when N <= 128 {
  grid(cdiv(R, BM))
  let i = block(0)
  let f = load(s.tile(BM)[i])
  store(y.tile(BM, BN)[i, 0], load(x.tile(BM, BN)[i, 0]) * f[:, None])
  store(t.tile(BM)[i], f)
}
tune rows { BM in [16, 128]; warps = 1 }
kernel one(BN) {
  grid(R)
  let row = block(0)
  let f = load(s[row])
  for c in 0 .. N step BN { store(y[row, c :+ BN], load(x[row, c :+ BN]) * f) }
  store(t[row], f)
}
tune one { BN = 128; warps = 1 }
test { R in [1]; N in [2]; case "one" { R = 1; N = 1; x = [[1]]; s = [1]; expect y = [[1]] }; tolerance { f32: 0 } }
bench none "a test"
)";

std::string packageFor(int64_t rows) {
  std::string spec = text;
  size_t at = spec.find("BM in [16, 128]");
  spec.replace(at, strlen("BM in [16, 128]"), "BM = " + std::to_string(rows));
  return simPackage(spec, "scaled");
}

/// A view of a buffer of its own on the simulated device.
struct Tensor {
  std::vector<int64_t> shape, strides;
  std::vector<float> host;
  runtime::CUdeviceptr address = 0;
  TilegymTensor c{};

  Tensor(const runtime::Driver &driver, std::vector<int64_t> extents, std::vector<int64_t> steps, float first)
      : shape(std::move(extents)), strides(std::move(steps)) {
    int64_t last = 0;
    for (size_t i = 0; i < shape.size(); ++i)
      last += (shape[i] - 1) * strides[i];
    for (int64_t i = 0; i <= last; ++i)
      host.push_back(first + float(i % 1021));
    REQUIRE(driver.memAlloc(&address, bytes()) == runtime::kSuccess);
    REQUIRE(driver.memcpyHtoD(address, host.data(), bytes()) == runtime::kSuccess);
    c = {reinterpret_cast<void *>(address), shape.data(), strides.data(), int32_t(shape.size()), TILEGYM_F32};
  }
  size_t bytes() const { return host.size() * sizeof(float); }
  float &at(const std::vector<int64_t> &index) {
    int64_t offset = 0;
    for (size_t i = 0; i < strides.size(); ++i)
      offset += index[i] * strides[i];
    return host[size_t(offset)];
  }
};

/// Row-major with `gap` more elements behind each dim, so that no two merge.
std::vector<int64_t> apart(const std::vector<int64_t> &shape, int64_t gap) {
  std::vector<int64_t> strides(shape.size());
  int64_t stride = 1;
  for (size_t i = shape.size(); i-- > 0;) {
    strides[i] = stride;
    stride = stride * shape[i] + gap;
  }
  return strides;
}

void check(const std::string &table, const std::vector<int64_t> &lead, int64_t n) {
  simdriver::Session session({});
  const runtime::Driver &driver = session.driver();
  std::vector<int64_t> shape = lead;
  shape.push_back(n);
  // The factor is the same along the last of the leading dims.
  std::vector<int64_t> same = apart(lead, 1);
  if (!same.empty())
    same.back() = 0;
  Tensor x(driver, shape, apart(shape, 2), 1), s(driver, lead, same, 2), y(driver, shape, apart(shape, 3), 0),
      t(driver, lead, apart(lead, 1), 0);
  std::vector<uint64_t> words(table.size() / 8 + 1);
  std::memcpy(words.data(), table.data(), table.size());
  TilegymPackage *package = nullptr;
  REQUIRE(tilegym_package_open(words.data(), table.size(), &package) == TILEGYM_OK);
  const void *args[] = {&x.c, &s.c, &y.c, &t.c};
  TilegymStatus status = tilegym_call(package, 0, args, nullptr);
  INFO(tilegym_last_error());
  CHECK(status == TILEGYM_OK);
  std::vector<float> gotY(y.host.size()), gotT(t.host.size());
  REQUIRE(driver.memcpyDtoH(gotY.data(), y.address, y.bytes()) == runtime::kSuccess);
  REQUIRE(driver.memcpyDtoH(gotT.data(), t.address, t.bytes()) == runtime::kSuccess);
  tilegym_package_close(package);
  std::vector<int64_t> index(shape.size(), 0);
  for (bool more = true; more;) {
    std::vector<int64_t> row(index.begin(), index.end() - 1);
    y.at(index) = x.at(index) * s.at(row);
    t.at(row) = s.at(row);
    more = false;
    for (size_t i = shape.size(); i-- > 0 && !more; index[i] = more ? index[i] : 0)
      more = ++index[i] < shape[i];
  }
  CHECK(gotY == y.host);
  CHECK(gotT == t.host);
}

} // namespace

TEST_CASE("rows of up to seven leading dims that do not merge") {
  for (int64_t rows : {16, 128}) { // held together, and eight at a time
    std::string table = packageFor(rows);
    for (const std::vector<int64_t> &lead : {std::vector<int64_t>{},
                                             {5},
                                             {3, 5},
                                             {2, 3, 2},
                                             {2, 1, 3, 5},
                                             {2, 2, 2, 2, 3},
                                             {2, 3, 2, 2, 2, 2},
                                             {2, 2, 3, 2, 2, 2, 2}})
      for (int64_t n : {int64_t(3), int64_t(130)}) {
        std::string name;
        for (int64_t extent : lead)
          name += std::to_string(extent) + " x ";
        INFO(name << n << ", " << rows << " rows a tile");
        check(table, lead, n);
      }
  }
}
