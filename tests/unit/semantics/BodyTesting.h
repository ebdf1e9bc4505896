// SPDX-License-Identifier: MIT
// Bodies under test without a whole spec around each: a body stands in the reference, kernel or plan of a standard op. In a body that
// must fail, @{ and }@ enclose the place that the one diagnostic has to name.
#pragma once
#include "compiler/semantics/CheckedDump.h"
#include "compiler/syntax/Parser.h"
#include <catch2/catch.hpp>

namespace tilegym::sem::testing {

/// The standard op's signature; `T` is f32 first, `flag` true, `mode` mean, `D` 64, everything optional given.
inline const std::string kSignature = R"(
op t(x: T[M, N], b: T[B, D], w: T[N]?, ids: i32[M, N], mask: bool[M, N], c8: i8[M, N], u: u32[M], inout state: f32[M, N], d: f64[M],
     half: f16[M, N], brain: bf16[M, N], e8: f8e4m3[M, N], list la: T[P[], Q[]], eps: f32 = 1e-6, n: i32 = 4, seed: u64 = 1, const flag: bool = true,
     const mode: mean | none = mean)
  -> (y: T[M, N], h: i32[64] = 0, g: f32[M] = 0, s: f32[M]?)
  where T: f32 | f16, D: 64 | 128
)";

struct Parts {
  std::string reference = "y = x";
  std::string kernels =
      "kernel k(BM, BN) { grid(M); store(y[0, 0], 0) }\ntune k { BM in [32]; BN in [64]; warps in [4] }\n";
  std::string fns, signature = kSignature;
};

/// Everything that must outlive the diagnostics.
struct Loaded {
  std::shared_ptr<const ast::Spec> spec;
  std::shared_ptr<const OpModel> op;
  DiagnosticSink sink;
};

inline std::unique_ptr<Loaded> loadText(const std::string &text) {
  auto loaded = std::make_unique<Loaded>();
  auto file = std::make_shared<SourceFile>("t.tile", text);
  loaded->spec = std::make_shared<ast::Spec>(parseSpec(file, loaded->sink));
  if (!loaded->sink.hasErrors())
    loaded->op = analyze(loaded->spec, {}, loaded->sink);
  return loaded;
}

inline std::string specText(const Parts &parts) {
  return "## A test." + parts.signature + parts.fns + "\nreference {\n" + parts.reference + "\n}\n" +
         parts.kernels + R"(
test {
  M = 1; N = 1; B = 1; D = 64; P = [1]; Q = [1]; T in all; flag = true; mode = mean
  ids = iota; mask = randint(0, 1); c8 = iota; u = iota
  case "one" { x = [[1]]; expect y = [[1]] }
  tolerance { f32: 1e-6; f16: 1e-3 }
}
bench none "a test"
)";
}

inline Parts kernelParts(const std::string &body, const std::string &fns = "") {
  Parts parts;
  parts.fns = fns;
  parts.kernels =
      "kernel k(BM, BN) {\ngrid(M)\n" + body + "\n}\ntune k { BM in [32]; BN in [64]; warps in [4] }\n";
  return parts;
}
inline Parts referenceParts(const std::string &body, const std::string &fns = "") {
  Parts parts;
  parts.fns = fns;
  parts.reference = body;
  return parts;
}
/// A plan's body beside a kernel `part` that takes a buffer and a scalar.
inline Parts planParts(const std::string &body) {
  Parts parts;
  parts.kernels = R"(
kernel part(BN, p: f32[M, K], v: i32) { grid(M); store(p[0, 0], 1); store(y[0, 0], f32(v)); store(p[0, v], f32(K)) }
plan k(BM, BN) {
)" + body + "\n}\ntune k { BM in [32]; BN in [64]; warps in [4] }\n";
  return parts;
}

/// The dump of the first specialization of the kernel or plan `k`, or of the reference; errors instead, if there were any.
inline std::string checkedText(const Parts &parts, bool reference = false, size_t variant = 0) {
  auto loaded = loadText(specText(parts));
  if (!loaded->op)
    return renderAll(loaded->sink);
  const OpModel &op = *loaded->op;
  Specialization interface = enumerateInterfaces(op)[variant];
  if (reference) {
    auto result = instantiateReference(op, interface, loaded->sink);
    return result ? dump(op, *result) : renderAll(loaded->sink);
  }
  int64_t k = 0;
  while (op.kernels[size_t(k)].name != "k")
    ++k;
  auto points = candidates(op, enumerateDerived(op, interface, k).at(0), "", loaded->sink);
  if (op.kernels[size_t(k)].isPlan) {
    auto plan = instantiatePlan(op, points.at(0), loaded->sink);
    return plan ? dump(op, *plan) : renderAll(loaded->sink);
  }
  auto kernel = instantiateKernel(op, points.at(0), loaded->sink);
  return kernel ? dump(op, *kernel) : renderAll(loaded->sink);
}

/// The statements of a kernel's dump after its grid, without indentation.
inline std::string kernelText(const std::string &body, const std::string &fns = "") {
  std::string text = checkedText(kernelParts(body + "\nstore(y[0, 0], 0)", fns));
  size_t grid = text.find("  grid M\n");
  if (grid == std::string::npos)
    return text;
  text = text.substr(grid + 9);
  size_t end = text.find("  store(view_index(y, [0:index, 0:index])[], 0.0:f32)\n}\n");
  std::string lines;
  for (size_t at = 0; at < std::min(end, text.size());) {
    size_t eol = text.find('\n', at);
    lines += text.substr(at + 2, eol - at - 1);
    at = eol + 1;
  }
  return lines;
}

inline std::string referenceText(const std::string &body, const std::string &fns = "") {
  std::string text = checkedText(referenceParts(body + "\ny = x", fns), true);
  size_t begin = text.find("{\n"), end = text.find("  y = load(x, 0.0:f32):f32[?, ?]\n}\n");
  if (begin == std::string::npos || end == std::string::npos)
    return text;
  std::string lines;
  for (size_t at = begin + 2; at < end;) {
    size_t eol = text.find('\n', at);
    lines += text.substr(at + 2, eol - at - 1);
    at = eol + 1;
  }
  return lines;
}

/// `7..9 message | help | note`, a line each: what is compared, so that a failure shows all of it.
inline std::string line(size_t begin, size_t end, const std::string &message, const std::string &help,
                        const std::string &note) {
  return std::to_string(begin) + ".." + std::to_string(end) + " " + message +
         (help.empty() ? "" : " | " + help) + (note.empty() ? "" : " | " + note) + "\n";
}

/// Checks that the spec gives one error, with this text and help, at the place in @{ }@.
inline void expectError(Parts parts, const std::string &message, const std::string &help = "",
                        const std::string &note = "") {
  std::string text = specText(parts);
  size_t begin = text.find("@{"), end = text.find("}@");
  REQUIRE(begin < end);
  text.erase(end, 2).erase(begin, 2);
  auto loaded = loadText(text);
  if (loaded->op)
    CHECK_FALSE(checkSpec(*loaded->op, loaded->sink));
  std::string found;
  for (const Diagnostic &d : loaded->sink.all())
    found += line(d.range.begin, d.range.end, d.message, d.help, d.notes.empty() ? "" : d.notes[0].message);
  CHECK(found == line(begin, end - 2, message, help, note));
}

struct BadBody {
  const char *body, *message, *help = "", *note = "";
};
inline void expectKernelErrors(std::initializer_list<BadBody> rows, const std::string &fns = "") {
  for (const BadBody &row : rows)
    expectError(kernelParts(std::string(row.body) + "\nstore(y[0, 0], 0)", fns), row.message, row.help,
                row.note);
}
inline void expectReferenceErrors(std::initializer_list<BadBody> rows, const std::string &fns = "") {
  for (const BadBody &row : rows)
    expectError(referenceParts(std::string(row.body) + "\ny = x", fns), row.message, row.help, row.note);
}
inline void expectPlanErrors(std::initializer_list<BadBody> rows) {
  for (const BadBody &row : rows)
    expectError(planParts(row.body), row.message, row.help, row.note);
}

} // namespace tilegym::sem::testing
