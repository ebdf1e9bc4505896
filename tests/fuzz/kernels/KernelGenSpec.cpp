// SPDX-License-Identifier: MIT
// The spec around a kernel: its grid, interface, knobs, and the calls that its test section makes.
#include "tests/fuzz/kernels/KernelGen.h"
#include "tests/fuzz/kernels/KernelGenerator.h"
#include <algorithm>

namespace tilegym::fuzz {

std::string generateKernel(uint64_t seed) { return KernelGenerator(seed).run(); }

static std::string joined(const std::vector<std::string> &list, const char *between) {
  std::string text;
  for (size_t i = 0; i < list.size(); ++i)
    text += (i ? between : "") + list[i];
  return text;
}

/// One to three axes, each walked by blocks; or one axis of blocks whose number is taken apart; or blocks that stay.
void KernelGenerator::planGrid() {
  size_t rank = chance(45) ? 1 : chance(75) ? 2 : 3;
  int64_t room = largest;
  for (size_t a = 0; a < rank; ++a) {
    GridAxis axis;
    axis.dim = a;
    axis.tile = tileExtent(std::min<int64_t>(room, a + 1 == rank ? 128 : 32));
    room = std::max<int64_t>(1, room / axis.tile);
    axis.index = "i" + std::to_string(a);
    axis.tileText = std::to_string(axis.tile);
    if (chance(40)) {
      axis.tileText = "B" + std::to_string(a);
      params.push_back(axis.tileText);
      tune.push_back(axis.tileText + " = " + std::to_string(axis.tile));
    }
    DimName dim;
    dim.name = "D" + std::to_string(a);
    dim.most = rounded(std::max<int64_t>(axis.tile * (rank == 1 ? 4 : rank == 2 ? 3 : 2), 3) + between(0, 3));
    dim.isGroup = a == 0 && chance(15);
    dims.push_back(dim);
    axes.push_back(axis);
  }
  std::vector<std::string> counts, names;
  for (const GridAxis &axis : axes) {
    counts.push_back(axis.tile == 1 && axis.tileText == "1"
                         ? dims[axis.dim].name
                         : "cdiv(" + dims[axis.dim].name + ", " + axis.tileText + ")");
    names.push_back(axis.index);
  }
  auto known = [&] {
    for (const GridAxis &axis : axes) {
      Term term = raw(axis.index, DType::Index, {});
      term.high = (dims[axis.dim].most - 1) / axis.tile;
      scope.push_back(term);
    }
  };
  unsigned form = unsigned(random.below(10));
  std::string total = joined(counts, " * ");
  if (form < 5 || rank > 2) {
    line("grid(" + joined(counts, ", ") + ")");
    if (rank > 1 && chance(50)) {
      line("let (" + joined(names, ", ") + ") = blocks()");
    } else {
      for (size_t a = 0; a < rank; ++a)
        line("let " + names[a] + " = block(" + std::to_string(a) + ")");
    }
    return known();
  }
  std::string number = "block(0)";
  if (form < 8) {
    line("grid(" + total + ")");
  } else {
    isPersistent = true;
    inOddFlow = true;
    line("grid(min(sm_count(), " + total + "))");
    line("for t in block(0) .. " + total + " step num_blocks(0) {");
    ++indent;
    number = "t";
  }
  if (rank == 1) {
    line("let i0 = " + number);
  } else if (chance(40)) {
    line("let (i0, i1) = swizzle(" + number + ", " + counts[0] + ", " + counts[1] + ", " +
         std::to_string(between(1, 4)) + ")");
  } else {
    line("let i0 = " + number + " // " + counts[1]);
    line("let i1 = " + number + " % " + counts[1]);
  }
  known();
}

std::string KernelGenerator::header() const {
  std::vector<std::string> given, results;
  // A dim needs an input that has it, before anything is made of it.
  for (const DimName &dim : dims)
    given.push_back("d" + dim.name.substr(1) + ": u8[" + (dim.isGroup ? "*" : "") + dim.name + "]");
  for (const InputTensor &input : inputs)
    given.push_back(input.name + ": " + nameOf(input.dtype) + "[" + joined(input.dims, ", ") + "]");
  for (const OutputTensor &out : outputs) {
    std::string type = nameOf(out.dtype) + "[" + joined(out.dims, ", ") + "]";
    if (out.isInout)
      given.push_back("inout " + out.name + ": " + type);
    else
      results.push_back(out.name + ": " + type + (out.fill.empty() ? "" : " = " + out.fill));
  }
  for (const auto &[called, dtype] : scalars)
    given.push_back(called + ": " + nameOf(dtype));
  if (hasOptional)
    given.push_back("optional: f32[" + std::to_string(rounded(5)) + "]?");
  if (hasFlag)
    given.push_back("const flag: bool");
  if (hasMode)
    given.push_back("const mode: up | down");
  std::string text =
      "op fuzz" + std::to_string(seed) + "(" + joined(given, ", ") + ") -> (" + joined(results, ", ") + ")\n";
  for (const DimName &dim : dims)
    if (!dim.choices.empty())
      text += "  where " + dim.name + ": " + std::to_string(dim.choices[0]) + "\n";
  if (nondeterministic)
    text += "  nondeterministic\n";
  text += "\nreference {\n";
  for (const OutputTensor &out : outputs)
    if (!out.isInout)
      text += "  " + out.name + " = " + nameOf(out.dtype) + (isBool(out.dtype) ? "(false)\n" : "(0)\n");
  return text + "}\n\n";
}

static std::string fillingOf(DType dtype) {
  return isBool(dtype) ? "randint(0, 2)" : isFloat(dtype) ? "normal" : "randint(0, 100)";
}

/// Dims at random: ragged ends, whole tiles, single elements; in the last case the first dim is 0, and no block runs.
std::string KernelGenerator::caseText(int number) {
  std::vector<std::string> settings;
  for (size_t d = 0; d < dims.size(); ++d) {
    const DimName &dim = dims[d];
    int64_t extent = number == 3 && d == 0 ? 0
                     : chance(15)          ? dim.least
                     : chance(20)          ? dim.most
                                           : between(dim.least, dim.most);
    for (const GridAxis &axis : axes)
      if (axis.dim == d && extent > 0 && chance(40))
        extent = std::max<int64_t>(1, extent / axis.tile) * axis.tile; // whole tiles
    if (number < 2)
      extent = rounded(std::max<int64_t>(extent, 1));
    extent = std::min(extent, dim.most);
    if (!dim.choices.empty())
      extent = dim.choices[0];
    std::string text = std::to_string(extent);
    if (dim.isGroup && extent > 1 && !hasWholeVectors && chance(60)) {
      int64_t outer = extent % 3 == 0 ? 3 : extent % 2 == 0 ? 2 : 1;
      text = "[" + std::to_string(outer) + ", " + std::to_string(extent / outer) + "]";
    }
    settings.push_back(dim.name + " = " + text);
  }
  for (const DimName &dim : dims)
    settings.push_back("d" + dim.name.substr(1) + " = 0");
  for (const InputTensor &input : inputs)
    if (!input.filling.empty())
      settings.push_back(input.name + " = " + input.filling);
  for (const OutputTensor &out : outputs)
    if (out.isInout)
      settings.push_back(out.name + " = " + fillingOf(out.dtype));
  for (const auto &[called, dtype] : scalars)
    settings.push_back(called + " = " +
                       (isFloat(dtype) ? pick({"0.5", "-3", "1", "7"}) : std::to_string(between(0, 9))));
  if (hasOptional && chance(50))
    settings.push_back("optional = None");
  if (hasFlag)
    settings.push_back(std::string("flag = ") + (chance(50) ? "true" : "false"));
  if (hasMode)
    settings.push_back(std::string("mode = ") + (chance(50) ? "up" : "down"));
  return joined(settings, "; ");
}

std::string KernelGenerator::tests() {
  std::string text = "test {\n";
  for (int number = 0; number < 3; ++number)
    text += "  case \"c" + std::to_string(number) + "\" { " + caseText(number) + " }\n";
  std::string expected;
  for (const OutputTensor &out : outputs)
    if (expected.empty() && !out.isInout && !out.dims.empty() && out.dims[0].find("D0") != std::string::npos)
      expected = "expect " + out.name + " = []";
  text += "  case \"empty\" { " + caseText(3) + "; " + expected + " }\n  tolerance {";
  std::vector<DType> dtypes;
  for (const OutputTensor &out : outputs)
    if (std::find(dtypes.begin(), dtypes.end(), out.dtype) == dtypes.end())
      dtypes.push_back(out.dtype);
  for (DType dtype : dtypes)
    text += " " + nameOf(dtype) + ": 0;";
  text.back() = ' ';
  return text + "}\n}\nbench none \"a kernel of the fuzzer\"\n";
}

std::string KernelGenerator::run() {
  budget = int(between(10, 60));
  largest = chance(70) ? 256 : chance(90) ? 1024 : 2048;
  hasWholeVectors = chance(50);
  planGrid();
  hasFlag = chance(10);
  hasMode = hasFlag && chance(30);
  for (int64_t n = chance(50) ? 0 : between(1, 2); n > 0; --n)
    scalars.emplace_back("s" + std::to_string(n),
                         pick({DType::F32, DType::I32, DType::I64, DType::U64, DType::F16}));
  facts();
  hasOptional = chance(8);
  if (hasOptional)
    optionalInput();
  output(anyDType(), "store");
  OutputTensor first = outputs[0];
  std::string region = first.regions[0];
  if (first.fill.empty()) // every element, at the head
    line("store(" + region + ", " + loose(first.dtype, first.span, 3).text + ")");
  statements(int(between(2, 8)), 4);
  line("store(" + region + ", " + loose(first.dtype, first.span, 4).text + ")");
  if (isPersistent) {
    --indent;
    line("}");
  }
  // Not so many registers a thread that compiling one takes a minute.
  tune.push_back("warps = " + std::to_string(std::max<int64_t>(largest / 512, pick({1, 1, 2, 2, 4, 4, 8}))));

  std::string special, near;
  for (const InputTensor &input : inputs)
    if (input.specials)
      special += " " + input.name;
  for (const OutputTensor &out : outputs)
    if (!out.tolerance.empty())
      near += "# fuzz near " + out.name + " " + out.tolerance + "\n";
  std::string text = "# fuzz seed " + std::to_string(seed) + "\n" +
                     (special.empty() ? "" : "# fuzz specials" + special + "\n") + near;
  for (const std::string &function : functions)
    text += function + "\n";
  std::string interface = header();
  text += interface + "kernel k(" + joined(params, ", ") + ")" + guard + " {\n" + joined(body, "\n") +
          "\n}\ntune k { " + joined(tune, "; ") + " }\n\n";
  return text + tests();
}

} // namespace tilegym::fuzz
