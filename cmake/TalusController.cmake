# C++, Python and the plain functions of C are made from one description of the API, api/webots.api: headers in include/, the packages
# in python/, both in the build folder, where `talus build` and controllers find them.
find_package(Python3 REQUIRED COMPONENTS Interpreter)
set(API_DESCRIPTION ${CMAKE_SOURCE_DIR}/api/webots.api)
file(GLOB API_RENDERERS CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/api/*.py)
function(talus_render part)
  add_custom_command(OUTPUT ${CMAKE_BINARY_DIR}/${part}.stamp ${ARGN}
    COMMAND ${Python3_EXECUTABLE} -B ${CMAKE_SOURCE_DIR}/api/generate.py ${API_DESCRIPTION} ${CMAKE_BINARY_DIR} ${part}
    DEPENDS ${API_DESCRIPTION} ${API_RENDERERS} ${CMAKE_SOURCE_DIR}/python/controller/_shapes.py
      ${CMAKE_SOURCE_DIR}/include/webots/nodes.h VERBATIM)
endfunction()
talus_render(c ${CMAKE_BINARY_DIR}/controller/plain_sensors.c ${CMAKE_BINARY_DIR}/controller/node_names.h)

# libController: what robot programs link with. It stands alone: controller/, the protocol and a little of base/.
file(GLOB CONTROLLER_SOURCES CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/controller/*.c)
add_library(Controller SHARED ${CONTROLLER_SOURCES} ${CMAKE_BINARY_DIR}/controller/plain_sensors.c src/protocol/protocol.c src/protocol/channel.c src/base/memory.c)
target_include_directories(Controller PUBLIC ${CMAKE_SOURCE_DIR}/include PRIVATE ${CMAKE_SOURCE_DIR}/src ${CMAKE_SOURCE_DIR}/controller
  ${CMAKE_BINARY_DIR}/controller)
target_link_libraries(Controller PRIVATE talus_flags Threads::Threads m)
target_link_options(Controller PRIVATE -Wl,--version-script=${CMAKE_SOURCE_DIR}/cmake/exports/controller.map)
set_target_properties(Controller PROPERTIES LIBRARY_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR})

talus_render(python)
talus_render(tests)
add_custom_target(python_package ALL DEPENDS ${CMAKE_BINARY_DIR}/python.stamp ${CMAKE_BINARY_DIR}/tests.stamp)
# What is written by hand lies beside what is made.
file(GLOB_RECURSE CONTROLLER_PYTHON CONFIGURE_DEPENDS RELATIVE ${CMAKE_SOURCE_DIR} ${CMAKE_SOURCE_DIR}/python/*.py)
list(FILTER CONTROLLER_PYTHON EXCLUDE REGEX "^python/(talus/|build_backend)")
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
  set(CMAKE_CXX_FLAGS_SANITIZE "-O1 -g1 -fno-omit-frame-pointer")
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

# A folder as Webots lays its own out, for Makefiles and CMakeLists.txt that name $(WEBOTS_HOME)/include/controller/cpp or lib/controller.
set(WEBOTS_HOME_FOLDER ${CMAKE_BINARY_DIR}/webots-home)
function(talus_home_link target name)
  get_filename_component(folder ${WEBOTS_HOME_FOLDER}/${name} DIRECTORY)
  file(MAKE_DIRECTORY ${folder})
  file(CREATE_LINK ${target} ${WEBOTS_HOME_FOLDER}/${name} SYMBOLIC)
endfunction()
talus_home_link(${CMAKE_SOURCE_DIR}/resources resources)
talus_home_link(${CMAKE_SOURCE_DIR}/projects projects)
talus_home_link(${CMAKE_SOURCE_DIR}/include include/controller/c)
talus_home_link(${CMAKE_BINARY_DIR}/include include/controller/cpp)
foreach(name python libController.so libCppController.so libdriver.so libcar.so libCppDriver.so libCppCar.so)
  talus_home_link(${CMAKE_BINARY_DIR}/${name} lib/controller/${name})
endforeach()
