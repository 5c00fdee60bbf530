# The browser page (web/): TypeScript and three.js, bundled by esbuild into build/web and, as bytes, into the library.
# Packages come by npm from the lock file, once, at configure time. Where node, npm or the registry is missing the page is left
# out with one line; everything else builds, and `talus doctor` says what is missing.
set(TALUS_WEB_DIR ${CMAKE_BINARY_DIR}/web)
set(TALUS_WEB_SOURCE ${CMAKE_BINARY_DIR}/generated/web_page_files.c)
set(TALUS_WEB_WHY "")
find_program(TALUS_NODE NAMES node nodejs)
find_program(TALUS_NPM npm)
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/web/package-lock.json)
file(MAKE_DIRECTORY ${TALUS_WEB_DIR})

function(talus_web_install why)
  file(SHA256 ${CMAKE_SOURCE_DIR}/web/package-lock.json wanted)
  set(stamp ${TALUS_WEB_DIR}/installed.txt)
  set(installed "")
  if(EXISTS ${stamp})
    file(READ ${stamp} installed)
  endif()
  if(installed STREQUAL wanted)
    return()
  endif()
  message(STATUS "web: installing npm packages for the browser page")
  file(COPY ${CMAKE_SOURCE_DIR}/web/package.json ${CMAKE_SOURCE_DIR}/web/package-lock.json DESTINATION ${TALUS_WEB_DIR})
  execute_process(COMMAND ${TALUS_NPM} ci --ignore-scripts --no-audit --no-fund --prefer-offline --fetch-retries=1 --fetch-timeout=60000
                  WORKING_DIRECTORY ${TALUS_WEB_DIR} RESULT_VARIABLE status OUTPUT_QUIET ERROR_QUIET TIMEOUT 300)
  if(status EQUAL 0)
    file(WRITE ${stamp} ${wanted})
  else()
    set(${why} "npm could not install its packages" PARENT_SCOPE)
  endif()
endfunction()

if(NOT TALUS_NODE OR NOT TALUS_NPM)
  set(TALUS_WEB_WHY "node or npm is missing")
else()
  talus_web_install(TALUS_WEB_WHY)
endif()

if(TALUS_WEB_WHY)
  message(NOTICE "web: ${TALUS_WEB_WHY}; the browser page is left out (talus view and HTML replays), all else builds; "
                 "`cmake --preset release` tries it again")
  file(CONFIGURE OUTPUT ${TALUS_WEB_SOURCE} CONTENT
"#include \"assets/web_page.h\"
const WebPageFile web_page_files[1] = { { 0 } };
const int web_page_file_count = 0;
" @ONLY)
else()
  file(GLOB TALUS_WEB_INPUTS CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/web/src/*)
  add_custom_command(OUTPUT ${TALUS_WEB_SOURCE}
    COMMAND ${TALUS_NODE} ${CMAKE_SOURCE_DIR}/web/build.mjs ${CMAKE_SOURCE_DIR}/web ${TALUS_WEB_DIR} ${TALUS_WEB_SOURCE}
    DEPENDS ${TALUS_WEB_INPUTS} ${CMAKE_SOURCE_DIR}/web/build.mjs ${CMAKE_SOURCE_DIR}/web/index.html ${CMAKE_SOURCE_DIR}/web/tsconfig.json
            ${CMAKE_SOURCE_DIR}/web/package-lock.json
    COMMENT "Bundling the browser page" VERBATIM)
endif()
