// SPDX-License-Identifier: MIT
// Tensor maps written by the runtime itself: bit by bit what the driver writes, for drivers that put their numbers into places; and left to the driver
// where it does anything else.
#include "runtime/src/TensorMapForm.h"
#include "tests/unit/runtime/Calls.h"
#include "tests/unit/runtime/Fake.h"
#include <algorithm>
#include <random>

using namespace tilegym::testing;
using tilegym::runtime::CUresult;
using tilegym::runtime::TensorMapArguments;
using tilegym::runtime::TensorMapForm;

namespace {

using Words = uint64_t[16];

/// Numbers in places as devices have them: strides in parts, extents two a word.
CUresult places(void *map, int type, uint32_t rank, void *address, const uint64_t *extents,
                const uint64_t *strides, const uint32_t *box, const uint32_t *, int, int swizzle, int, int) {
  Words words = {reinterpret_cast<uint64_t>(address), uint64_t(type) << 8 | uint64_t(swizzle) << 4 | rank};
  for (uint32_t i = 0; i < rank; ++i) {
    if (extents[i] < 1 || extents[i] > uint64_t(1) << 32)
      return 1;
    words[4 + i / 2] |= (extents[i] - 1) << (i % 2 * 32);
    words[8] |= uint64_t(box[i] - 1) << (i * 8);
  }
  for (uint32_t i = 0; i + 1 < rank; ++i) {
    if (strides[i] % 16 || strides[i] >= uint64_t(1) << 40)
      return 1;
    words[9 + i / 2] |= (strides[i] >> 4 & 0xffffffff) << (i % 2 * 32);
    words[12] |= (strides[i] >> 36) << (i * 4);
  }
  std::memcpy(map, words, sizeof words);
  return 0;
}

/// The same with a change to its words.
template <void (*Change)(uint64_t *, const uint64_t *extents)>
CUresult changed(void *map, int type, uint32_t rank, void *address, const uint64_t *extents,
                 const uint64_t *strides, const uint32_t *box, const uint32_t *steps, int a, int swizzle,
                 int b, int c) {
  CUresult result = places(map, type, rank, address, extents, strides, box, steps, a, swizzle, b, c);
  Words words;
  std::memcpy(words, map, sizeof words);
  Change(words, extents);
  std::memcpy(map, words, sizeof words);
  return result;
}
void checksum(uint64_t *words, const uint64_t *) {
  for (int i = 0; i < 15; ++i)
    words[15] += words[i] * 31;
}
void number(uint64_t *words, const uint64_t *) {
  static uint64_t calls = 0;
  words[15] = ++calls;
}
/// No single bit shows it.
void flagOfTwo(uint64_t *words, const uint64_t *extents) { words[15] = extents[0] > 4 && extents[1] > 4; }

tilegym::runtime::Driver driverOf(decltype(tilegym::runtime::Driver::tensorMapEncodeTiled) encode) {
  tilegym::runtime::Driver driver;
  driver.tensorMapEncodeTiled = encode;
  return driver;
}

TensorMapArguments someMap(uint32_t rank, std::mt19937_64 &random) {
  TensorMapArguments a{};
  a.type = int(random() % 10);
  a.rank = rank;
  a.swizzle = int(random() % 4);
  a.address = random() % (uint64_t(1) << 48) & ~uint64_t(15);
  for (uint32_t i = 0; i < rank; ++i) {
    a.extents[i] = 1 + random() % (uint64_t(1) << (1 + random() % 31));
    a.strides[i] = 16 * (1 + random() % (uint64_t(1) << (1 + random() % 35)));
    a.box[i] = uint32_t(1 + random() % 256);
  }
  return a;
}

} // namespace

TEST_CASE("maps are written as the driver writes them, of every rank") {
  tilegym::runtime::Driver driver = driverOf(places);
  std::mt19937_64 random(1);
  for (uint32_t rank = 1; rank <= 5; ++rank) {
    TensorMapForm form;
    REQUIRE(form.learn(driver, rank));
    for (int i = 0; i < 200; ++i) {
      TensorMapArguments base = someMap(rank, random);
      alignas(64) Words words, made, expected;
      REQUIRE(form.makeBase(driver, base, words));
      for (int k = 0; k < 10; ++k) {
        TensorMapArguments to = someMap(rank, random);
        to.type = base.type;
        to.swizzle = base.swizzle;
        std::copy(std::begin(base.box), std::end(base.box), to.box);
        REQUIRE(to.encode(driver, reinterpret_cast<unsigned char *>(expected)) == 0);
        REQUIRE(form.patch(words, to, made));
        CHECK(std::memcmp(made, expected, sizeof made) == 0);
      }
    }
  }
}

TEST_CASE("maps of which address and one extent move are what patching all of them gives") {
  tilegym::runtime::Driver driver = driverOf(places);
  std::mt19937_64 random(3);
  int left = 0;
  for (uint32_t rank = 1; rank <= 5; ++rank) {
    TensorMapForm form;
    REQUIRE(form.learn(driver, rank));
    for (int i = 0; i < 200; ++i) {
      TensorMapArguments base = someMap(rank, random), of = someMap(rank, random);
      of.type = base.type;
      of.swizzle = base.swizzle;
      std::copy(std::begin(base.box), std::end(base.box), of.box);
      alignas(64) Words words, made, expected;
      REQUIRE(form.makeBase(driver, base, words));
      tilegym::runtime::MovingMap moving;
      int axis = int(random() % (rank + 1)) - 1;
      REQUIRE(form.hold(words, of, axis, &moving));
      REQUIRE(form.patch(words, of, made));
      for (int k = 0; k < 10; ++k) {
        of.address = someMap(rank, random).address + (random() % 20 == 0 ? 8 : 0);
        uint64_t extent = random() % 20 == 0 ? uint64_t(1) << 33 : 1 + random() % 100000;
        if (axis >= 0)
          of.extents[axis] = extent;
        bool works = form.patch(words, of, expected);
        REQUIRE(moving.patch(of.address, extent, made) == works);
        left += !works;
        if (works)
          CHECK(std::memcmp(made, expected, sizeof made) == 0);
      }
      if (rank > 1) { // a stride that is the driver's to refuse
        of.strides[rank - 1] = uint64_t(1) << 40;
        CHECK_FALSE(form.hold(words, of, axis, &moving));
      }
    }
  }
  CHECK(left > 500);
}

TEST_CASE("values that the driver is to refuse are left to it") {
  tilegym::runtime::Driver driver = driverOf(places);
  std::mt19937_64 random(2);
  TensorMapForm form;
  REQUIRE(form.learn(driver, 3));
  TensorMapArguments base = someMap(3, random);
  Words words, made;
  REQUIRE(form.makeBase(driver, base, words));
  REQUIRE(form.patch(words, base, made));
  auto isLeft = [&](auto change) {
    TensorMapArguments to = base;
    change(to);
    return !form.patch(words, to, made);
  };
  CHECK(isLeft([](TensorMapArguments &a) { a.address += 8; }));
  CHECK(isLeft([](TensorMapArguments &a) { a.address = ~uint64_t(15); }));
  CHECK(isLeft([](TensorMapArguments &a) { a.strides[1] += 8; }));
  CHECK(isLeft([](TensorMapArguments &a) { a.strides[2] = uint64_t(1) << 40; }));
  CHECK(isLeft([](TensorMapArguments &a) { a.strides[1] = uint64_t(-16); }));
  CHECK(isLeft([](TensorMapArguments &a) { a.extents[0] = uint64_t(1) << 33; }));
  CHECK_FALSE(isLeft([](TensorMapArguments &a) { a.strides[0] = 7; })); // the innermost one's is nobody's
}

TEST_CASE("a driver that does more than put numbers into places makes every map itself") {
  TensorMapForm form;
  CHECK_FALSE(form.learn(driverOf(changed<checksum>), 2));
  CHECK_FALSE(TensorMapForm().learn(driverOf(changed<number>), 2));
  tilegym::runtime::Driver flags = driverOf(changed<flagOfTwo>);
  TensorMapForm trusting;
  REQUIRE(trusting.learn(flags, 2));
  std::mt19937_64 random(3);
  Words words;
  CHECK_FALSE(trusting.makeBase(flags, someMap(2, random), words));
  CHECK_FALSE(TensorMapForm().learn(
      driverOf([](void *, int, uint32_t, void *, const uint64_t *, const uint64_t *, const uint32_t *,
                  const uint32_t *, int, int, int, int) -> CUresult { return 1; }),
      2));
}
