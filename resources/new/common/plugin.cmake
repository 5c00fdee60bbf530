# `talus build`, or cmake with WEBOTS_HOME set. The target has the folder's name: so it is found.
cmake_minimum_required(VERSION 3.10)
project(@)
include_directories($ENV{WEBOTS_HOME}/include)
file(GLOB SOURCES *.c *.cpp)
add_library(@ MODULE ${SOURCES})
add_custom_command(TARGET @ POST_BUILD COMMAND ${CMAKE_COMMAND} -E copy $<TARGET_FILE:@> ${CMAKE_SOURCE_DIR})
