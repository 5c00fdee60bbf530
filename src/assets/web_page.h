// web_page.h - the browser page (web/) as bytes in the program: what the viewer's server answers with, and the two
// halves of a replay that is one HTML file. web/build.mjs writes the array; a build without node or npm has an array of
// no files.
#ifndef TALUS_ASSETS_WEB_PAGE_H
#define TALUS_ASSETS_WEB_PAGE_H

#include <stdbool.h>
#include <stddef.h>

typedef struct WebPageFile {
    const char
        *name;  // "index.html", "page.js", "page.css", "RobotWindow.js"; "replay-head" and "replay-tail" are not served
    const char *type;  // of the content, as HTTP says it
    const char *etag;  // quoted, of the bytes
    bool is_gzipped;   // the bytes are a gzip stream (Content-Encoding: gzip)
    const unsigned char *data;
    size_t size;
} WebPageFile;

// A single-file replay is replay-head, the recording in base64, replay-tail.
extern const WebPageFile web_page_files[];
extern const int web_page_file_count;  // 0 where the page was not built

// The file of that name; NULL where there is none.
const WebPageFile *web_page_find(const char *name);

#endif
