// SPDX-License-Identifier: MIT
// wgmma in every type, majorness and swizzle against plain loops; its protocol, and each mistake with it.
#include "compiler/simulator/Wgmma.h"
#include "tests/unit/simulator/SmallMatrix.h"
#include "tests/unit/simulator/TestKernel.h"
#include "tests/unit/simulator/TileOffsets.h"

using namespace tilegym::sim;

namespace {

/// One product of 64 x n over `steps` instructions along k, and how its operands lie.
struct Setting {
  ElementType a = ElementType::BF16, b = ElementType::BF16, sum = ElementType::F32;
  int n = 16, steps = 2;
  Major majorA = Major::K, majorB = Major::K;
  Swizzle swizzle = Swizzle::B128;
  bool registersA = false, negateA = false, negateB = false, starts = true;
};

/// An operand's tile in shared memory: rows x k, its descriptor, and how far it moves with each step.
struct Tile {
  Major major;
  Swizzle swizzle;
  uint32_t rows, k, es, start;

  uint32_t span() const { return uint32_t(swizzle); }
  uint32_t offset(uint32_t row, uint32_t at) const {
    if (swizzle == Swizzle::None)
      return major == Major::K ? columnsOffset(row, at, rows, es) : row / 8 * k * 16 + at * 16 + row % 8 * 2;
    return major == Major::K ? kMajorOffset(row, at, rows, es, span()) : mnMajorOffset(row, at, k, span());
  }
  uint64_t descriptor(uint32_t step) const {
    MatrixDescriptor d;
    d.swizzle = swizzle;
    if (swizzle == Swizzle::None) {
      bool isK = major == Major::K;
      d.start = start + step * (isK ? 2 * rows * 16 : 256);
      d.leading = isK ? rows * 16 : 128;
      d.stride = isK ? 128 : k * 16;
    } else if (major == Major::K) {
      uint32_t bytes = 32 * step;
      d.start = start + bytes / span() * rows * span() + bytes % span();
      d.leading = 16;
      d.stride = 8 * span();
    } else {
      d.start = start + step * 16 * span();
      d.leading = k * span();
      d.stride = 8 * span();
    }
    return encodeDescriptor(d);
  }
};

std::vector<uint8_t> types(size_t count, uint8_t type) { return std::vector<uint8_t>(count, type); }

struct Instructions {
  explicit Instructions(const Setting &s, std::source_location at = std::source_location::current())
      : registers(s.sum == ElementType::F16 ? s.n / 4 : s.n / 2),
        sumType(s.sum == ElementType::F32 ? f32 : i32), wgmma("wgmma", form(s), at),
        wait("wgmma_wait",
             {.attributes = {0},
              .operands = types(size_t(registers), sumType),
              .results = types(size_t(registers), sumType)},
             at),
        waitOne("wgmma_wait", {.attributes = {1}}, at), fence("wgmma_fence", {}, at),
        commit("wgmma_commit", {}, at), sync("barrier", {}, at),
        proxy("fence_proxy_async", {.attributes = {2}}, at) {}

  Form form(const Setting &s) const {
    Form form{.attributes = {s.n, int64_t(s.a), int64_t(s.b), int64_t(s.sum), s.majorA == Major::MN,
                             s.majorB == Major::MN, s.negateA, s.negateB, 0}};
    form.operands = s.registersA ? types(4, i32) : types(1, i64);
    form.operands.push_back(i64);
    form.operands.insert(form.operands.end(), size_t(registers), sumType);
    form.operands.push_back(i1);
    form.results = types(size_t(registers), sumType);
    form.segments = {s.registersA ? 4 : 1, 1, registers, 1};
    return form;
  }
  /// Issues; the accumulators become handles.
  void multiply(std::vector<uint64_t> a, uint64_t b, std::vector<uint64_t> &sums, bool adds) const {
    a.push_back(b);
    a.insert(a.end(), sums.begin(), sums.end());
    a.push_back(adds);
    auto got = wgmma.all(a);
    sums.assign(got.begin(), got.begin() + registers);
  }
  void finish(std::vector<uint64_t> &sums) const {
    auto got = wait.all(sums);
    sums.assign(got.begin(), got.begin() + registers);
  }

  int registers;
  uint8_t sumType;
  Op wgmma, wait, waitOne, fence, commit, sync, proxy;
};

/// Threads write both operands, then multiply and compare.
void check(const Setting &s, uint64_t seed = 0) {
  INFO(name(s.a) << " " << name(s.b) << " " << name(s.sum) << " n " << s.n << " swizzle " << int(s.swizzle)
                 << " majors " << int(s.majorA) << int(s.majorB));
  auto es = uint32_t(elementBytes(s.a)), k = uint32_t(s.steps) * 32 / es;
  SmallMatrix left(64, int(k), 1, s.a == ElementType::U8), right(s.n, int(k), 2, s.b == ElementType::U8),
      start(64, s.n, 3);
  Tile a{s.majorA, s.swizzle, 64, k, es, 0x1000}, b{s.majorB, s.swizzle, uint32_t(s.n), k, es, 0x8000};
  Instructions in(s);
  Store<uint8_t> write;
  Run run;
  requireClean(run({.block = {128}, .sharedBytes = 0x18000, .seed = seed}, [&] {
    uint64_t window = current().block->window;
    auto put = [&](const Tile &tile, const SmallMatrix &matrix, ElementType type) {
      for (uint32_t i = thread(); i < tile.rows * tile.k; i += 128) {
        uint32_t bits = matrix.bits(type, {int(i / tile.k), int(i % tile.k)});
        for (uint32_t byte = 0; byte < es; ++byte)
          write(window + tile.start + tile.offset(i / tile.k, i % tile.k) + byte, uint8_t(bits >> 8 * byte));
      }
    };
    if (!s.registersA)
      put(a, left, s.a);
    put(b, right, s.b);
    in.proxy();
    in.sync();
    int warp = int(thread() / 32), lane = int(thread() % 32), perWord = s.n / 2 / in.registers;
    std::vector<uint64_t> sums;
    for (int r = 0; r < in.registers; ++r)
      sums.push_back(packed(
          perWord, [&](int e) { return start.bits(s.sum, accumulatorPlace(warp, lane, r * perWord + e)); }));
    in.fence();
    for (int step = 0; step < s.steps; ++step) {
      std::vector<uint64_t> operandA{a.descriptor(uint32_t(step))};
      if (s.registersA) {
        operandA.clear();
        for (int r = 0; r < 4; ++r)
          operandA.push_back(packed(4 / int(es), [&](int e) {
            Place place = operandAPlace(warp, lane, r, e, int(es));
            return left.bits(s.a, {place.row, place.column + step * 32 / int(es)});
          }));
      }
      in.multiply(operandA, b.descriptor(uint32_t(step)), sums, step > 0 || s.starts);
      if (s.registersA) { // its words may be written again only after a wait
        in.commit();
        in.finish(sums);
        in.fence();
      }
    }
    in.commit();
    if (!s.registersA)
      in.finish(sums);
    int sign = s.negateA == s.negateB ? 1 : -1;
    for (int r = 0; r < in.registers; ++r)
      if (sums[size_t(r)] != packed(perWord, [&](int e) {
            Place place = accumulatorPlace(warp, lane, r * perWord + e);
            return elementBits(s.sum, (s.starts ? start.at(place) : 0) +
                                          sign * dot(left, place.row, right, place.column));
          }))
        throw std::runtime_error("a sum differs: register " + std::to_string(r));
    in.waitOne();
  }));
}

} // namespace

TEST_CASE("wgmma: swizzles and majors of 16-bit types", "[wgmma]") {
  for (ElementType type : {ElementType::BF16, ElementType::F16})
    for (Swizzle swizzle : {Swizzle::None, Swizzle::B32, Swizzle::B64, Swizzle::B128})
      for (Major a : {Major::K, Major::MN})
        for (Major b : {Major::K, Major::MN})
          check({.a = type, .b = type, .n = 64, .steps = 4, .majorA = a, .majorB = b, .swizzle = swizzle});
  check({.n = 256, .steps = 1, .majorB = Major::MN});
  check({.n = 8, .steps = 1, .swizzle = Swizzle::None});
}

TEST_CASE("wgmma: 8-bit and tf32 operands", "[wgmma]") {
  using T = ElementType;
  for (Swizzle swizzle : {Swizzle::None, Swizzle::B32, Swizzle::B64, Swizzle::B128}) {
    check({.a = T::TF32, .b = T::TF32, .n = 24, .swizzle = swizzle});
    check({.a = T::E4M3, .b = T::E5M2, .n = 16, .swizzle = swizzle});
    check({.a = T::E5M2, .b = T::E5M2, .sum = T::F16, .n = 16, .swizzle = swizzle});
    check({.a = T::S8, .b = T::U8, .sum = T::S32, .n = 24, .swizzle = swizzle});
  }
}

TEST_CASE("wgmma: A from registers, sums of f16, signs, and no start value", "[wgmma]") {
  using T = ElementType;
  for (T type : {T::F16, T::BF16, T::TF32, T::E4M3})
    check({.a = type, .b = type, .registersA = true});
  check({.a = T::S8, .b = T::S8, .sum = T::S32, .registersA = true});
  check({.a = T::F16, .b = T::F16, .sum = T::F16, .n = 32});
  check({.negateA = true});
  check({.negateB = true, .starts = false});
  check({.negateA = true, .negateB = true});
  for (uint64_t seed = 0; seed < 10; ++seed)
    check({.starts = false}, seed);
}

namespace {

/// Two products of one group into accumulators that start at nought, with a chance to go wrong before each and after them.
Report misuse(Instructions &in, const std::function<void(std::vector<uint64_t> &sums, int moment)> &meddle,
              bool fences = true, uint64_t seed = 0, uint64_t descriptorBits = 0, bool proxy = true,
              bool canDiffer = false) {
  Store<uint16_t> write;
  Run run;
  return run({.block = {128}, .sharedBytes = 0x4000, .seed = seed}, [&] {
    Tile a{Major::K, Swizzle::B128, 64, 64, 2, 0x1000}, b{Major::K, Swizzle::B128, 16, 64, 2, 0x3000};
    uint64_t window = current().block->window;
    for (uint32_t i = thread(); i < 0x2800 / 2; i += 128)
      write(window + 0x1000 + 2 * i, 0x3F80);
    if (proxy)
      in.proxy();
    in.sync();
    std::vector<uint64_t> sums(size_t(in.registers), 0);
    if (fences)
      in.fence();
    for (int step = 0; step < 2; ++step) {
      meddle(sums, step);
      in.multiply({a.descriptor(uint32_t(step)) ^ descriptorBits}, b.descriptor(uint32_t(step)), sums, true);
    }
    meddle(sums, 2);
    in.commit();
    meddle(sums, 3);
    in.finish(sums);
    if (sums[0] != std::bit_cast<uint32_t>(32.0f) && !canDiffer)
      throw std::runtime_error("a sum differs");
  });
}

bool has(const std::string &text, const std::string &part) { return text.find(part) != std::string::npos; }

} // namespace

TEST_CASE("wgmma: registers touched in flight", "[wgmma]") {
  Instructions in(Setting{});
  auto text = [&](const std::function<void(std::vector<uint64_t> &, int)> &meddle) {
    return only(misuse(in, meddle), FindingKind::WgmmaMisuse);
  };
  requireClean(misuse(in, [](auto &, int) {}));
  auto computed = [](uint64_t bits) {
    return std::bit_cast<uint32_t>(std::bit_cast<float>(uint32_t(bits)) + 1.0f);
  };
  CHECK(has(text([&](auto &sums, int moment) {
              if (moment == 1 && thread() == 5)
                sums[3] = computed(sums[3]);
            }),
            "block 0 thread 5 adds to accumulator register 3, which was touched, moved or replaced while a "
            "wgmma was in flight: only wgmma_wait's results are values " +
                at(in.wgmma.line())));
  CHECK(has(text([&](auto &sums, int moment) {
              if (moment == 1 && thread() == 5)
                std::swap(sums[0], sums[1]);
            }),
            "adds to accumulator register 0"));
  CHECK(has(text([&](auto &sums, int moment) {
              if (moment == 3)
                sums[2] = computed(sums[2]);
            }),
            "takes accumulator register 2 of a wgmma that something computed with while it was in flight " +
                at(in.wait.line())));
  std::vector<uint64_t> old;
  CHECK(has(text([&](auto &sums, int moment) {
              static thread_local std::vector<uint64_t> first[128];
              if (moment == 1)
                first[thread()] = sums;
              if (moment == 3)
                sums = first[thread()];
            }),
            "takes an accumulator of a wgmma that a later wgmma, or an earlier wait, has already replaced"));
}

TEST_CASE("wgmma: a wait that leaves the group in flight", "[wgmma]") {
  Instructions in(Setting{});
  Op leaves("wgmma_wait", {.attributes = {1}, .operands = {f32}, .results = {f32}});
  CHECK(has(only(misuse(in,
                        [&](auto &sums, int moment) {
                          if (moment == 3)
                            leaves({sums[0]});
                        }),
                 FindingKind::WgmmaMisuse),
            "takes results of a wgmma whose group may still be in flight: wait for fewer pending groups " +
                at(leaves.line())));
}

TEST_CASE("wgmma: results that were not committed", "[wgmma]") {
  Instructions in(Setting{});
  CHECK(has(only(misuse(in,
                        [&](auto &sums, int moment) {
                          if (moment == 2)
                            in.finish(sums);
                        }),
                 FindingKind::WgmmaMisuse),
            "takes results of a wgmma that was not committed: wgmma_commit must come before the wait"));
}

TEST_CASE("wgmma: a fence gives its values back", "[wgmma]") {
  Op fence("wgmma_fence", {.operands = {i32, i32}, .results = {i32, i32}});
  Run run;
  requireClean(run({.block = {128}}, [&] {
    auto got = fence.all({thread(), 7});
    if (got[0] != thread() || got[1] != 7)
      throw std::runtime_error("the values are others");
  }));
}

TEST_CASE("wgmma: fences", "[wgmma]") {
  Instructions in(Setting{});
  CHECK(only(misuse(
                 in, [](auto &, int) {}, false),
             FindingKind::WgmmaMisuse) == "block 0 thread 0 starts accumulators without a wgmma_fence since "
                                          "the last wait: it must follow every other use of the registers " +
                                              at(in.wgmma.line()));
  CHECK(has(only(misuse(
                     in, [](auto &, int) {}, true, 0, 0, false),
                 FindingKind::ProxyFence),
            "missing fence.proxy.async: wgmma issued by block 0 thread"));
}

TEST_CASE("wgmma: descriptors that cannot serve", "[wgmma]") {
  Instructions in(Setting{});
  CHECK(has(only(misuse(
                     in, [](auto &, int) {}, true, 0, uint64_t(1) << 60),
                 FindingKind::BadOperand),
            "has an operand A whose descriptor 0x"));
  CHECK(has(only(misuse(
                     in, [](auto &, int) {}, true, 0, 0x8),
                 FindingKind::BadOperand),
            "lies in row 1 of the 128-byte swizzle pattern"));
  CHECK(has(only(misuse(
                     in, [](auto &, int) {}, true, 0, 0x3000),
                 FindingKind::OutOfBounds),
            "wgmma issued by block 0 thread"));
}

TEST_CASE("wgmma: operands overwritten in flight", "[wgmma]") {
  Instructions in(Setting{});
  Store<uint16_t> write;
  for (uint64_t seed = 0; seed < 20; ++seed) {
    Report report = misuse(
        in,
        [&](auto &, int moment) {
          if (moment == 3 && thread() == 0)
            write(current().block->window + 0x1000, 0);
        },
        true, seed, 0, true, true);
    INFO(report.text());
    REQUIRE_FALSE(report.findings.empty());
    CHECK(report.findings[0].kind == FindingKind::Race);
  }
}

TEST_CASE("wgmma: fragments of A in a loop with a group in flight", "[wgmma]") {
  // The same instruction is issued again before the wait for its last issue: hardware would overwrite the registers of A.
  Setting setting{.registersA = true};
  Instructions in(setting);
  Store<uint16_t> write;
  for (bool waits : {true, false}) {
    Run run;
    Report report = run({.block = {128}, .sharedBytes = 0x4000}, [&] {
      Tile b{Major::K, Swizzle::B128, 16, 64, 2, 0x1000};
      for (uint32_t i = thread(); i < 0x800 / 2; i += 128)
        write(current().block->window + 0x1000 + 2 * i, 0);
      in.proxy();
      in.sync();
      std::vector<uint64_t> sums(size_t(in.registers), 0);
      for (uint32_t step = 0; step < 3; ++step) {
        in.fence();
        in.multiply({0, 0, 0, 0}, b.descriptor(step), sums, true);
        in.commit();
        if (waits)
          in.finish(sums);
        else
          in.waitOne();
      }
      if (!waits)
        in.finish(sums);
    });
    if (waits)
      requireClean(report);
    else
      CHECK(has(only(report, FindingKind::WgmmaMisuse),
                "is issued with A in registers while its earlier issue is still in flight"));
  }
}

TEST_CASE("wgmma: left in flight at the end", "[wgmma]") {
  Instructions in(Setting{});
  Op stop("wgmma_wait", {.attributes = {0}});
  Run run;
  Store<uint16_t> write;
  Report report = run({.block = {128}, .sharedBytes = 0x4000}, [&] {
    for (uint32_t i = thread(); i < 0x2800 / 2; i += 128)
      write(current().block->window + 0x1000 + 2 * i, 0);
    in.proxy();
    in.sync();
    std::vector<uint64_t> sums(size_t(in.registers), 0);
    in.fence();
    in.multiply({Tile{Major::K, Swizzle::B128, 64, 64, 2, 0x1000}.descriptor(0)},
                Tile{Major::K, Swizzle::B128, 16, 64, 2, 0x3000}.descriptor(0), sums, true);
    in.commit();
  });
  REQUIRE_FALSE(report.findings.empty());
  CHECK(report.findings[0].kind == FindingKind::PendingAtExit);
  CHECK(has(report.findings[0].text, "ends with a wgmma that it did not wait for " + at(in.wgmma.line())));
}

TEST_CASE("wgmma: forms that hardware lacks", "[wgmma]") {
  using T = ElementType;
  auto refused = [](T a, T b, AccumulatorType sum, int n, Major majorB = Major::K) {
    WgmmaShape shape{.unit = warpgroupUnit(a, b, sum), .n = n, .k = 32 / elementBytes(a), .majorB = majorB};
    return wgmmaFault(shape).value_or("none");
  };
  CHECK(refused(T::BF16, T::BF16, AccumulatorType::F32, 176) == "none");
  CHECK(refused(T::BF16, T::F16, AccumulatorType::F32, 64) == "multiplies bf16 by f16, which wgmma cannot");
  CHECK(refused(T::BF16, T::BF16, AccumulatorType::F32, 260) ==
        "has n = 260; 8 to 256 by 8 are possible, for integers above 24 by 16");
  CHECK(refused(T::S8, T::S8, AccumulatorType::S32, 40) ==
        "has n = 40; 8 to 256 by 8 are possible, for integers above 24 by 16");
  CHECK(refused(T::S8, T::S8, AccumulatorType::S32, 24) == "none");
  CHECK(refused(T::BF16, T::BF16, AccumulatorType::F16, 64) ==
        "sums products of bf16 by bf16 in a type that wgmma cannot");
  CHECK(refused(T::E4M3, T::E5M2, AccumulatorType::F16, 64) == "none");
  CHECK(refused(T::TF32, T::TF32, AccumulatorType::F32, 64, Major::MN) ==
        "transposes an operand of tf32 by tf32; only f16 and bf16 may be");
}
