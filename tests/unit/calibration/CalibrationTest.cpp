// SPDX-License-Identifier: MIT
// What calibration rests on: the reader of kernels' lines, generators, comparison, kept results.
#include "tests/sim/calibration/KernelRecord.h"
#include <catch2/catch.hpp>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <unistd.h>

using namespace tilegym::calibration;
using Catch::Matchers::EndsWith;

namespace {

/// A folder with one file, while it lives.
struct Folder {
  std::filesystem::path path =
      std::filesystem::temp_directory_path() / ("tilegym-calibration-" + std::to_string(getpid()));
  Folder(const std::string &name, const std::string &text) {
    std::filesystem::create_directories(path);
    std::ofstream(path / name) << text;
  }
  ~Folder() { std::filesystem::remove_all(path); }
  std::string file(const char *name) const { return (path / name).string(); }
};

std::vector<KernelPlan> plansOf(const std::string &text) {
  return readPlans(Folder("k.mlir", text).path.string());
}

template <class T> std::vector<uint8_t> bytes(std::initializer_list<T> values) {
  std::vector<uint8_t> data(values.size() * sizeof(T));
  std::memcpy(data.data(), values.begin(), data.size());
  return data;
}

} // namespace

TEST_CASE("a kernel's lines") {
  auto plans = plansOf("//! kernel first block 64 grid 2 shared 1024\n"
                       "//! in u32 8 hash 3\n"
                       "//! out f32 4 near 0.5 0.25 from index 1 2\n"
                       "//! map bf16 of 0 dims 64,40 strides 128 box 32,8 steps 1,2 swizzle 64 nan\n"
                       "llvm.func @first() {}\n"
                       "//! kernel second\n"
                       "//! out u8 16 ulp 2\n");
  REQUIRE(plans.size() == 2);
  const KernelPlan &first = plans[0];
  CHECK((first.file == "k" && first.name == "first" && first.block == 64 && first.grid == 2 &&
         first.shared == 1024));
  REQUIRE((first.buffers.size() == 2 && first.maps.size() == 1 && first.parameters.size() == 3));
  CHECK((!first.buffers[0].isOutput && first.buffers[0].count == 8 &&
         first.buffers[0].generator.name == "hash"));
  CHECK((first.buffers[1].judge.kind == Judge::Near && first.buffers[1].judge.relative == 0.25));
  CHECK((first.parameters[2].isMap && first.maps[0].swizzle == 64 && first.maps[0].fillNaN));
  CHECK(first.maps[0].elementStrides == std::vector<uint32_t>{1, 2});
  CHECK(plans[1].buffers[0].judge.ulp == 2);
}

TEST_CASE("lines that are wrong") {
  auto fault = [](const std::string &line, const char *text) {
    INFO(line);
    CHECK_THROWS_WITH(plansOf("//! kernel k\n//! in u8 4 zero\n" + line + "\n"),
                      EndsWith(std::string("k.mlir:3: ") + text));
  };
  fault("//! put u8 4 zero", "'put' is no keyword: expected 'kernel', 'in', 'out' or 'map'");
  fault("//! in f31 4 zero", "'f31' is no element type");
  fault("//! in u8", "the line ends where a count was expected");
  fault("//! in u8 4x zero", "'4x' is no number");
  fault("//! out u8 4 exactly",
        "'exactly' is no way to compare: expected 'bits', 'numbers', 'ulp' or 'near'");
  fault("//! map u8 of 0 dims 16 box 16,2",
        "a map of 1 dims needs as many box extents and element strides, and a stride less");
  fault("//! map u8 of 0 dims 16,2 strides 16 box 16,2 colour 3", "'colour' is not said of a map");
  fault("//! map u8 of 2 dims 16,2 strides 16 box 16,2",
        "a map is of a buffer that no line before it declares");
  fault("//! kernel k warps 3", "'warps' is not said of a kernel");
  CHECK_THROWS_WITH(plansOf("//! in u8 4 zero\n"),
                    EndsWith("k.mlir:1: 'in' comes before the file's first kernel"));
}

TEST_CASE("generators") {
  CHECK(generate(Element::U32, 3, {"index", {5, 2}}) == bytes<uint32_t>({5, 7, 9}));
  CHECK(generate(Element::F32, 3, {"list", {1, -0.5}}) == bytes<float>({1, -0.5f, 1}));
  CHECK(generate(Element::F16, 2, {"bits", {0x3C00, 1}}) == bytes<uint16_t>({0x3C00, 0x3C01}));
  CHECK(generate(Element::U32, 1, {}) == bytes<uint32_t>({0xA5A5A5A5}));
  CHECK(generate(Element::U64, 4, {"hash", {1}}) != generate(Element::U64, 4, {"hash", {2}}));
  auto small = generate(Element::S8, 100, {"small", {4, -2, 2}});
  CHECK(std::all_of(small.begin(), small.end(), [](uint8_t x) { return int8_t(x) >= -2 && int8_t(x) <= 2; }));
  // Pairs meet each special with each: 24 of a float type.
  auto left = generate(Element::F32, 576, {"pairs", {0}}),
       right = generate(Element::F32, 576, {"pairs", {1}});
  std::vector<std::pair<uint32_t, uint32_t>> pairs(576);
  for (size_t i = 0; i < 576; ++i) {
    std::memcpy(&pairs[i].first, &left[i * 4], 4);
    std::memcpy(&pairs[i].second, &right[i * 4], 4);
  }
  std::sort(pairs.begin(), pairs.end());
  CHECK(std::unique(pairs.begin(), pairs.end()) == pairs.end());
  CHECK_THROWS_WITH(generate(Element::U8, 1, {"random", {}}), EndsWith("'random' is no generator"));
  CHECK_THROWS_WITH(generate(Element::U8, 1, {"index", {1}}),
                    EndsWith("the generator 'index' lacks number 2"));
}

TEST_CASE("comparison") {
  Judge exact, numbers{Judge::Numbers, 0, 0, 0}, ulp{Judge::Ulp, 2, 0, 0}, near{Judge::Near, 0, 0.5, 0.1};
  float nan = std::nanf(""), infinity = INFINITY;
  auto wrong = [](const Judge &how, float a, float b) {
    return judge(Element::F32, how, bytes({a}), bytes({b})).wrong;
  };
  CHECK(wrong(exact, 0.0f, -0.0f));
  CHECK(!wrong(exact, nan, nan));
  CHECK(wrong(exact, nan, -nan));
  CHECK(!wrong(numbers, nan, -nan));
  CHECK(wrong(numbers, 0.0f, -0.0f));
  CHECK(wrong(numbers, 1, nan));
  CHECK(!wrong(ulp, nan, -nan));
  CHECK(wrong(ulp, nan, 1));
  CHECK(!wrong(ulp, 1, 1 + 0x1p-22f));
  CHECK(wrong(ulp, 1, 1 + 0x1.8p-22f));
  CHECK(!wrong(ulp, 0.0f, -0.0f)); // the same number
  CHECK(wrong(ulp, infinity, -infinity));
  CHECK(!wrong(near, 10, 11.5f));
  CHECK(wrong(near, 10, 11.6f));
  CHECK(wrong(near, infinity, 1e30f));
  Judgement judgement = judge(Element::U8, exact, {1, 2, 3, 9}, {1, 4, 3, 5});
  CHECK((judgement.wrong == 2 && judgement.first == 1 && judgement.worst == 4));
}

TEST_CASE("results are kept as they are") {
  KernelPlan plan;
  plan.file = "family";
  plan.name = "kernel";
  for (size_t count : {1u, 2u, 3u, 200u})
    plan.buffers.push_back({Element::U8, count, {}, true, {}});
  std::vector<std::vector<uint8_t>> outputs;
  for (const Buffer &buffer : plan.buffers)
    outputs.push_back(generate(Element::U8, buffer.count, {"hash", {double(buffer.count)}}));
  Folder folder("results.txt", "# a card\n");
  {
    std::ofstream stream(folder.file("results.txt"), std::ios::app);
    writeRecord(stream, plan, outputs);
    stream << "kernel family other\nerror it hangs\n";
  }
  std::map<std::string, KernelRecord> records;
  readRecords(folder.file("results.txt"), records);
  REQUIRE(records.size() == 2);
  CHECK(records["family other"].error == "it hangs");
  const KernelRecord &record = records["family kernel"];
  CHECK(record.origin == "a card");
  REQUIRE(record.outputs.size() == outputs.size());
  for (size_t i = 0; i < outputs.size(); ++i)
    CHECK(record.outputs[i].second == outputs[i]);
  std::ofstream(folder.file("results.txt")) << "kernel a b\nout u8 3\nAB?D\n";
  CHECK_THROWS_WITH(readRecords(folder.file("results.txt"), records),
                    EndsWith("results.txt:3: '?' is no digit of base 64"));
  std::ofstream(folder.file("results.txt")) << "out u8 3\n";
  CHECK_THROWS_WITH(readRecords(folder.file("results.txt"), records),
                    EndsWith("results.txt:1: 'out' comes before the first kernel"));
  std::ofstream(folder.file("results.txt")) << "kernel a b\nAAAA\n";
  CHECK_THROWS_WITH(readRecords(folder.file("results.txt"), records),
                    EndsWith("results.txt:2: values come before the first output"));
}
