// SPDX-License-Identifier: MIT
// Kernels for the simulator written in C++: each instruction is an `Op` made before the launch (its site is the line that made it), and
// called from the kernel as compiled code would.
//
//   Op shuffle("shuffle", {.attributes = {0}, .operands = {32, 32}, .results = {32}});
//   Run run;
//   Report report = run({.block = {32}}, [&] { uint64_t got = shuffle({value, 16}); });
#pragma once
#include "compiler/simulator/Instructions.h"
#include "compiler/simulator/Machine.h"
#include <array>
#include <bit>
#include <catch2/catch.hpp>
#include <cstring>
#include <initializer_list>
#include <source_location>
#include <string>
#include <vector>

namespace tilegym::sim {

inline constexpr uint8_t i1 = 1, i16 = 16, i32 = 32, i64 = 64, f16 = Site::f16Type, bf16 = Site::bf16Type,
                         f32 = Site::f32Type, f64 = Site::f64Type;

/// What a site tells of an instruction.
struct Form {
  std::vector<int64_t> attributes = {};
  std::vector<uint8_t> operands = {}, results = {}; ///< types
  std::vector<int32_t> segments = {};
};

class Op {
public:
  using Results = std::array<uint64_t, 128>;

  Op(const char *mnemonic, Form given = {}, std::source_location at = std::source_location::current())
      : form(std::move(given)), run(findInstruction(mnemonic)) {
    INFO("no instruction " << mnemonic);
    REQUIRE(run);
    types = form.operands;
    types.insert(types.end(), form.results.begin(), form.results.end());
    site.mnemonic = mnemonic;
    site.file = "a.tile";
    site.line = at.line();
    site.numOperands = uint32_t(form.operands.size());
    site.numResults = uint32_t(form.results.size());
    site.numAttributes = uint32_t(form.attributes.size());
    site.numSegments = uint32_t(form.segments.size());
    site.attributes = form.attributes.data();
    site.segments = form.segments.empty() ? nullptr : form.segments.data();
    site.bits = types.data();
  }
  Op(const Op &) = delete;

  /// The first result, 0 where there is none.
  uint64_t operator()(std::initializer_list<uint64_t> operands = {}) const {
    uint64_t results[4] = {};
    run(operands.begin(), results, &site);
    return results[0];
  }
  Results all(std::initializer_list<uint64_t> operands = {}) const {
    Results results = {};
    run(operands.begin(), results.data(), &site);
    return results;
  }
  Results all(const std::vector<uint64_t> &operands) const {
    Results results = {};
    run(operands.data(), results.data(), &site);
    return results;
  }
  uint32_t line() const { return site.line; }
  const Site *where() const { return &site; }

private:
  Form form;
  Instruction run;
  std::vector<uint8_t> types;
  Site site;
};

/// A plain checked load and store of T, as compiled code does them. The line is the one that made it.
template <class T> class Load {
public:
  Load(std::source_location at = std::source_location::current())
      : op("load", {.attributes = {alignof(T)}, .operands = {i64, i32}}, at) {}
  T operator()(uint64_t address) const {
    op({address, sizeof(T)});
    T value;
    std::memcpy(&value, reinterpret_cast<const void *>(address), sizeof(T));
    return value;
  }
  uint32_t line() const { return op.line(); }

private:
  Op op;
};
template <class T> class Store {
public:
  Store(std::source_location at = std::source_location::current())
      : op("store", {.attributes = {alignof(T)}, .operands = {i64, i32}}, at) {}
  void operator()(uint64_t address, T value) const {
    op({address, sizeof(T)});
    std::memcpy(reinterpret_cast<void *>(address), &value, sizeof(T));
  }
  uint32_t line() const { return op.line(); }

private:
  Op op;
};

/// A machine and its memory.
struct Run {
  Memory memory;
  Machine machine;
  Report operator()(LaunchConfig config, std::function<void()> kernel) {
    config.kernel = [kernel = std::move(kernel)](const void *const *) { kernel(); };
    return machine.launch(config, memory);
  }
  template <class T> T at(uint64_t address, size_t index = 0) const {
    T value{};
    REQUIRE(memory.read(address + index * sizeof(T), &value, sizeof(T)));
    return value;
  }
  /// Device memory that holds `values`.
  template <class T> uint64_t put(const std::vector<T> &values, std::string name = {}) {
    uint64_t address = memory.allocate(values.size() * sizeof(T), std::move(name));
    memory.write(address, values.data(), values.size() * sizeof(T));
    return address;
  }
};

/// The text of the only finding; requires that there is one, of that kind.
inline std::string only(const Report &report, FindingKind kind) {
  INFO(report.text());
  REQUIRE(report.findings.size() == 1);
  REQUIRE(report.findings[0].kind == kind);
  return report.findings[0].text;
}

inline void requireClean(const Report &report) {
  INFO(report.text());
  REQUIRE(report.clean());
}

inline uint32_t thread() { return current().index; }
inline uint32_t block() { return current().block->index; }
inline uint64_t shared(uint64_t offset = 0) { return current().block->sharedStart + offset; }
inline std::string at(uint32_t line) { return "(a.tile:" + std::to_string(line) + ")"; }

} // namespace tilegym::sim
