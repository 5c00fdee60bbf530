# What the CMakeLists.txt of a controller, plugin or library gets from `talus build`, right after its project(): headers and
# libController where it looks for them, whatever it says about WEBOTS_HOME.

set(TALUS_HEADERS $ENV{TALUS_INCLUDE} $ENV{TALUS_INCLUDE}/controller/c $ENV{TALUS_INCLUDE}/controller/cpp $ENV{TALUS_LIB}/include)
include_directories(${TALUS_HEADERS})
list(APPEND CMAKE_INCLUDE_PATH ${TALUS_HEADERS})
if(DEFINED ENV{TALUS_LIB})
  link_directories($ENV{TALUS_LIB})
  list(APPEND CMAKE_LIBRARY_PATH $ENV{TALUS_LIB})
  list(APPEND CMAKE_BUILD_RPATH $ENV{TALUS_LIB})
endif()

# Static libraries of the project may become part of a plugin.
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
# A function that ends in a call would be missing in the report of a fault inside that call.
add_compile_options(-fno-optimize-sibling-calls)
# Static variables of templates would be one for the whole process, whatever world the plugin belongs to.
if(CMAKE_CXX_COMPILER_ID STREQUAL GNU)
  add_compile_options($<$<COMPILE_LANGUAGE:CXX>:-fno-gnu-unique>)
endif()
