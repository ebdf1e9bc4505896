// SPDX-License-Identifier: MIT
// How diagnostics look: the caret line with tabs, wide characters, long lines and bad bytes; colours; JSON.
#include "tests/unit/syntax/Helpers.h"

using namespace tilegym;

/// One error in `text` at bytes [begin, end).
static std::string rendered(const std::string &text, uint32_t begin, uint32_t end, bool color = false) {
  SourceFile file("f.tile", text);
  DiagnosticSink sink;
  sink.error({&file, begin, end}, "message", "help");
  return renderAll(sink, color);
}

TEST_CASE("the caret stands under what is meant", "[diagnostic]") {
  CHECK(rendered("ab\ncd ef gh\n", 6, 8) == "f.tile:2:4: error: message\n"
                                            " 2 | cd ef gh\n"
                                            "   |    ^~\n"
                                            "  help: help\n");
  CHECK(rendered("ab", 1, 1) == "f.tile:1:2: error: message\n 1 | ab\n   |  ^\n  help: help\n");
  CHECK(rendered("ab", 2, 2) == "f.tile:1:3: error: message\n 1 | ab\n   |   ^\n  help: help\n");
  CHECK(rendered("", 0, 0) == "f.tile:1:1: error: message\n 1 |\n   | ^\n  help: help\n");
}

TEST_CASE("tabs, wide characters and line ends", "[diagnostic]") {
  CHECK(rendered("\ta\tb", 3, 4) ==
        "f.tile:1:4: error: message\n 1 |     a   b\n   |         ^\n  help: help\n");
  CHECK(rendered("\"\xC3\xA9\xE2\x86\x92\" x", 8, 9) ==
        "f.tile:1:9: error: message\n 1 | \"\xC3\xA9\xE2\x86\x92\" x\n   |      ^\n  help: help\n");
  CHECK(rendered("ab\r\ncd\r\n", 1, 2) == "f.tile:1:2: error: message\n 1 | ab\n   |  ^\n  help: help\n");
}

TEST_CASE("a range over several lines is marked to the end of the first", "[diagnostic]") {
  CHECK(rendered("f(a,\n  b)", 1, 9) == "f.tile:1:2: error: message\n 1 | f(a,\n   |  ^~~\n  help: help\n");
}

TEST_CASE("long lines are cut around the caret", "[diagnostic]") {
  std::string line(300, 'x');
  line[200] = 'Y';
  std::string shown = rendered(line, 200, 201);
  CHECK(shown == "f.tile:1:201: error: message\n 1 | ..." + std::string(60, 'x') + "Y" +
                     std::string(59, 'x') + "...\n   |    " + std::string(60, ' ') + "^\n  help: help\n");
  line.assign(300, 'x');
  CHECK(rendered(line, 0, 300) == "f.tile:1:1: error: message\n 1 | " + std::string(120, 'x') +
                                      "...\n   | ^" + std::string(119, '~') + "\n  help: help\n");
  CHECK(rendered(line, 299, 300) == "f.tile:1:300: error: message\n 1 | ..." + std::string(120, 'x') +
                                        "\n   |    " + std::string(119, ' ') + "^\n  help: help\n");
}

TEST_CASE("bad bytes and control characters are shown as the replacement character", "[diagnostic]") {
  CHECK(rendered("a\xFF\x1B[31m b", 8, 9) ==
        "f.tile:1:9: error: message\n 1 | a\xEF\xBF\xBD\xEF\xBF\xBD[31m b\n   |         ^\n  help: help\n");
}

TEST_CASE("colour is asked for", "[diagnostic]") {
  CHECK(rendered("a", 0, 1).find('\033') == std::string::npos);
  CHECK(rendered("a", 0, 1, true) ==
        "\033[1mf.tile:1:1: \033[0m\033[1;31merror: \033[0mmessage\n 1 | a\n   | \033[1;32m^\033[0m\n"
        "  \033[1;36mhelp: \033[0mhelp\n");
}

TEST_CASE("warnings, notes, and errors without a place", "[diagnostic]") {
  SourceFile file("f.tile", "a b");
  DiagnosticSink sink;
  Diagnostic &warning = sink.warning({&file, 0, 1}, "careful");
  Diagnostic note;
  note.severity = Severity::Note;
  note.range = {&file, 2, 3};
  note.message = "see here";
  warning.notes.push_back(note);
  sink.error({}, "no file");
  CHECK(sink.numErrors() == 1);
  CHECK(renderAll(sink) == "f.tile:1:1: warning: careful\n 1 | a b\n   | ^\n"
                           "f.tile:1:3: note: see here\n 1 | a b\n   |   ^\n"
                           "error: no file\n");
}

TEST_CASE("JSON", "[diagnostic]") {
  SourceFile file("a\"b.tile", "x\ny \xFF z");
  DiagnosticSink sink;
  CHECK(renderJson(sink) == "[]\n");
  Diagnostic &error = sink.error({&file, 2, 3}, "say \"hi\"\n\x01\xFF\\", "do");
  Diagnostic note;
  note.severity = Severity::Note;
  note.message = "n";
  error.notes.push_back(note);
  sink.warning({}, "w");
  CHECK(
      renderJson(sink) ==
      "[{\"severity\": \"error\", \"file\": \"a\\\"b.tile\", \"line\": 2, \"column\": 1, \"endLine\": 2, "
      "\"endColumn\": 2, \"message\": \"say \\\"hi\\\"\\n\\u0001\\ufffd\\\\\", \"help\": \"do\", \"notes\": "
      "[{\"severity\": \"note\", \"message\": \"n\", \"help\": \"\", \"notes\": []}]}, "
      "{\"severity\": \"warning\", \"message\": \"w\", \"help\": \"\", \"notes\": []}]\n");
}
