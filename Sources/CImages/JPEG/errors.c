#include "file.h"

#include <jerror.h>
#include <string.h>

enum {
    MAX_SCANS = 100,
    /// How often all scans together may go through the whole picture. An ordinary file does so five times, an optimally
    /// compressed one about ten times.
    MAX_PASSES = 16,
    /// Blocks that any picture may have; they take some hundredths of a second.
    FREE_BLOCKS = 1 << 20,
};

void fail(cjpeg_file *file, const char *message) {
    file->error = 0;
    snprintf(file->failure.message, sizeof file->failure.message, "%s", message);
    longjmp(file->escape, 1);
}

/// Whether an error is about a feature of the standard that libjpeg doesn't support.
static bool is_unsupported(int code) {
    switch (code) {
    case JERR_ARITH_NOTIMPL:
    case JERR_BAD_PRECISION:
    case JERR_CCIR601_NOTIMPL:
    case JERR_COMPONENT_COUNT:
    case JERR_FRACT_SAMPLE_NOTIMPL:
    case JERR_NOTIMPL:
    case JERR_NOT_COMPILED:
    case JERR_SOF_UNSUPPORTED: return true;
    default: return false;
    }
}

/// Names a kind of JPEG that libjpeg only numbers (ITU-T T.81 table B.1); NULL if it has no name.
static const char *kind_of(int marker) {
    switch (marker) {
    case 0xc3:
    case 0xc7:
    case 0xcb:
    case 0xcf: return "lossless";
    case 0xc5:
    case 0xc6:
    case 0xcd:
    case 0xce: return "hierarchical";
    default: return NULL;
    }
}

/// Describes an error in libjpeg's words, or in clearer ones.
static void describe(j_common_ptr info, cjpeg_failure *failure) {
    int code = info->err->msg_code, number = info->err->msg_parm.i[0];
    const char *kind = code == JERR_SOF_UNSUPPORTED ? kind_of(number) : NULL;
    info->err->format_message(info, failure->message);
    if (kind) snprintf(failure->message, sizeof failure->message, "%s", kind);
    if (code == JERR_BAD_PRECISION) snprintf(failure->message, sizeof failure->message, "%d bits a sample", number);
}

static void fail_with_libjpegs_words(j_common_ptr info) {
    cjpeg_file *file = file_of(info);
    describe(info, &file->failure);
    file->failure.is_unsupported = is_unsupported(info->err->msg_code);
    file->error = info->err->msg_code;
    longjmp(file->escape, 1);
}

/// Whether a warning is about lost pixels. Others are about bytes that no pixel needs.
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

void stop_if_cancelled(j_common_ptr info) {
    cjpeg_file *file = file_of(info);
    if (file->cancellation.is_cancelled(file->cancellation.context)) fail(file, "cancelled");
    // A scan's time depends on the picture's size, even if the scan has few bytes.
    if (file->info.input_scan_number > MAX_SCANS) fail(file, "it has more than 100 scans");
    if (file->info.input_scan_number == file->scan) return;
    file->scan = file->info.input_scan_number;
    for (int i = 0; i < file->info.comps_in_scan; i++) {
        const jpeg_component_info *component = file->info.cur_comp_info[i];
        file->blocks += (size_t)component->width_in_blocks * component->height_in_blocks;
    }
    if (file->blocks > FREE_BLOCKS && file->blocks / MAX_PASSES > all_blocks(&file->info))
        fail(file, "its scans go through the whole picture more than 16 times");
}

void use_errors(cjpeg_file *file) {
    file->info.err = jpeg_std_error(&file->errors);
    file->errors.error_exit = fail_with_libjpegs_words;
    file->errors.emit_message = warn;
    file->errors.output_message = say_nothing;
    file->progress.progress_monitor = stop_if_cancelled;
}
