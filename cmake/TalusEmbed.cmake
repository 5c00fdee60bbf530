# talus_embed(output header array count files...): a C source with the bytes of the files as `const EmbeddedFile array[]`
# and `const int count`, so that the library needs no file at run time. The header declares EmbeddedFile and both names.
function(talus_embed output header array count)
  set(rows "")
  set(data "")
  set(index 0)
  foreach(file ${ARGN})
    set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${file})
    file(READ ${file} bytes HEX)
    string(REGEX REPLACE "(..)" "0x\\1," bytes "${bytes}")
    get_filename_component(name ${file} NAME)
    string(APPEND data "static const unsigned char file_${index}[] = { ${bytes}0 };\n")
    string(APPEND rows "    { \"${name}\", file_${index}, sizeof file_${index} - 1 },\n")
    math(EXPR index "${index} + 1")
  endforeach()
  file(CONFIGURE OUTPUT ${output} CONTENT
"#include \"${header}\"
${data}const EmbeddedFile ${array}[] = {
${rows}};
const int ${count} = ${index};
" @ONLY)
endfunction()
