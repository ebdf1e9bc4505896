# SPDX-License-Identifier: MIT
"""The lints themselves: each must accept a small good project, and find what is wrong in one with a single bad file."""
import os
import subprocess
import sys
import tempfile

TAG = "SPDX-License-Identifier: MIT\n"
CPP = f"// {TAG}// A file.\n"
RECORD = f"""// {TAG}// Passes.
def FoldMasks : Pass<"tile-fold-masks"> {{
  let description = [{{ a ==> b }}];
}}
"""
INSTRUCTION = f"""// {TAG}// Instructions.
def Ptx_TrapOp : Ptx_AssemblyOp<"trap"> {{
  let summary = "stops";
  let description = "Example: `ptx.trap`";
}}
"""
GOOD = {
    "compiler/syntax/Good.h": CPP + '#include "compiler/syntax/Token.h"\n#include <vector>\n',
    "compiler/emit/Also.cpp": CPP + '#include "tilegym/format/Table.h"\n',
    "compiler/transforms/Passes.td": RECORD,
    "compiler/transforms/FoldMasks.cpp": CPP,
    "compiler/targets/nvidia/ptx/Execution.td": INSTRUCTION,
    "tests/ir/targets/nvidia/ptx/execution.mlir": "// RUN: tool\nptx.trap\n",
    "tests/ir/transforms/fold-masks.mlir": "// RUN: tool %s | FileCheck %s\n// CHECK-NEXT: x\n",
    "specs/add.tile": f"# {TAG}## Adds.\ntest {{{{ case {{{{ expect z = [1] }}}} }}}}\n",
    "CMakeLists.txt": f"# {TAG}",
    "tests/package/client/axpy.tile": f"# {TAG}## Adds.\nop axpy\n",
    "README.md": "`compiler/syntax` and `specs/`\n## Adds.\nop axpy\n",
}
# lint, file, its text, what the lint must say
BAD = [
    ("file-sizes", "compiler/ir/Long.cpp", CPP + "\n" * 700, "at most 600"),
    ("file-sizes", "compiler/transforms/LongPass.cpp", CPP + "\n" * 450, "at most 400"),
    ("opening-lines", "compiler/ir/NoTag.h", "// A file.\n", "expected '// SPDX"),
    ("opening-lines", "compiler/ir/NoWord.h", f"// {TAG}\n", "says what the file is for"),
    ("opening-lines", "tools/script", "#!/bin/sh\necho\n", "expected '# SPDX"),
    ("file-names", "compiler/ir/Good.h", CPP, "its name is taken by compiler/ir/Good.h"),
    ("file-names", "compiler/ir/lower_name.cpp", CPP, "UpperCamel"),
    ("file-names", "tests/unit/ir/Issue7Test.cpp", CPP, "after an issue"),
    ("open-ends", "compiler/ir/Later.cpp", CPP + "// TO" "DO: more\n", "for what reason"),
    ("open-ends", "compiler/ir/Mend.cpp", CPP + "// FIX" "ME\n", "mend it"),
    ("no-hosts-or-paths", "docs/links.md", "see http" "://site.example/\n", "an address"),
    ("no-hosts-or-paths", "docs/hosts.md", "from deb." "debian.org\n", "registry's host"),
    ("no-hosts-or-paths", "docs/paths.md", "in /ro" "ot/x\n", "a folder of one machine"),
    ("walls", "compiler/syntax/Wall.cpp", CPP + '#include "llvm/ADT/APInt.h"\n', "includes llvm/ADT/APInt.h"),
    ("walls", "compiler/interpreter/Wall.cpp", CPP + '#include "compiler/ir/Dialect.h"\n', "the oracle shares nothing"),
    ("walls", "compiler/simulator/Wall.cpp", CPP + '#include "compiler/layout/Layout.h"\n', "Boost.Context only"),
    ("walls", "compiler/emit/Wall.cpp", CPP + "#include <cuda.h>\n", "includes cuda.h"),
    ("walls", "compiler/emit/Wall2.cpp", CPP + '#include "tilegym/tilegym.h"\n', "only the package format"),
    ("walls", "runtime/src/Wall.cpp", CPP + '#include "compiler/syntax/AST.h"\n', "ships without LLVM"),
    ("instruction-records", "compiler/targets/nvidia/ptx/More.td", INSTRUCTION.replace('"trap"', '"stop"'), "expected a summary"),
    ("instruction-records", "compiler/targets/nvidia/ptx/More.td", INSTRUCTION.replace("trap", "stop"), "is written by no test"),
    ("inline-assembly", "compiler/emit/Raw.cpp", CPP + "LLVM::InlineAsmOp::create(b);\n", "writes assembly (InlineAsmOp)"),
    ("inline-assembly", "runtime/src/Raw.cpp", CPP + 'void f() { asm volatile("nop"); }\n', "writes assembly (asm volatile"),
    ("inline-assembly", "compiler/ir/Raw.td", CPP + "// llvm.inline_asm here\n", "writes assembly (inline_asm)"),
    ("formatting", "compiler/ir/Ugly.cpp", CPP + "int  f( ){return 1;}\n", "not formatted"),
    ("docs", "docs/map.md", "see `tools/nothing`\n", "names tools/nothing"),
    ("docs", "docs/field-reports.md", '| F01 | a | `specs/add.tile` "no such case" |\n', 'no file of the row has "no such case"'),
    ("docs", "docs/field-reports.md", "| F01 | a | `specs/none.tile` |\n", "names specs/none.tile, which does not exist"),
    ("docs", "docs/field-reports.md", "| F01 | a | b |\n| F02 | c | d | e\n", "2: not a number, a kind of fault and tests"),
    ("docs", "docs/field-reports.md", "| F01 | a | b |\n| F01 | c | d |\n", "2: F01 has a row already"),
    ("docs", "docs/field-reports.md", "| F01 | a | b |\n| F03 | c | d |\n", "F02 has no row"),
    ("docs", "README.md", "## Subtracts.\n", "its spec is not the one"),
    ("spec-expectations", "specs/sub.tile", f"# {TAG}## expect z = [1]\n", "no test case has an `expect`"),
    ("filecheck-prefixes", "tests/ir/a.mlir", "// RUN: tool | FileCheck %s\n// CHECK: x\n// SM80: y\n", "prefix SM80"),
    ("filecheck-prefixes", "tests/ir/a.mlir", "// RUN: FileCheck --check-prefixes=A,B\n// A-NOT: x\n", "prefix B"),
    ("pass-records", "compiler/targets/Passes.td", RECORD, "no compiler/targets/FoldMasks.cpp"),
    ("pass-records", "compiler/targets/Passes.td", RECORD, "no test tests/ir/targets/fold-masks.mlir"),
    ("pass-records", "compiler/targets/Passes.td", RECORD.replace("==>", "to"), "expected a description with an example"),
    ("pass-records", "compiler/targets/Passes.td", RECORD.replace("tile-fold-masks", "masks"), "expected one that ends in"),
]


def run_lint(name, files):
    with tempfile.TemporaryDirectory() as root:
        for path, text in files.items():
            os.makedirs(os.path.join(root, os.path.dirname(path)), exist_ok=True)
            with open(os.path.join(root, path), "w", encoding="utf-8") as file:
                file.write(text)
        script = os.path.join(os.path.dirname(os.path.abspath(__file__)), name + ".py")
        return subprocess.run([sys.executable, "-B", script, root], capture_output=True, text=True)


def main():
    here = os.path.dirname(os.path.abspath(__file__))
    lints = sorted(name[:-3] for name in os.listdir(here) if name.endswith(".py"))
    lints = [name for name in lints if name not in ("project", "check-lints")]
    errors = [f"{name}: has no bad file in check-lints.py" for name in lints if name not in {row[0] for row in BAD}]
    absent = set()
    for name in lints:
        done = run_lint(name, GOOD)
        if done.returncode == 77:
            absent.add(name)
        elif done.returncode != 0:
            errors.append(f"{name}: refuses a good project: {done.stdout}{done.stderr}")
    for name, path, text, expected in BAD:
        if name not in absent:
            done = run_lint(name, {**GOOD, path: text})
            if done.returncode != 1 or expected not in done.stdout:
                errors.append(f"{name}: {path}: expected '{expected}', got: {done.stdout}{done.stderr}")
    print("\n".join(errors) if errors else f"{len(lints)} lints, {len(BAD)} bad files found")
    return 1 if errors else 0


sys.exit(main())
