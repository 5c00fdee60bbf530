// build_hints.c - tables of headers and CMake packages that robot programs use, with the Debian package that has them.
#include "app/build_hints.h"

#include "base/common.h"
#include "base/file.h"
#include "base/text.h"

#include <string.h>

// A name ends with '/' when everything below that folder is meant. The first that fits is taken.
static const struct {
    const char *header, *package;
} headers[] = {
    { "opencv2/", "libopencv-dev" },
    { "opencv/", "libopencv-dev (its headers are called opencv2/... today)" },
    { "cv.h", "libopencv-dev (its headers are called opencv2/... today)" },
    { "eigen3/", "libeigen3-dev" },
    { "Eigen/", "libeigen3-dev (with INCLUDE = -I/usr/include/eigen3)" },
    { "boost/", "libboost-all-dev" },
    { "yaml-cpp/", "libyaml-cpp-dev" },
    { "nlohmann/", "nlohmann-json3-dev" },
    { "rapidjson/", "rapidjson-dev" },
    { "json/", "libjsoncpp-dev" },
    { "zmq.hpp", "cppzmq-dev" },
    { "zmq.h", "libzmq3-dev" },
    { "gsl/", "libgsl-dev" },
    { "fftw3.h", "libfftw3-dev" },
    { "armadillo", "libarmadillo-dev" },
    { "GL/glut.h", "freeglut3-dev" },
    { "GL/glew.h", "libglew-dev" },
    { "GL/", "libgl-dev libglu1-mesa-dev" },
    { "SDL2/", "libsdl2-dev" },
    { "SDL/", "libsdl1.2-dev" },
    { "ncurses.h", "libncurses-dev" },
    { "curses.h", "libncurses-dev" },
    { "png.h", "libpng-dev" },
    { "jpeglib.h", "libjpeg-dev" },
    { "zlib.h", "zlib1g-dev" },
    { "curl/", "libcurl4-openssl-dev" },
    { "openssl/", "libssl-dev" },
    { "tinyxml2.h", "libtinyxml2-dev" },
    { "tinyxml.h", "libtinyxml-dev" },
    { "libxml/", "libxml2-dev" },
    { "lua.h", "liblua5.4-dev" },
    { "Python.h", "python3-dev" },
    { "ode/", "libode-dev" },
    { "fann.h", "libfann-dev" },
    { "floatfann.h", "libfann-dev" },
    { "pcl/", "libpcl-dev" },
    { "google/protobuf/", "libprotobuf-dev" },
    { "glm/", "libglm-dev" },
    { "mosquitto.h", "libmosquitto-dev" },
    { "X11/", "libx11-dev" },
    { "QtCore/", "qtbase5-dev" },
    { "QApplication", "qtbase5-dev" },
};
static const struct {
    const char *name, *package;
} cmake_packages[] = {
    { "OpenCV", "libopencv-dev" },
    { "Eigen3", "libeigen3-dev" },
    { "Boost", "libboost-all-dev" },
    { "yaml-cpp", "libyaml-cpp-dev" },
    { "nlohmann_json", "nlohmann-json3-dev" },
    { "GSL", "libgsl-dev" },
    { "SDL2", "libsdl2-dev" },
    { "PCL", "libpcl-dev" },
    { "Protobuf", "libprotobuf-dev protobuf-compiler" },
    { "CURL", "libcurl4-openssl-dev" },
    { "ZLIB", "zlib1g-dev" },
    { "PNG", "libpng-dev" },
    { "OpenGL", "libgl-dev" },
    { "GLUT", "freeglut3-dev" },
    { "Armadillo", "libarmadillo-dev" },
    { "Threads", "libc6-dev" },
};
static const struct {
    const char *name, *package;
} libraries[] = {
    { "gsl", "libgsl-dev" },
    { "gslcblas", "libgsl-dev" },
    { "boost_system", "libboost-all-dev" },
    { "boost_thread", "libboost-all-dev" },
    { "opencv_core", "libopencv-dev" },
    { "GL", "libgl-dev" },
    { "GLU", "libglu1-mesa-dev" },
    { "glut", "freeglut3-dev" },
    { "zmq", "libzmq3-dev" },
    { "yaml-cpp", "libyaml-cpp-dev" },
    { "fftw3", "libfftw3-dev" },
    { "fann", "libfann-dev" },
    { "curl", "libcurl4-openssl-dev" },
    { "ncurses", "libncurses-dev" },
    { "SDL2", "libsdl2-dev" },
    { "png", "libpng-dev" },
    { "jpeg", "libjpeg-dev" },
    { "z", "zlib1g-dev" },
    { "ode", "libode-dev" },
    { "armadillo", "libarmadillo-dev" },
    { "lapack", "liblapack-dev" },
    { "blas", "libblas-dev" },
};
// What only other systems have: no package helps.
static const struct {
    const char *header, *what;
} foreign[] = {
    { "windows.h", "Windows" },  { "Windows.h", "Windows" }, { "conio.h", "Windows" },
    { "winsock2.h", "Windows" }, { "tchar.h", "Windows" },   { "ros/", "ROS" },
    { "rclcpp/", "ROS 2" },      { "mach/", "macOS" },       { "jni.h", "a Java development kit" },
};

static bool header_fits(const char *pattern, const char *header)
{
    size_t length = strlen(pattern);
    return pattern[length - 1] == '/' ? !strncmp(pattern, header, length) : !strcmp(pattern, header);
}

static const char *hint_for_header(Arena *arena, const char *header)
{
    for (int i = 0; i < COUNT_OF(foreign); i++)
        if (header_fits(foreign[i].header, header))
            return arena_printf(arena, "<%s> is a header of %s; this program does not build without it", header,
                                foreign[i].what);
    for (int i = 0; i < COUNT_OF(headers); i++)
        if (header_fits(headers[i].header, header))
            return arena_printf(arena, "<%s> is not on this machine: Debian has it in %s", header, headers[i].package);
    if (text_starts_with(header, "../"))
        return arena_printf(arena, "%s is not in the project; Webots has it beside its own samples, or it was left out",
                            header);
    return arena_printf(
        arena,
        "<%s> is neither in the project nor on this machine; if Debian has it, `apt-file search %s` names the package",
        header, header);
}

// The word that ends at the first of the given signs.
static char *word_until(Arena *arena, const char *text, const char *signs)
{
    return arena_text(arena, text, strcspn(text, signs));
}

const char *build_hint_for_line(Arena *arena, const char *line)
{
    const char *found = strstr(line, "fatal error: ");
    if (found && strstr(found, ": No such file or directory"))  // gcc
        return hint_for_header(arena, word_until(arena, found + strlen("fatal error: "), ":"));
    if (found && found[13] == '\'' && strstr(found, "' file not found"))  // clang
        return hint_for_header(arena, word_until(arena, found + strlen("fatal error: '"), "'"));
    found = strstr(line, "cannot find -l");  // the linker
    if (found) {
        char *name = word_until(arena, found + strlen("cannot find -l"), ": \n");
        for (int i = 0; i < COUNT_OF(libraries); i++)
            if (!strcmp(libraries[i].name, name))
                return arena_printf(arena, "the library '%s' is not on this machine: Debian has it in %s", name,
                                    libraries[i].package);
        return arena_printf(arena, "the library '%s' is neither in the project nor on this machine", name);
    }
    static const char *const cmake_words[] = { "configuration file provided by \"", "Could NOT find " };
    for (int k = 0; k < COUNT_OF(cmake_words); k++) {
        const char *name = strstr(line, cmake_words[k]);
        if (!name)
            continue;
        char *package = word_until(arena, name + strlen(cmake_words[k]), "\" (\n");
        for (int i = 0; i < COUNT_OF(cmake_packages); i++)
            if (!strcmp(cmake_packages[i].name, package))
                return arena_printf(arena, "CMake's %s is not on this machine: Debian has it in %s", package,
                                    cmake_packages[i].package);
    }
    return NULL;
}

const char *build_hint_unsupported_language(Arena *arena, const char *folder)
{
    static const struct {
        const char *ending, *language;
    } languages[] = {
        { ".java", "Java" },
        { ".jar", "Java" },
        { ".class", "Java" },
        { ".m", "MATLAB" },
    };
    for (int i = 0; i < COUNT_OF(languages); i++)
        if (file_exists(arena_printf(arena, "%s/%s%s", folder, path_name(folder), languages[i].ending)))
            return languages[i].language;
    return NULL;
}
