# SPDX-License-Identifier: MIT
# Writes OUTPUT, a header with the texts of all specs in FOLDER: cmake -DFOLDER=... -DOUTPUT=... -P Templates.cmake
file(GLOB files ${FOLDER}/*.tile)
set(rows "")
foreach(file IN LISTS files)
  get_filename_component(name ${file} NAME_WE)
  file(READ ${file} text)
  string(APPEND rows "    {\"${name}\", R\"tile(${text})tile\"},\n")
endforeach()
file(WRITE ${OUTPUT} "// The specs of tools/tilegymc/templates, as `tilegymc new` writes them.\n#pragma once\n
namespace tilegym::cli {\n
struct Template {\n  const char *name, *text;\n};\ninline constexpr Template kTemplates[] = {\n${rows}};\n
} // namespace tilegym::cli\n")
