# libController: what robot programs link with. It stands alone: controller/, the protocol and a little of base/.
file(GLOB CONTROLLER_SOURCES CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/controller/*.c)
add_library(Controller SHARED ${CONTROLLER_SOURCES} src/protocol/protocol.c src/protocol/channel.c src/base/memory.c)
target_include_directories(Controller PUBLIC ${CMAKE_SOURCE_DIR}/include PRIVATE ${CMAKE_SOURCE_DIR}/src ${CMAKE_SOURCE_DIR}/controller)
target_link_libraries(Controller PRIVATE talus_flags Threads::Threads m)
target_link_options(Controller PRIVATE -Wl,--version-script=${CMAKE_SOURCE_DIR}/cmake/exports/controller.map)
set_target_properties(Controller PROPERTIES LIBRARY_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR})

# C++ and Python are made from one description of the API, api/webots.api: headers in include/, the packages in python/, both in the
# build folder, where `talus build` and controllers find them.
find_package(Python3 REQUIRED COMPONENTS Interpreter)
set(API_DESCRIPTION ${CMAKE_SOURCE_DIR}/api/webots.api)
file(GLOB API_RENDERERS CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/api/*.py)
function(talus_render part)
  add_custom_command(OUTPUT ${CMAKE_BINARY_DIR}/${part}.stamp ${ARGN}
    COMMAND ${Python3_EXECUTABLE} -B ${CMAKE_SOURCE_DIR}/api/generate.py ${API_DESCRIPTION} ${CMAKE_BINARY_DIR} ${part}
    DEPENDS ${API_DESCRIPTION} ${API_RENDERERS} ${CMAKE_SOURCE_DIR}/python/controller/_shapes.py VERBATIM)
endfunction()
talus_render(python)
talus_render(tests)
add_custom_target(python_package ALL DEPENDS ${CMAKE_BINARY_DIR}/python.stamp ${CMAKE_BINARY_DIR}/tests.stamp)
# What is written by hand lies beside what is made.
file(GLOB_RECURSE CONTROLLER_PYTHON CONFIGURE_DEPENDS RELATIVE ${CMAKE_SOURCE_DIR} ${CMAKE_SOURCE_DIR}/python/*.py)
foreach(module ${CONTROLLER_PYTHON})
  configure_file(${module} ${CMAKE_BINARY_DIR}/${module} COPYONLY)
endforeach()

# Makefiles of Webots name the vehicle libraries; here they are parts of the two others.
function(talus_also_named target)
  foreach(name ${ARGN})
    add_custom_command(TARGET ${target} POST_BUILD
      COMMAND ${CMAKE_COMMAND} -E create_symlink lib${target}.so ${CMAKE_BINARY_DIR}/lib${name}.so VERBATIM)
  endforeach()
endfunction()
talus_also_named(Controller driver car)

include(CheckLanguage)
check_language(CXX)
if(CMAKE_CXX_COMPILER)
  enable_language(CXX)
  if(CCACHE)
    set(CMAKE_CXX_COMPILER_LAUNCHER ${CCACHE})
  endif()
  set(CMAKE_CXX_FLAGS_RELEASE "-O2 -g")
  set(CMAKE_CXX_FLAGS_SANITIZE "-O1 -g -fno-omit-frame-pointer")
  talus_render(cpp ${CMAKE_BINARY_DIR}/cpp/methods.cpp)
  add_library(CppController SHARED cpp/custom.cpp ${CMAKE_BINARY_DIR}/cpp/methods.cpp)
  target_include_directories(CppController PUBLIC ${CMAKE_BINARY_DIR}/include)
  target_compile_options(CppController PRIVATE -Wall -Wextra -Wshadow)
  target_link_libraries(CppController PUBLIC Controller)
  if(TALUS_SANITIZE)
    target_compile_options(CppController PRIVATE -fsanitize=${TALUS_SANITIZE})
    target_link_options(CppController PRIVATE -fsanitize=${TALUS_SANITIZE})
  endif()
  set_target_properties(CppController PROPERTIES LIBRARY_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR} CXX_STANDARD 11 BUILD_RPATH_USE_ORIGIN ON
    INSTALL_RPATH "$ORIGIN")
  talus_also_named(CppController CppDriver CppCar)
else()
  message(STATUS "no C++ compiler: robot programs in C++ cannot be linked (libCppController is not built)")
endif()
