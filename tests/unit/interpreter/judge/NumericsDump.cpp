// SPDX-License-Identifier: MIT
// Runs one numerics operation over raw arrays, standard input to standard output, so that a script can judge
// the bits:
//   numerics_dump convert FROM TO rn|rz|rm|rp|default 0|1|default
//   numerics_dump unary|binary|fma|compare|isnan|tf32 OP DTYPE      (operands one after the other)
//   numerics_dump npy copy DTYPE                                    (a .npy file, read and written again)
#include "compiler/interpreter/Npy.h"
#include "compiler/interpreter/Numerics.h"

#include <cstdio>
#include <cstring>
#include <iterator>
#include <string>
#include <vector>

using namespace tilegym;
using namespace tilegym::interp;

namespace {

int fail(const std::string &message) {
  std::fprintf(stderr, "numerics_dump: %s\n", message.c_str());
  return 1;
}

std::vector<char> readAll() {
  std::vector<char> bytes;
  char buffer[65536];
  for (size_t got; (got = std::fread(buffer, 1, sizeof buffer, stdin)) > 0;)
    bytes.insert(bytes.end(), buffer, buffer + got);
  return bytes;
}

template <size_t count> int find(const char *const (&names)[count], const std::string &text) {
  for (size_t i = 0; i < count; ++i)
    if (text == names[i])
      return static_cast<int>(i);
  return -1;
}

const char *const unaryNames[] = {"neg",   "abs",  "not",   "sqrt",  "rsqrt",   "exp", "exp2",
                                  "log",   "log2", "sin",   "cos",   "tanh",    "erf", "sigmoid",
                                  "floor", "ceil", "round", "trunc", "pow2ceil"};
const char *const binaryNames[] = {"add",  "sub",  "mul", "div", "floordiv", "mod", "pow", "min", "max",
                                   "fmin", "fmax", "and", "or",  "xor",      "shl", "shr", "cdiv"};
const char *const compareNames[] = {"eq", "ne", "lt", "le", "gt", "ge"};
const char *const roundingNames[] = {"rn", "rz", "rm", "rp"};

} // namespace

int main(int argc, char **argv) {
  std::vector<std::string> args(argv + 1, argv + argc);
  if (args.size() < 3)
    return fail("too few arguments");
  auto type = parseDType(args[0] == "convert" ? args[1] : args[2]);
  if (!type)
    return fail("no such dtype");
  std::vector<char> in = readAll();
  if (args[0] == "npy") {
    std::string error;
    auto tensor = decodeNpy({in.data(), in.size()}, type, error);
    if (!tensor)
      return fail(error);
    std::string out = encodeNpy(*tensor);
    return std::fwrite(out.data(), 1, out.size(), stdout) == out.size() ? 0 : fail("cannot write");
  }
  size_t operands = args[0] == "binary" || args[0] == "compare" ? 2 : args[0] == "fma" ? 3 : 1;
  size_t count = in.size() / sizeInBytes(*type) / operands;
  auto operand = [&](size_t i) { return Source{in.data() + i * count * sizeInBytes(*type), 1}; };
  std::vector<char> out(count * sizeInBytes(*type));
  bool defined = true;

  if (args[0] == "convert" && args.size() == 5) {
    auto to = parseDType(args[2]);
    if (!to)
      return fail("no such dtype");
    Conversion options;
    if (int mode = find(roundingNames, args[3]); mode >= 0)
      options.round = static_cast<Rounding>(mode);
    if (args[4] != "default")
      options.saturate = args[4] == "1";
    out.resize(count * sizeInBytes(*to));
    convert(*type, operand(0), *to, out.data(), count, options);
  } else if (args[0] == "tf32") {
    for (size_t i = 0; i < count; ++i) {
      float value;
      std::memcpy(&value, in.data() + 4 * i, 4);
      value = roundToTf32(value);
      std::memcpy(out.data() + 4 * i, &value, 4);
    }
  } else if (int op = find(unaryNames, args[1]); args[0] == "unary" && op >= 0) {
    defined = unary(static_cast<UnaryOp>(op), *type, operand(0), out.data(), count);
  } else if (int op = find(binaryNames, args[1]); args[0] == "binary" && op >= 0) {
    defined = binary(static_cast<BinaryOp>(op), *type, operand(0), operand(1), out.data(), count);
  } else if (args[0] == "fma") {
    defined = fma(*type, operand(0), operand(1), operand(2), out.data(), count);
  } else if (int op = find(compareNames, args[1]); args[0] == "compare" && op >= 0) {
    out.resize(count);
    compare(static_cast<CompareOp>(op), *type, operand(0), operand(1),
            reinterpret_cast<uint8_t *>(out.data()), count);
  } else if (args[0] == "isnan") {
    out.resize(count);
    isNan(*type, operand(0), reinterpret_cast<uint8_t *>(out.data()), count);
  } else {
    return fail("no such operation");
  }
  if (!defined)
    return fail("the dtype has no such operation");
  return std::fwrite(out.data(), 1, out.size(), stdout) == out.size() ? 0 : fail("cannot write");
}
