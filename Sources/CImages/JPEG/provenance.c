#include "file.h"

#include <string.h>

/// Whether a segment begins a manifest store: a superbox with the label `c2pa` (ISO/IEC 19566-5 annexes A and D).
static bool begins_store(const uint8_t *bytes, size_t count) {
    // "JP", the numbers of the box and of the piece, and the superbox, whose length may take 8 bytes more.
    enum { TYPE = 12, DESCRIPTION = 16, LABEL = 41, LONG = 8 };
    static const uint8_t is_long[4] = {0, 0, 0, 1};
    if (count < LABEL + 5 || memcmp(bytes, "JP", 2) != 0 || memcmp(bytes + TYPE, "jumb", 4) != 0) return false;
    if (memcmp(bytes + TYPE - 4, is_long, 4) == 0) (bytes += LONG), (count -= LONG);
    return count >= LABEL + 5 && memcmp(bytes + DESCRIPTION + 4, "jumd", 4) == 0
        && memcmp(bytes + LABEL, "c2pa", 5) == 0;
}

static boolean read_segment(j_decompress_ptr info) {
    struct jpeg_source_mgr *source = info->src;
    // The file is in memory, so a segment that isn't there is cut off.
    if (source->bytes_in_buffer < 2) return source->fill_input_buffer(info);
    const uint8_t *bytes = source->next_input_byte;
    size_t length = (size_t)bytes[0] << 8 | bytes[1];
    if (length < 2) length = 2;
    if (length <= source->bytes_in_buffer && begins_store(bytes + 2, length - 2))
        file_of((j_common_ptr)info)->has_provenance = true;
    source->skip_input_data(info, (long)length);
    return TRUE;
}

void find_provenance(cjpeg_file *file) { jpeg_set_marker_processor(&file->info, JPEG_APP0 + 11, read_segment); }
