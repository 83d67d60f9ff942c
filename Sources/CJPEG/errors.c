#include "file.h"

#include <jerror.h>
#include <string.h>

enum { MAX_SCANS = 100 };

void fail(cjpeg_file *file, const char *message) {
    snprintf(file->failure.message, sizeof file->failure.message, "%s", message);
    longjmp(file->escape, 1);
}

static void fail_with_libjpegs_words(j_common_ptr info) {
    char words[JMSG_LENGTH_MAX];
    info->err->format_message(info, words);
    fail(file_of(info), words);
}

/// Whether a warning is of pixels that are lost; the others are of bytes that no pixel misses.
static bool is_damage(int code) {
    switch (code) {
    case JWRN_HIT_MARKER:
    case JWRN_HUFF_BAD_CODE:
    case JWRN_ARITH_BAD_CODE:
    case JWRN_MUST_RESYNC: return true;
    default: return false;
    }
}

static void warn(j_common_ptr info, int level) {
    cjpeg_file *file = file_of(info);
    if (level >= 0 || !is_damage(info->err->msg_code)) return;
    if (!file->allow_damage) fail_with_libjpegs_words(info);
}

static void say_nothing(j_common_ptr info) { (void)info; }

static void stop_if_cancelled(j_common_ptr info) {
    cjpeg_file *file = file_of(info);
    if (file->cancellation.is_cancelled(file->cancellation.context)) fail(file, "cancelled");
    // An honest file has about ten; each takes as long as the picture is large, however few its bytes.
    if (file->info.input_scan_number > MAX_SCANS) fail(file, "it has more than 100 scans");
}

void use_errors(cjpeg_file *file) {
    file->info.err = jpeg_std_error(&file->errors);
    file->errors.error_exit = fail_with_libjpegs_words;
    file->errors.emit_message = warn;
    file->errors.output_message = say_nothing;
    file->progress.progress_monitor = stop_if_cancelled;
}
