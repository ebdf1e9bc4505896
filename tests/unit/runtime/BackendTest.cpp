// SPDX-License-Identifier: MIT
// Which backend runs a call: the process's, the thread's, the call's; what callers registered; and `tile` in the place of one that cannot. Each test is a
// process of its own.
#include "tests/unit/runtime/Calls.h"
#include "tests/unit/runtime/Fake.h"
#include "tests/unit/runtime/LogLines.h"
#include "tests/unit/runtime/SpecPackage.h"
#include "tilegym/reference.h"
#include "tilegym/tilegym.hpp"
#include <thread>

using namespace tilegym::testing;
using Catch::Contains;

namespace {

/// A call of scaleOp.
struct Scale {
  Given x{memory(), TILEGYM_F32, {3, 8}}, y{memory() + (1 << 19), TILEGYM_F32, {3, 8}};
  const void *args[5] = {x.c(), nullptr, nullptr, nullptr, y.c()};
  TilegymStatus on(const Opened &o, int32_t backend) {
    return tilegym_call_on(o.package, 0, args, nullptr, backend);
  }
  TilegymStatus call(const Opened &o) { return tilegym_call(o.package, 0, args, nullptr); }
};

/// An implementation that notes its calls.
struct Mine {
  int calls = 0;
  TilegymStatus answer = TILEGYM_OK;
  const char *text = nullptr;
  void *stream = nullptr;
  static TilegymStatus run(void *user, TilegymPackage *, size_t, const void *const *, void *stream) {
    auto *mine = static_cast<Mine *>(user);
    ++mine->calls;
    mine->stream = stream;
    if (mine->text)
      tilegym_set_error(mine->text);
    return mine->answer;
  }
};

} // namespace

TEST_CASE("backends have names and numbers") {
  CHECK(tilegym_backend("tile") == TILEGYM_BACKEND_TILE);
  CHECK(tilegym_backend("reference") == TILEGYM_BACKEND_REFERENCE);
  CHECK(tilegym_backend("vendor") == TILEGYM_BACKEND_VENDOR);
  CHECK(tilegym_backend("mine") == TILEGYM_BACKEND_DEFAULT);
  CHECK(tilegym_backend(nullptr) == TILEGYM_BACKEND_DEFAULT);
  CHECK(tilegym_backend_name(3) == nullptr);
  Mine mine;
  REQUIRE(tilegym_register_impl("scale", "mine", Mine::run, &mine) == TILEGYM_OK);
  CHECK(tilegym_backend("mine") == 3);
  CHECK(std::string(tilegym_backend_name(3)) == "mine");
  CHECK(tilegym_current_backend() == TILEGYM_BACKEND_TILE);
  CHECK_THROWS_WITH(tilegym::Backend("yours"), "there is no backend 'yours'");
  CHECK(tilegym_set_backend(9) == TILEGYM_INVALID_ARGUMENT);
  CHECK(std::string(tilegym_last_error()) ==
        "backend number 9 does not exist; there are 0 to 3 (tilegym_backend gives a name's)");
}

TEST_CASE("a call goes to the backend that it names, else to its thread's, else to the process's") {
  fakeCuda();
  Opened opened(scaleOp());
  Mine mine, ours;
  REQUIRE(tilegym_register_impl("scale", "mine", Mine::run, &mine) == TILEGYM_OK);
  REQUIRE(tilegym_register_impl("scale", "ours", Mine::run, &ours) == TILEGYM_OK);
  Scale s;
  REQUIRE(s.call(opened) == TILEGYM_OK);
  CHECK((mine.calls == 0 && ours.calls == 0));
  REQUIRE(s.on(opened, tilegym_backend("mine")) == TILEGYM_OK);
  CHECK((mine.calls == 1 && ours.calls == 0));
  REQUIRE(tilegym_set_backend(tilegym_backend("ours")) == TILEGYM_OK);
  REQUIRE(s.call(opened) == TILEGYM_OK);
  CHECK((mine.calls == 1 && ours.calls == 1));
  {
    tilegym::UseBackend scope("mine");
    REQUIRE(s.call(opened) == TILEGYM_OK);
    CHECK((mine.calls == 2 && ours.calls == 1));
    {
      tilegym::UseBackend inner(TILEGYM_BACKEND_TILE);
      REQUIRE(s.call(opened) == TILEGYM_OK);
      CHECK((mine.calls == 2 && ours.calls == 1));
    }
    CHECK(tilegym::Backend::current().name() == "mine");
    std::thread([&] { // has none of its own
      CHECK(s.call(opened) == TILEGYM_OK);
      CHECK((mine.calls == 2 && ours.calls == 2));
    })
        .join();
    CHECK(tilegym::on("tile", [&] { return s.call(opened); }) == TILEGYM_OK);
    CHECK((mine.calls == 2 && ours.calls == 2));
    REQUIRE(s.on(opened, TILEGYM_BACKEND_DEFAULT) == TILEGYM_OK);
    CHECK(mine.calls == 3);
  }
  CHECK(tilegym::Backend::current().name() == "ours");
}

TEST_CASE("an implementation gets checked arguments and the stream, and its failures are the call's") {
  FakeCuda &fake = fakeCuda();
  Opened opened(scaleOp());
  Mine mine;
  REQUIRE(tilegym_register_impl("scale", "mine", Mine::run, &mine) == TILEGYM_OK);
  tilegym::UseBackend scope("mine");
  Scale s;
  void *stream = reinterpret_cast<void *>(size_t(64));
  REQUIRE(tilegym_call(opened.package, 0, s.args, stream) == TILEGYM_OK);
  CHECK(mine.stream == stream);
  mine.answer = TILEGYM_CUDA_ERROR;
  CHECK(s.call(opened) == TILEGYM_CUDA_ERROR);
  CHECK(std::string(tilegym_last_error()) == "scale: the backend mine failed and did not say why");
  mine.text = "no luck";
  CHECK(s.call(opened) == TILEGYM_CUDA_ERROR);
  CHECK(std::string(tilegym_last_error()) == "no luck");
  s.y.shape = {3, 7};
  s.y.c();
  CHECK(s.call(opened) == TILEGYM_INVALID_ARGUMENT);
  CHECK(mine.calls == 3);
  CHECK(fake.launches.empty());
  tilegym_set_error(nullptr);
  CHECK(std::string(tilegym_last_error()) == "no text");
}

TEST_CASE("registered anew, taken back, and what cannot be replaced") {
  FakeCuda &fake = fakeCuda();
  Opened opened(scaleOp());
  Lines log;
  Mine first, second;
  REQUIRE(tilegym_register_impl("scale", "mine", Mine::run, &first) == TILEGYM_OK);
  tilegym::UseBackend scope("mine");
  Scale s;
  REQUIRE(s.call(opened) == TILEGYM_OK);
  REQUIRE(tilegym_register_impl("scale", "mine", Mine::run, &second) == TILEGYM_OK);
  REQUIRE(s.call(opened) == TILEGYM_OK);
  CHECK((first.calls == 1 && second.calls == 1));
  REQUIRE(tilegym_register_impl("scale", "mine", nullptr, nullptr) == TILEGYM_OK);
  REQUIRE(s.call(opened) == TILEGYM_OK);
  CHECK((first.calls == 1 && second.calls == 1 && fake.launches.size() == 1));
  CHECK(tilegym_register_impl("scale", "tile", Mine::run, &first) == TILEGYM_INVALID_ARGUMENT);
  CHECK(std::string(tilegym_last_error()) == "scale: the backend tile runs what the package has and cannot "
                                             "be replaced; register under another name");
  CHECK(tilegym_register_impl("", "mine", Mine::run, &first) == TILEGYM_INVALID_ARGUMENT);
  for (int i = 4; i < TILEGYM_MAX_BACKENDS; ++i)
    REQUIRE(tilegym_register_impl("scale", ("b" + std::to_string(i)).c_str(), Mine::run, &first) ==
            TILEGYM_OK);
  CHECK(tilegym_register_impl("scale", "one more", Mine::run, &first) == TILEGYM_INVALID_ARGUMENT);
  CHECK(std::string(tilegym_last_error()) ==
        "scale: one more would be one backend more than the 16 that there can be");
}

TEST_CASE("tile runs what a backend lacks, after one warning an op and backend") {
  FakeCuda &fake = fakeCuda();
  fake.device = 1; // for which there is machine code: nothing else is said
  OpText other = scaleOp();
  other.name = "other";
  Opened opened(std::vector<OpText>{scaleOp(), other}), again(scaleOp());
  Mine mine;
  REQUIRE(tilegym_register_impl("neither", "mine", Mine::run, &mine) == TILEGYM_OK);
  tilegym::UseBackend scope("mine");
  Scale s;
  Lines log;
  for (int i = 0; i < 3; ++i)
    REQUIRE(s.call(opened) == TILEGYM_OK);
  REQUIRE(s.call(again) == TILEGYM_OK); // another package, the same op
  CHECK(fake.launches.size() == 4);
  CHECK(log.lines ==
        std::vector<std::string>{
            "1 scale is not implemented for mine; it is implemented for tile; tile runs it (said once; "
            "TILEGYM_DISABLE_FALLBACK=1 makes it an error)"});
  REQUIRE(tilegym_call(opened.package, 1, s.args, nullptr) == TILEGYM_OK);
  REQUIRE(log.lines.size() == 2);
  CHECK_THAT(log.lines[1], Contains("other is not implemented for mine"));
}

TEST_CASE("an implementation may decline a call before it has done anything") {
  FakeCuda &fake = fakeCuda();
  fake.device = 1; // for which there is machine code: nothing else is said
  Opened opened(scaleOp());
  Lines log;
  Mine mine;
  mine.answer = TILEGYM_UNAVAILABLE;
  mine.text = "only rows of 7";
  REQUIRE(tilegym_register_impl("scale", "mine", Mine::run, &mine) == TILEGYM_OK);
  Scale s;
  REQUIRE(s.on(opened, tilegym_backend("mine")) == TILEGYM_OK);
  CHECK((mine.calls == 1 && fake.launches.size() == 1));
  REQUIRE(log.lines.size() == 1);
  CHECK_THAT(
      log.lines[0],
      Contains("1 scale: mine does not take this call: only rows of 7; it is implemented for tile, mine"));
}

TEST_CASE("with fallbacks disabled, what is not implemented is an error that names who has it") {
  setenv("TILEGYM_DISABLE_FALLBACK", "1", 1);
  FakeCuda &fake = fakeCuda();
  tilegym_add_reference();
  Opened opened(opOfSpec(sourceFile("tests/unit/runtime/data/norm.tile"), {}, {0b0101}));
  Mine mine;
  REQUIRE(tilegym_register_impl("norm", "yours", Mine::run, &mine) == TILEGYM_OK);
  Given x(memory(), TILEGYM_F32, {3, 4}), y(memory() + 4096, TILEGYM_F32, {3, 4});
  const void *args[] = {x.c(), nullptr, nullptr, nullptr, y.c(), nullptr};
  CHECK(tilegym_call_on(opened.package, 0, args, nullptr, TILEGYM_BACKEND_VENDOR) == TILEGYM_UNAVAILABLE);
  CHECK(std::string(tilegym_last_error()) ==
        "norm is not implemented for vendor; it is implemented for tile, reference, yours");
  CHECK(fake.launches.empty());
}

TEST_CASE("no fallback where the package has no kernels, nor from the reference") {
  OpText none = scaleOp();
  none.variants.clear();
  Opened opened(none);
  Mine mine;
  REQUIRE(tilegym_register_impl("nothing", "mine", Mine::run, &mine) == TILEGYM_OK);
  Scale s;
  CHECK(s.on(opened, tilegym_backend("mine")) == TILEGYM_UNAVAILABLE);
  CHECK(std::string(tilegym_last_error()) ==
        "scale is not implemented for mine; it is implemented for no backend");
  CHECK(s.on(opened, TILEGYM_BACKEND_REFERENCE) == TILEGYM_UNAVAILABLE);
  CHECK(
      std::string(tilegym_last_error()) ==
      "the reference backend is not in this program; link TileGym::reference and call tilegym_add_reference");
  tilegym_add_reference();
  CHECK(s.on(opened, TILEGYM_BACKEND_REFERENCE) == TILEGYM_UNAVAILABLE);
  CHECK_THAT(tilegym_last_error(), Contains("holds no spec text"));
}

TEST_CASE("a thread of its own on the reference, beside others on the GPU") {
  FakeCuda &fake = fakeCuda();
  tilegym_add_reference();
  OpText op = opOfSpec(sourceFile("tests/unit/runtime/data/norm.tile"), {}, {0b0101});
  op.variants[0].images = {{80, 1, 0, std::string("0 ptx\0", 6)}};
  Opened opened(op);
  float x[4] = {3, 4, 0, 0}, y[4] = {};
  Given gx(x, TILEGYM_F32, {1, 4}), gy(y, TILEGYM_F32, {1, 4});
  const void *args[] = {gx.c(), nullptr, nullptr, nullptr, gy.c(), nullptr};
  tilegym::UseBackend scope("reference");
  std::thread([&] { CHECK(tilegym_call(opened.package, 0, args, nullptr) == TILEGYM_OK); }).join();
  CHECK((fake.launches.size() == 1 && y[0] == 0));
  REQUIRE(tilegym_call(opened.package, 0, args, nullptr) == TILEGYM_OK);
  CHECK((fake.launches.size() == 1 && y[0] == Approx(1.2)));
  void *block = nullptr; // of the host, as the thread's calls work there
  REQUIRE(tilegym_allocate(64, nullptr, &block) == TILEGYM_OK);
  CHECK(fake.count("cuMemAllocAsync") == 0);
  CHECK(tilegym_free(block, nullptr) == TILEGYM_OK);
}

TEST_CASE("what is available is asked without loading anything") {
  FakeCuda &fake = fakeCuda();
  Opened opened(scaleOp());
  Scale s;
  CHECK(tilegym_available(opened.package, 0, nullptr, TILEGYM_BACKEND_TILE) == TILEGYM_OK);
  CHECK(tilegym_available(opened.package, 0, s.args, TILEGYM_BACKEND_DEFAULT) == TILEGYM_OK);
  CHECK(tilegym_available(opened.package, 0, nullptr, TILEGYM_BACKEND_VENDOR) == TILEGYM_UNAVAILABLE);
  CHECK(std::string(tilegym_last_error()) ==
        "scale is not implemented for vendor; it is implemented for tile");
  int64_t slow = 0;
  s.args[3] = &slow;
  CHECK(tilegym_available(opened.package, 0, s.args, TILEGYM_BACKEND_TILE) == TILEGYM_NO_VARIANT);
  s.args[3] = nullptr;
  fake.devices[0].major = 7;
  fake.device = 1;
  fake.devices[1] = {7, 5, 40, "Fake T"};
  ++fake.generation;
  CHECK(tilegym_available(opened.package, 0, nullptr, TILEGYM_BACKEND_TILE) == TILEGYM_NO_IMAGE);
  CHECK(std::string(tilegym_last_error()) == "scale: no code for this GPU (Fake T, sm_75); the package has "
                                             "PTX for sm_80, sm_80: compile it with --arch for this GPU");
  CHECK(fake.count("cuLibraryLoadData") == 0);
  Mine mine;
  REQUIRE(tilegym_register_impl("scale", "mine", Mine::run, &mine) == TILEGYM_OK);
  CHECK(tilegym_available(opened.package, 0, s.args, tilegym_backend("mine")) == TILEGYM_OK);
  s.y.shape = {1, 1};
  s.y.c();
  CHECK(tilegym_available(opened.package, 0, s.args, tilegym_backend("mine")) == TILEGYM_INVALID_ARGUMENT);
  CHECK(mine.calls == 0);
}

TEST_CASE("implementations in C++: arguments by type, exceptions are errors") {
  fakeCuda();
  Opened opened(scaleOp());
  float seen = 0;
  int64_t rows = 0;
  REQUIRE(tilegym::registerImpl("scale", "mine", [&](const tilegym::Arguments &a) {
    seen = a.scalar<float>(2, 0.5f);
    rows = a.tensor(0)->shape[0];
    if (a.tensor(1))
      throw std::runtime_error("no b here");
    return TILEGYM_OK;
  }));
  Scale s;
  REQUIRE(s.on(opened, tilegym_backend("mine")) == TILEGYM_OK);
  CHECK((seen == 0.5f && rows == 3));
  Given b(memory() + 4096, TILEGYM_F32, {1});
  s.args[1] = b.c();
  CHECK(s.on(opened, tilegym_backend("mine")) == TILEGYM_INVALID_ARGUMENT);
  CHECK(std::string(tilegym_last_error()) == "no b here");
  CHECK_FALSE(
      tilegym::registerImpl("scale", "reference", [](const tilegym::Arguments &) { return TILEGYM_OK; }));
}

TEST_CASE("sixteen threads on backends of their own while implementations come and go") {
  fakeCuda();
  Opened opened(scaleOp());
  Lines log;
  std::atomic<int> reached{0}, failures{0};
  auto count = [](void *user, TilegymPackage *, size_t, const void *const *, void *) {
    ++*static_cast<std::atomic<int> *>(user);
    return TILEGYM_OK;
  };
  REQUIRE(tilegym_register_impl("scale", "mine", count, &reached) == TILEGYM_OK);
  std::vector<std::thread> threads;
  for (int i = 0; i < 16; ++i)
    threads.emplace_back([&, i] {
      tilegym::UseBackend scope(i % 2 ? "mine" : "tile");
      Scale s;
      for (int k = 0; k < 50; ++k) {
        failures += s.call(opened) != TILEGYM_OK;
        if (i == 1)
          failures += tilegym_register_impl("scale", "mine", count, &reached) != TILEGYM_OK;
      }
    });
  for (std::thread &thread : threads)
    thread.join();
  CHECK(failures == 0);
  CHECK(reached == 8 * 50);
}
