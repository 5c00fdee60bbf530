# talus-movie, which writes movies through FFmpeg's libraries. They are under the GPL as Debian builds them, so they go into a program
# of its own; without them everything else works and `talus doctor` says what is missing.
pkg_check_modules(FFMPEG IMPORTED_TARGET libavcodec libavformat libavutil libswscale libswresample)
if(FFMPEG_FOUND)
  add_executable(talus-movie ${CMAKE_SOURCE_DIR}/movie/talus-movie.c)
  target_include_directories(talus-movie PRIVATE ${CMAKE_SOURCE_DIR}/src)
  target_link_libraries(talus-movie PRIVATE talus_flags PkgConfig::FFMPEG)
  install(TARGETS talus-movie RUNTIME DESTINATION lib/talus COMPONENT program)
else()
  message(STATUS "no FFmpeg libraries: movies cannot be written (talus-movie is not built)")
endif()
