// SPDX-License-Identifier: MIT
// LLVM IR as it comes from to-sim, compiled and run: what arithmetic means, and what libdevice gives.
#include "compiler/simulator/jit/HostObject.h"
#include "compiler/simulator/jit/LoadedCode.h"
#include "llvm/AsmParser/Parser.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/Module.h"
#include "llvm/Support/SourceMgr.h"
#include <bit>
#include <catch2/catch.hpp>
#include <cmath>
#include <cstring>
#include <limits>

using namespace tilegym;

namespace {

/// Functions of one form, taking and giving words: the body computes %y from %x0, %x1, %x2 of type `type`.
class Compiled {
public:
  Compiled(const std::string &type, const std::string &body, const std::string &attributes = "",
           const std::string &declarations = "") {
    std::string text = declarations + "\ndefine void @f(ptr %parameters) #0 {\n";
    for (int i = 0; i < 4; ++i) {
      std::string n = std::to_string(i);
      text += "  %s" + n + " = getelementptr ptr, ptr %parameters, i64 " + n + "\n  %p" + n +
              " = load ptr, ptr %s" + n + "\n";
      if (i < 3)
        text += "  %x" + n + " = load " + type + ", ptr %p" + n + "\n";
    }
    text += body +
            "\n  ret void\n}\nattributes #0 = { \"tilegym-kernel\" \"tilegym-threads\"=\"32\" "
            "\"tilegym-by-value\"=\"1:128\" " +
            attributes + " }\n";
    llvm::LLVMContext context;
    llvm::SMDiagnostic diagnostic;
    auto module = llvm::parseAssemblyString(text, diagnostic, context);
    INFO(text << diagnostic.getMessage().str());
    REQUIRE(module);
    auto object = sim::compileForHost(*module, 90);
    if (!object) {
      error = llvm::toString(object.takeError());
      return;
    }
    CHECK(sim::LoadedCode::sizeOfObject(object->data()) == object->size());
    code = llvm::cantFail(sim::LoadedCode::load(*object));
    kernel = llvm::cantFail(code->kernel("f"));
  }

  template <class T> T operator()(T a, T b = {}, T c = {}) const {
    T result{};
    const void *parameters[] = {&a, &b, &c, &result};
    kernel.entry(parameters);
    return result;
  }

  std::string error;
  std::unique_ptr<sim::LoadedCode> code;
  sim::LoadedCode::Kernel kernel;
};

constexpr float kSmall = 1e-40f; // subnormal

std::string store(const std::string &type) { return "  store " + type + " %y, ptr %p3"; }

} // namespace

TEST_CASE("An object says what its kernel needs") {
  Compiled f("i32", "  %y = add i32 %x0, %x1\n" + store("i32"));
  CHECK(f(2, 3) == 5);
  CHECK(f.kernel.facts->threads == 32);
  CHECK(f.kernel.facts->cluster == 1);
  REQUIRE(f.kernel.facts->numByValue == 1);
  CHECK(f.kernel.facts->byValue[0].parameter == 1);
  CHECK(f.kernel.facts->byValue[0].bytes == 128);
}

TEST_CASE("Division by zero and overflowing division do not end the process") {
  Compiled divide("i32", "  %y = sdiv i32 %x0, %x1\n" + store("i32"));
  CHECK(divide(7, -2) == -3);
  divide(7, 0);
  divide(std::numeric_limits<int>::min(), -1);
  Compiled remainder("i32", "  %y = urem i32 %x0, %x1\n" + store("i32"));
  CHECK(remainder(7u, 4u) == 3u);
  remainder(7u, 0u);
}

TEST_CASE("Conversions to integers saturate, and NaN gives what cvt gives") {
  Compiled f("i32", "  %f = bitcast i32 %x0 to float\n  %y = fptosi float %f to i32\n" + store("i32"));
  CHECK(f(std::bit_cast<int>(3e10f)) == std::numeric_limits<int>::max());
  CHECK(f(std::bit_cast<int>(NAN)) == 0);
  CHECK(f(std::bit_cast<int>(-2.5f)) == -2);
  // With 64 bits on either side it is the top bit alone.
  for (const char *op : {"fptosi", "fptoui"}) {
    std::string convert = std::string("  %y = ") + op;
    Compiled wide("i64",
                  "  %f = bitcast i64 %x0 to double\n" + convert + " double %f to i64\n" + store("i64"));
    CHECK(wide(std::bit_cast<int64_t>(double(NAN))) == std::numeric_limits<int64_t>::min());
    CHECK(wide(std::bit_cast<int64_t>(2.5)) == 2);
    Compiled narrowed("i64", "  %f = bitcast i64 %x0 to double\n  %n = " + std::string(op) +
                                 " double %f to i32\n  %y = zext i32 %n to i64\n" + store("i64"));
    CHECK(narrowed(std::bit_cast<int64_t>(double(NAN))) == 0x80000000);
    Compiled widened("i64", "  %n = trunc i64 %x0 to i32\n  %f = bitcast i32 %n to float\n" + convert +
                                " float %f to i64\n" + store("i64"));
    CHECK(widened(int64_t(std::bit_cast<uint32_t>(NAN))) == std::numeric_limits<int64_t>::min());
  }
}

TEST_CASE("A product and a sum stay two roundings, even where the code allows one") {
  Compiled f("float",
             "  %p = fmul contract float %x0, %x1\n  %y = fadd contract float %p, %x2\n" + store("float"));
  constexpr float x = 1.0f + 0x1p-12f; // its square needs more than 24 bits
  CHECK(f(x, x, -1.0f) == 0x1p-11f);
}

TEST_CASE("Zeros are ordered in minima and maxima, and a number wins over NaN") {
  std::string declare = "declare float @llvm.maxnum.f32(float, float)";
  Compiled f("float", "  %y = call float @llvm.maxnum.f32(float %x0, float %x1)\n" + store("float"), "",
             declare);
  CHECK(std::bit_cast<uint32_t>(f(-0.0f, 0.0f)) == 0);
  CHECK(std::bit_cast<uint32_t>(f(0.0f, -0.0f)) == 0);
  CHECK(f(NAN, 1.0f) == 1.0f);
}

TEST_CASE("Subnormals are flushed where the kernel says so, and only in f32") {
  for (bool flushes : {false, true}) {
    std::string attribute = flushes ? "\"tilegym-ftz\"" : "";
    Compiled add("float", "  %y = fadd float %x0, %x1\n" + store("float"), attribute);
    CHECK(add(kSmall, 0.0f) == (flushes ? 0.0f : kSmall));
    CHECK(std::signbit(add(-kSmall, -0.0f)));
    CHECK(add(1.0f, 2.0f) == 3.0f);
    Compiled multiply("float", "  %y = fmul float %x0, %x1\n" + store("float"), attribute);
    CHECK(multiply(1e-20f, 1e-20f) == (flushes ? 0.0f : 1e-20f * 1e-20f));
    Compiled compare(
        "i32",
        "  %a = bitcast i32 %x0 to float\n  %c = fcmp ogt float %a, 0.0\n  %y = zext i1 %c to i32\n" +
            store("i32"),
        attribute);
    CHECK(compare(std::bit_cast<int>(kSmall)) == !flushes);
    Compiled wide("double", "  %y = fadd double %x0, %x1\n" + store("double"), attribute);
    CHECK(wide(1e-310, 0.0) == 1e-310);
  }
}

TEST_CASE("A flushed value in a loop is the flushed one in the next round, too") {
  Compiled f("float",
             "  br label %loop\nloop:\n  %i = phi i32 [0, %0], [%n, %loop]\n  %a = phi float [%x0, %0], [%m, "
             "%loop]\n"
             "  %m = fmul float %a, 5.0e-01\n  %n = add i32 %i, 1\n  %c = icmp ult i32 %n, 2\n"
             "  br i1 %c, label %loop, label %end\nend:\n  store float %m, ptr %p3",
             "\"tilegym-ftz\"");
  CHECK(f(std::numeric_limits<float>::min()) == 0.0f);
  CHECK(f(4.0f) == 1.0f);
}

TEST_CASE("Halves are rounded once") {
  // 1 + 2^-11 is a tie of f16 that f32 holds; a little more must go up.
  Compiled narrow("i32", "  %f = bitcast i32 %x0 to float\n  %h = fptrunc float %f to half\n"
                         "  %b = bitcast half %h to i16\n  %y = zext i16 %b to i32\n" +
                             store("i32"));
  CHECK(narrow(std::bit_cast<int>(1.0f + 0x1p-11f)) == 0x3c00);
  CHECK(narrow(std::bit_cast<int>(1.0f + 0x1.01p-11f)) == 0x3c01);
  CHECK(narrow(std::bit_cast<int>(0x1p-24f)) == 1); // subnormal
  Compiled brain("i32", "  %f = bitcast i32 %x0 to float\n  %h = fptrunc float %f to bfloat\n"
                        "  %b = bitcast bfloat %h to i16\n  %y = zext i16 %b to i32\n" +
                            store("i32"));
  CHECK(brain(std::bit_cast<int>(1.0f + 0x1p-8f)) == 0x3f80);
  CHECK(brain(std::bit_cast<int>(1.0f + 0x1.8p-8f)) == 0x3f81);
  CHECK(brain(std::bit_cast<int>(kSmall)) == int(std::bit_cast<uint32_t>(kSmall) + 0x7fff + 1) >> 16);
  // 2^-12 * (1 + 2^-10) added to 1 + 2^-10: rounded to f32 first it would become a tie and go down.
  Compiled fused("half", "  %y = call half @llvm.fma.f16(half %x0, half %x1, half %x2)\n" + store("half"), "",
                 "declare half @llvm.fma.f16(half, half, half)");
  CHECK(fused(uint16_t(0x3c01), uint16_t(0x1001), uint16_t(0x3c00)) == 0x3c01);
}

TEST_CASE("libdevice's functions run here, to their bounds") {
  struct {
    const char *name;
    double (*exact)(double);
    float at;
  } cases[] = {{"expf", std::exp, 1.7f},   {"exp2f", std::exp2, -3.3f}, {"logf", std::log, 5.5f},
               {"log2f", std::log2, 0.3f}, {"sinf", std::sin, 2.1f},    {"sinf", std::sin, 1.5e6f},
               {"cosf", std::cos, -4.0f},  {"tanhf", std::tanh, 0.4f},  {"erff", std::erf, 0.9f}};
  for (const auto &c : cases) {
    INFO(c.name << "(" << c.at << ")");
    std::string name = std::string("@__nv_") + c.name;
    Compiled f("float", "  %y = call float " + name + "(float %x0)\n" + store("float"), "",
               "declare float " + name + "(float)");
    if (f.error.find("libdevice") != std::string::npos && f.error.find("internal") == std::string::npos) {
      WARN("[SKIP] " << f.error);
      return;
    }
    REQUIRE(f.error.empty());
    float want = float(c.exact(double(c.at)));
    CHECK(std::abs(f(c.at) - want) <= 4 * std::abs(std::nextafter(want, 0.0f) - want));
  }
}

TEST_CASE("A double function of libdevice runs here") {
  for (auto [name, exact, at] : {std::tuple<const char *, double (*)(double), double>("exp", std::exp, 1.7),
                                 {"log", std::log, 5.5},
                                 {"tanh", std::tanh, 0.4},
                                 {"sin", std::sin, 1e7}}) {
    std::string function = std::string("@__nv_") + name;
    Compiled f("double", "  %y = call double " + function + "(double %x0)\n" + store("double"), "",
               "declare double " + function + "(double)");
    if (!f.error.empty() && f.error.find("internal") == std::string::npos) {
      WARN("[SKIP] " << f.error);
      return;
    }
    REQUIRE(f.error.empty());
    CHECK(f(at) == Approx(exact(at)).epsilon(1e-15));
  }
}

TEST_CASE("What has no meaning here is said by name") {
  Compiled f("float", "  %y = call float @llvm.nvvm.add.rz.f(float %x0, float %x1)\n" + store("float"), "",
             "declare float @llvm.nvvm.add.rz.f(float, float)");
  CHECK(f.error ==
        "internal error: libdevice uses 'llvm.nvvm.add.rz.f', which has no meaning in the simulator");
}

TEST_CASE("Bytes that are no object of this machine are refused") {
  std::string cubin(64, '\0');
  std::memcpy(cubin.data(), "\177ELF", 4);
  cubin[16] = 1;
  cubin[18] = char(190); // EM_CUDA
  CHECK(sim::LoadedCode::sizeOfObject(cubin.data()) == 0);
}
