// download.h - the one place of the whole program that opens a network connection, for `talus fetch` alone.
//
// The cache folder holds
//   objects/ab/cdef...    the files, named by the SHA-256 of their content, each once
//   tree/https/HOST/PATH  the same files under their URL (hard links), as assets/resolve.h looks for them
//   partial/HASH          downloads under way, with what is needed to go on after an interruption
#ifndef TALUS_APP_DOWNLOAD_H
#define TALUS_APP_DOWNLOAD_H

#include "base/arena.h"
#include "base/common.h"

typedef struct DownloadOptions {
    const char *cache;
    int64_t file_bytes;   // largest file, 0: 512 MB
    int64_t total_bytes;  // of one Downloader, 0: 4 GB
    bool allow_loopback;  // plain http to this machine, for tests
} DownloadOptions;

typedef struct Download {
    bool ok;
    const char *path;  // in the tree; in the arena
    char sha256[65];
    int64_t bytes;       // of the file
    int64_t resumed_at;  // bytes that were there from an earlier try
    char message[300];   // why it failed
} Download;

typedef struct Downloader Downloader;
Downloader *download_create(const DownloadOptions *options);  // NULL when the network library cannot be set up
void download_destroy(Downloader *downloader);
void download_get(Downloader *downloader, const char *url, Arena *arena, Download *result);

#endif
