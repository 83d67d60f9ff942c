/// A JPEG file and libjpeg's callbacks.
#ifndef FILE_H
#define FILE_H

#include <setjmp.h>
#include <stdio.h>

#include <jpeglib.h>

#include "CJPEG.h"

struct cjpeg_file {
    struct jpeg_decompress_struct info;
    struct jpeg_error_mgr errors;
    struct jpeg_progress_mgr progress;
    struct jpeg_source_mgr source;
    cjpeg_cancellation cancellation;
    cjpeg_failure failure;
    /// Where libjpeg's errors jump to: the running call of this package.
    jmp_buf escape;
    bool allow_damage;
    /// Whether the bytes ended before the picture did.
    bool ended;
    /// Whether bytes after a complete picture were skipped.
    bool is_past_end;
    /// Whether a segment begins a manifest store.
    bool has_provenance;
    /// The number of libjpeg's error; 0 for an error that isn't libjpeg's.
    int error;
    /// The current scan, and the blocks of all scans so far.
    int scan;
    size_t blocks;
};

static inline cjpeg_file *file_of(j_common_ptr info) { return info->client_data; }

/// Ends the running call with an error.
_Noreturn void fail(cjpeg_file *file, const char *message);

/// The number of a picture's blocks in all components.
size_t all_blocks(const struct jpeg_decompress_struct *info);

/// Directs errors, warnings and progress to this file.
void use_errors(cjpeg_file *file);

/// Fails if decoding is cancelled, or the file has too many scans.
void stop_if_cancelled(j_common_ptr info);

/// Looks for manifest stores in the segments of JUMBF boxes, and skips those.
void find_provenance(cjpeg_file *file);

/// Reads from memory.
void use_bytes(cjpeg_file *file, const uint8_t *bytes, size_t count);

#endif
