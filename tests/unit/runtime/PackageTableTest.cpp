// SPDX-License-Identifier: MIT
// Opening packages: what is truncated, altered, or inconsistent is refused with its reason, and no bytes at all make the loader crash.
#include "tests/unit/runtime/Calls.h"
#include <cstdio>
#include <functional>
#include <random>
#include <unistd.h>

using namespace tilegym::testing;
using Catch::Contains;

namespace {

/// The refusal of these bytes; "" where they are accepted.
std::string refusal(const std::string &block) {
  std::vector<uint64_t> words((block.size() + 7) / 8 + 1);
  std::memcpy(words.data(), block.data(), block.size());
  TilegymPackage *package = nullptr;
  TilegymStatus status = tilegym_package_open(words.data(), block.size(), &package);
  tilegym_package_close(package);
  REQUIRE((status == TILEGYM_OK || status == TILEGYM_BAD_PACKAGE));
  return status == TILEGYM_OK ? "" : tilegym_last_error();
}

std::string refusalOf(const OpText &op) { return refusal(PackageBuilder().build({op})); }

template <class T> void poke(std::string &block, size_t offset, T value) {
  std::memcpy(block.data() + offset, &value, sizeof value);
}

Header headerOf(const std::string &block) {
  Header header;
  std::memcpy(static_cast<void *>(&header), block.data(), sizeof header);
  return header;
}

} // namespace

TEST_CASE("a sound package opens and lists its ops") {
  OpText other = scaleOp();
  other.name = "other";
  Opened opened(std::vector<OpText>{scaleOp(), other});
  CHECK(tilegym_package_num_ops(opened.package) == 2);
  CHECK(std::string(tilegym_package_op_name(opened.package, 1)) == "other");
  CHECK(tilegym_package_op_name(opened.package, 2) == nullptr);
  CHECK(tilegym_package_num_ops(nullptr) == 0);
  CHECK(tilegym_package_op_name(nullptr, 0) == nullptr);
}

TEST_CASE("every truncation is refused") {
  std::string block = PackageBuilder().build({scaleOp()});
  for (size_t size = 0; size < block.size(); ++size)
    REQUIRE(refusal(block.substr(0, size)) != "");
  CHECK(refusal(block.substr(0, 20)) == "the embedded block is not a usable kernel package: it is too short; "
                                        "make it again with tilegymc compile");
  CHECK(refusal(block.substr(0, block.size() - 1)) ==
        "the embedded block is truncated or has bytes too many: " + std::to_string(block.size() - 1) +
            " bytes, but " + std::to_string(block.size()) + " expected");
  CHECK_THAT(refusal(block + "x"), Contains("truncated or has bytes too many"));
}

TEST_CASE("every altered byte of the table is refused") {
  std::string block = PackageBuilder().build({scaleOp()});
  size_t table = headerOf(block).imagesOffset;
  for (size_t i = 0; i < table; ++i) {
    std::string altered = block;
    altered[i] = char(altered[i] ^ 0x41);
    INFO("byte " << i);
    REQUIRE(refusal(altered) != "");
  }
  std::string altered = block;
  altered[table - 70] ^= 1;
  CHECK_THAT(refusal(altered), Contains("its table was altered (checksum)"));
}

TEST_CASE("the header's refusals") {
  std::string block = PackageBuilder().build({scaleOp()});
  std::string other = block;
  poke<uint32_t>(other, 0, 7);
  CHECK_THAT(refusal(other), Contains("it does not begin as one"));
  other = block;
  poke<uint32_t>(other, 4, 77);
  CHECK(refusal(other) == "the embedded block has format version 77, but this runtime reads version " +
                              std::to_string(kVersion) + "; compile it with the tilegymc of this runtime");
  other = block;
  poke<uint64_t>(other, offsetof(Header, imagesOffset), block.size() + 8);
  CHECK_THAT(refusal(other), Contains("its table lies outside"));
  TilegymPackage *package = nullptr;
  std::vector<uint64_t> words(block.size() / 8 + 2);
  char *odd = reinterpret_cast<char *>(words.data()) + 4;
  std::memcpy(odd, block.data(), block.size());
  CHECK(tilegym_package_open(odd, block.size(), &package) == TILEGYM_BAD_PACKAGE);
  CHECK_THAT(tilegym_last_error(), Contains("it does not lie at an address that is a multiple of 8"));
  CHECK(tilegym_package_open(nullptr, 1000, &package) == TILEGYM_BAD_PACKAGE);
  CHECK_THAT(tilegym_last_error(), Contains("it is too short"));
  CHECK(tilegym_package_open(words.data(), 8, nullptr) == TILEGYM_INVALID_ARGUMENT);
  CHECK(std::string(tilegym_last_error()) == "the address for the package is null");
}

TEST_CASE("what does not hold together is refused") {
  struct Row {
    const char *text;
    std::function<void(OpText &)> change;
  };
  const Row rows[] = {
      {"a name that is too long", [](OpText &o) { o.name = std::string(300, 'n'); }},
      {"a name that is too long", [](OpText &o) { o.variants[0].entry = std::string(300, 'n'); }},
      {"an op with too many tensors, dims or scalars", [](OpText &o) { o.dims.resize(65, {"D"}); }},
      {"an op with two groups of leading dims", [](OpText &o) { o.dims.push_back({"S", {}, true}); }},
      {"an unknown dtype", [](OpText &o) { o.typeVars[0].choices.push_back(15); }},
      {"a tensor without a dtype", [](OpText &o) { o.tensors[0].typeVar = 9; }},
      {"a scalar without a dtype", [](OpText &o) { o.scalars[0].typeVar = 9; }},
      {"a tensor that is out of range", [](OpText &o) { o.tensors[0].aliasOf = 40; }},
      {"a tensor that is out of range", [](OpText &o) { o.tensors[0].dims.resize(9, {1}); }},
      {"a tensor's dim that is out of range", [](OpText &o) { o.tensors[0].dims[1].dim = 2; }},
      {"a tensor's dim that is out of range", [](OpText &o) { o.tensors[0].dims[1].isGroup = true; }},
      {"a tensor's dim that is out of range", [](OpText &o) { o.tensors[1].dims[0].isGroup = true; }},
      {"an expression without a value", [](OpText &o) { o.tensors[0].dims[1].dim = kNone; }},
      {"an expression without a value", [](OpText &o) { o.checks.push_back({{}, "never"}); }},
      {"an expression without a value", [](OpText &o) { o.variants[0].grid[0].clear(); }},
      {"an expression that names nothing", [](OpText &o) { o.kernels[0].guard = {dim(2)}; }},
      {"an expression that lacks an operand", [](OpText &o) { o.kernels[0].guard = {inst(OpCode::AddI)}; }},
      {"an expression with an unknown instruction",
       [](OpText &o) { o.kernels[0].guard = {inst(OpCode(900))}; }},
      {"an expression with more than one value",
       [](OpText &o) { o.kernels[0].guard = {number(1), number(2)}; }},
      {"an expression that is too deep", [](OpText &o) { o.kernels[0].guard = Code(65, number(1)); }},
      {"a kernel's parameters that do not match", [](OpText &o) { o.kernels[0].params = {"BN"}; }},
      {"a variant of no kernel", [](OpText &o) { o.variants[0].kernel = 3; }},
      {"a variant whose lists do not match its op", [](OpText &o) { o.variants[0].dtypes.pop_back(); }},
      {"a variant whose lists do not match its op", [](OpText &o) { o.variants[0].threads = 2048; }},
      {"a variant whose lists do not match its op", [](OpText &o) { o.variants[0].threads = 0; }},
      {"a variant whose lists do not match its op", [](OpText &o) { o.variants[0].sharedBytes = 1 << 21; }},
      {"a variant whose lists do not match its op",
       [](OpText &o) { o.variants[0].grid.resize(5, {number(1)}); }},
      {"an image that lies outside", [](OpText &o) { o.variants[0].images[0].kind = 2; }},
      {"an image that lies outside", [](OpText &o) { o.variants[0].images[0].unpacked = kMaxImage + 1; }},
      {"a parameter of no tensor",
       [](OpText &o) { o.variants[0].layout[0] = {ParamKind::TensorPointer, 3, 0}; }},
      {"a parameter of no tensor", [](OpText &o) { o.variants[0].layout[0] = {ParamKind::Stride, 3, 0}; }},
      {"a parameter of no tensor",
       [](OpText &o) { o.variants[0].layout[0] = {ParamKind::GroupStride, 3, 0}; }},
      {"a parameter of no axis", [](OpText &o) { o.variants[0].layout[0] = {ParamKind::Stride, 0, 2}; }},
      {"a parameter of no axis", [](OpText &o) { o.variants[0].layout[0] = {ParamKind::GroupExtent, 0, 7}; }},
      {"a parameter of no axis", [](OpText &o) { o.variants[0].layout[0] = {ParamKind::GroupStride, 0, 7}; }},
      {"a parameter of no dim", [](OpText &o) { o.variants[0].layout[0] = {ParamKind::Dim, 2, 0}; }},
      {"a parameter of no dim", [](OpText &o) { o.variants[0].layout[0] = {ParamKind::GroupExtent, 2, 0}; }},
      {"a parameter of no scalar", [](OpText &o) { o.variants[0].layout[0] = {ParamKind::Scalar, 2, 0}; }},
      {"a parameter of no grid axis", [](OpText &o) { o.variants[0].layout[0] = {ParamKind::Grid, 2, 0}; }},
      {"a parameter of no tensor map",
       [](OpText &o) { o.variants[0].layout[0] = {ParamKind::TensorMap, 0, 0}; }},
      {"a tensor map of no tensor", [](OpText &o) { o.variants[0].maps = {{3, 0, {{1, 0, 64, 0, 0}}}}; }},
      {"a tensor map that no driver takes", [](OpText &o) { o.variants[0].maps = {{0, 0, {}}}; }},
      {"a tensor map that no driver takes",
       [](OpText &o) { o.variants[0].maps = {{0, 0, std::vector<MapAxis>(6, {1, 0, 1, 0, 0})}}; }},
      {"a tensor map that no driver takes",
       [](OpText &o) { o.variants[0].maps = {{0, 48, {{1, 0, 64, 0, 0}}}}; }},
      {"a tensor map of no dim", [](OpText &o) { o.variants[0].maps = {{0, 0, {{2, 0, 64, 0, 0}}}}; }},
      {"a tensor map of no dim", [](OpText &o) { o.variants[0].maps = {{0, 0, {{kNone, 0, 64, 0, -1}}}}; }},
      {"a tensor map of no axis",
       [](OpText &o) { o.variants[0].maps = {{0, 0, {{1, 0, 64, 0, 0}, {0, 2, 1, 0, 0}}}}; }},
      {"a variant whose lists do not match its op",
       [](OpText &o) { o.variants[0].maps.resize(17, {0, 0, {{1, 0, 64, 0, 0}}}); }},
      {"a parameter of an unknown kind", [](OpText &o) { o.variants[0].layout[0] = {ParamKind(99), 0, 0}; }},
  };
  for (const Row &row : rows) {
    OpText op = scaleOp();
    row.change(op);
    CHECK(refusalOf(op) == std::string("the embedded block is not a usable kernel package: ") + row.text +
                               "; make it again with tilegymc compile");
  }
}

TEST_CASE("records that no op would give") {
  std::string block = PackageBuilder().build({scaleOp()});
  Op op;
  size_t place = headerOf(block).ops.offset;
  std::memcpy(static_cast<void *>(&op), block.data() + place, sizeof op);
  auto with = [&](auto change) {
    std::string other = block;
    Op changed = op;
    change(other, changed);
    std::memcpy(other.data() + place, &changed, sizeof changed);
    PackageBuilder::seal(other);
    return refusal(other);
  };
  CHECK_THAT(with([](std::string &, Op &o) { o.tensors.offset = 1u << 30; }),
             Contains("a slice that lies outside"));
  CHECK_THAT(with([](std::string &, Op &o) { o.tensors.count = 0xffffffff; }),
             Contains("a slice that lies outside"));
  CHECK_THAT(with([](std::string &, Op &o) { o.tensors.offset += 2; }),
             Contains("a slice that lies outside"));
  CHECK_THAT(with([](std::string &b, Op &o) { poke<uint32_t>(b, o.arguments.offset + 4, 60); }),
             Contains("an argument that is out of range"));
  CHECK_THAT(with([](std::string &, Op &o) { o.arguments.count -= 1; }),
             Contains("an op whose arguments are not its tensors and scalars"));
  CHECK_THAT(
      with([](std::string &b, Op &o) { poke<uint32_t>(b, o.dims.offset + offsetof(Dim, bindTensor), 60); }),
      Contains("a dim bound to nothing"));
}

TEST_CASE("random bytes and mutated packages never crash") {
  std::string block = PackageBuilder().build({scaleOp()});
  std::mt19937_64 random(7);
  size_t accepted = 0;
  for (int i = 0; i < 3000; ++i) {
    std::string bytes = block;
    if (i % 10 == 0) {
      for (char &c : bytes)
        c = char(random());
    } else {
      // Checksums made right, so that the walk itself is tried.
      for (uint64_t k = 0, n = 1 + random() % 4; k < n; ++k) {
        size_t at = sizeof(Header) + random() % (headerOf(block).imagesOffset - sizeof(Header));
        bytes[at] = random() % 2 ? char(random()) : char(bytes[at] + (random() % 2 ? 1 : -1));
      }
      PackageBuilder::seal(bytes);
    }
    accepted += refusal(bytes).empty();
  }
  CHECK(accepted > 100); // names, numbers and padding may be anything
  CHECK(accepted < 2700);
}

TEST_CASE("packages from files") {
  TilegymPackage *package = nullptr;
  CHECK(tilegym_package_open_file("no/such/file.tgk", &package) == TILEGYM_BAD_PACKAGE);
  CHECK(std::string(tilegym_last_error()) ==
        "cannot open the package 'no/such/file.tgk': No such file or directory");
  CHECK(tilegym_package_open_file("/", &package) == TILEGYM_BAD_PACKAGE);
  CHECK(std::string(tilegym_last_error()) == "cannot read the package '/': it is no file");
  CHECK(tilegym_package_open_file(nullptr, &package) == TILEGYM_INVALID_ARGUMENT);
  CHECK(std::string(tilegym_last_error()) == "the file's name or the address for the package is null");

  std::string path = "runtime-test-" + std::to_string(getpid()) + ".tgk",
              block = PackageBuilder().build({scaleOp()});
  auto write = [&](const std::string &bytes) {
    std::FILE *file = std::fopen(path.c_str(), "wb");
    std::fwrite(bytes.data(), 1, bytes.size(), file);
    std::fclose(file);
  };
  write(block);
  REQUIRE(tilegym_package_open_file(path.c_str(), &package) == TILEGYM_OK);
  CHECK(tilegym_package_num_ops(package) == 1);
  tilegym_package_close(package);
  write("");
  CHECK(tilegym_package_open_file(path.c_str(), &package) == TILEGYM_BAD_PACKAGE);
  CHECK(std::string(tilegym_last_error()) == "'" + path +
                                                 "' is not a usable kernel package: it is too short; make "
                                                 "it again with tilegymc compile");
  std::remove(path.c_str());
}

TEST_CASE("the embedded package opens once") {
  std::string block = PackageBuilder().build({scaleOp()});
  std::vector<uint64_t> words(block.size() / 8 + 1);
  std::memcpy(words.data(), block.data(), block.size());
  TilegymPackage *slot = nullptr;
  REQUIRE(tilegym_embedded(words.data(), block.size(), &slot) == TILEGYM_OK);
  TilegymPackage *first = slot;
  REQUIRE(tilegym_embedded(words.data(), block.size(), &slot) == TILEGYM_OK);
  CHECK(slot == first);
  tilegym_package_close(slot);
  slot = nullptr;
  CHECK(tilegym_embedded(words.data(), 8, &slot) == TILEGYM_BAD_PACKAGE);
  CHECK(slot == nullptr);
}
