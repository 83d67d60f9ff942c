/// A JPEG file and what libjpeg calls back.
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
    /// Where libjpeg's errors come out: the call of ours that is running.
    jmp_buf escape;
    bool allow_damage;
    /// Whether the bytes were over before the picture was.
    bool ended;
    /// Whether what follows a complete picture was passed over.
    bool is_past_end;
    /// libjpeg's number of the error that it failed with; 0 if it is none of libjpeg's.
    int error;
    /// The scan that is being read, and the blocks that all scans so far go through.
    int scan;
    size_t blocks;
};

static inline cjpeg_file *file_of(j_common_ptr info) { return info->client_data; }

/// Ends the call of ours that is running.
_Noreturn void fail(cjpeg_file *file, const char *message);

/// The blocks of a picture, all components together.
size_t all_blocks(const struct jpeg_decompress_struct *info);

/// Sends errors and warnings to this file, and asks whether to go on.
void use_errors(cjpeg_file *file);

/// Fails if the decoding is cancelled, or its scans are too many.
void stop_if_cancelled(j_common_ptr info);

/// Reads from memory.
void use_bytes(cjpeg_file *file, const uint8_t *bytes, size_t count);

#endif
