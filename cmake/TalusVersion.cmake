# TALUS_FULL_VERSION: the version of CMakeLists.txt for what is released, and with the number of commits since the last tag and the
# commit behind it for everything else that is built in a clone: 0.2.0, 0.2.0+14.g1a2b3c4. A tag that says otherwise is an error.
set(TALUS_FULL_VERSION ${PROJECT_VERSION})
find_program(TALUS_GIT git)
if(TALUS_GIT AND EXISTS ${CMAKE_SOURCE_DIR}/.git)
  execute_process(COMMAND ${TALUS_GIT} describe --tags --long --match "v[0-9]*" WORKING_DIRECTORY ${CMAKE_SOURCE_DIR}
                  OUTPUT_VARIABLE described ERROR_QUIET OUTPUT_STRIP_TRAILING_WHITESPACE)
  if(described MATCHES "^v([0-9.]+)-([0-9]+)-(g[0-9a-f]+)$")
    if(CMAKE_MATCH_2 EQUAL 0 AND NOT CMAKE_MATCH_1 STREQUAL PROJECT_VERSION)
      message(FATAL_ERROR "the tag is v${CMAKE_MATCH_1}, but CMakeLists.txt and talus.h say ${PROJECT_VERSION}")
    elseif(NOT CMAKE_MATCH_2 EQUAL 0)
      set(TALUS_FULL_VERSION ${PROJECT_VERSION}+${CMAKE_MATCH_2}.${CMAKE_MATCH_3})
    endif()
  endif()
endif()
file(READ ${CMAKE_SOURCE_DIR}/include/talus/talus.h talus_header)
if(NOT talus_header MATCHES "#define TALUS_VERSION \"${PROJECT_VERSION}\"" OR NOT talus_header MATCHES "_MINOR ${PROJECT_VERSION_MINOR}\n")
  message(FATAL_ERROR "TALUS_VERSION of talus.h is not the version of CMakeLists.txt, ${PROJECT_VERSION}")
endif()
