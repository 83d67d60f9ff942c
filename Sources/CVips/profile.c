#include <string.h>

#include "CVips.h"

// LittleCMS reads a profile's tags and samples whole pipelines while it prepares a conversion, which can't be stopped.
// So profiles are bounded: up to 2 MB and a hundred tags, with curves and tables of the kinds used for photographs,
// displays and printers.

enum { MOST_BYTES = 2 << 20, MOST_TAGS = 100, MOST_CURVE = 65536, MOST_CHANNELS = 4 };

typedef struct {
    const uint8_t *bytes;
    size_t count;
} span;

static uint32_t number(span s, size_t offset, size_t length) {
    if (offset > s.count || length > s.count - offset) return UINT32_MAX;
    uint32_t value = 0;
    for (size_t i = 0; i < length; i++) value = value << 8 | s.bytes[offset + i];
    return value;
}

static bool is(span s, size_t offset, const char *name) {
    return offset <= s.count && s.count - offset >= 4 && memcmp(s.bytes + offset, name, 4) == 0;
}

static bool is_one(span s, size_t offset, const char *const *names) {
    for (; *names; names++)
        if (is(s, offset, *names)) return true;
    return false;
}

static span from(span s, size_t offset) {
    return offset <= s.count ? (span){s.bytes + offset, s.count - offset} : (span){s.bytes, 0};
}

/// The bytes of a curve (ICC.1:2010 sections 10.5 and 10.15); 0 if it is invalid.
static size_t curve_length(span s) {
    if (is(s, 0, "curv")) {
        uint32_t count = number(s, 8, 4);
        return count <= MOST_CURVE && s.count >= 12 && (s.count - 12) / 2 >= count ? 12 + 2 * (size_t)count : 0;
    }
    static const size_t parameters[] = {1, 3, 4, 5, 7};
    uint32_t kind = number(s, 8, 2);
    if (!is(s, 0, "para") || kind > 4) return 0;
    size_t length = 12 + 4 * parameters[kind];
    return s.count >= length ? length : 0;
}

static bool has_curves(span s, uint32_t offset, uint32_t count) {
    if (offset == 0) return true;
    size_t place = offset;
    for (uint32_t i = 0; i < count; i++) {
        size_t length = curve_length(from(s, place));
        if (length == 0) return false;
        place += (length + 3) / 4 * 4;
    }
    return true;
}

/// Whether this is a valid table of 8 or 16 bits (sections 10.8 and 10.9).
static bool is_table(span s) {
    uint32_t in = number(s, 8, 1), out = number(s, 9, 1), grid = number(s, 10, 1);
    bool deep = is(s, 0, "mft2");
    uint32_t before = deep ? number(s, 48, 2) : 256, after = deep ? number(s, 50, 2) : 256;
    if (in < 1 || in > MOST_CHANNELS || out < 1 || out > MOST_CHANNELS || grid < 1 || grid > 255) return false;
    if (before > 4096 || after > 4096) return false;
    size_t values = out;
    for (uint32_t i = 0; i < in; i++) values *= grid;
    values += (size_t)in * before + (size_t)out * after;
    return s.count >= 52 && values <= (s.count - (deep ? 52 : 48)) / (deep ? 2 : 1);
}

/// Whether these are valid curves, a matrix and a table (sections 10.10 and 10.11).
static bool is_pipeline(span s) {
    uint32_t in = number(s, 8, 1), out = number(s, 9, 1);
    if (in < 1 || in > MOST_CHANNELS || out < 1 || out > MOST_CHANNELS) return false;
    bool forth = is(s, 0, "mAB ");
    uint32_t table = number(s, 24, 4);
    // The curves named B are on the side of the connection space, those named A on the device's.
    if (!has_curves(s, number(s, 12, 4), forth ? out : in) || !has_curves(s, number(s, 20, 4), forth ? out : in)
        || !has_curves(s, number(s, 28, 4), forth ? in : out))
        return false;
    if (table == 0) return true;
    size_t values = out;
    for (uint32_t i = 0; i < in; i++) {
        uint32_t grid = number(s, (size_t)table + i, 1);
        if (grid < 1 || grid > 255) return false;
        values *= grid;
    }
    uint32_t width = number(s, (size_t)table + 16, 1);
    return (width == 1 || width == 2) && values <= from(s, (size_t)table + 20).count / width;
}

/// Whether LittleCMS' work on a tag is bounded.
static bool is_bounded(span profile, size_t entry) {
    static const char *const curves[] = {"rTRC", "gTRC", "bTRC", "kTRC", NULL};
    static const char *const tables[] = {"A2B0", "A2B1", "A2B2", "B2A0", "B2A1", "B2A2", "gamt", "pre0", "pre1",
                                         "pre2", NULL};
    static const char *const refused[] = {"D2B0", "D2B1", "D2B2", "D2B3", "B2D0", "B2D1", "B2D2", "B2D3", NULL};
    static const char *const texts[] = {"desc", "mluc", "text", "sig ", NULL};
    static const char *const named[] = {"desc", "cprt", "dmnd", "dmdd", "vued", "tech", NULL};
    static const char *const numbers[] = {"rXYZ", "gXYZ", "bXYZ", "wtpt", "bkpt", "lumi", "chad", NULL};
    size_t offset = number(profile, entry + 4, 4), length = number(profile, entry + 8, 4);
    if (length < 8 || offset > profile.count || length > profile.count - offset) return false;
    span s = {profile.bytes + offset, length};
    if (is_one(profile, entry, refused)) return false;
    if (is_one(profile, entry, curves)) return curve_length(s) > 0;
    if (is_one(profile, entry, tables))
        return is(s, 0, "mft1") || is(s, 0, "mft2") ? is_table(s)
            : is(s, 0, "mAB ") || is(s, 0, "mBA ")  ? is_pipeline(s)
                                                    : false;
    if (is_one(profile, entry, named)) return is_one(s, 0, texts) && (!is(s, 0, "mluc") || number(s, 8, 4) <= 1000);
    if (is_one(profile, entry, numbers)) return (is(s, 0, "XYZ ") || is(s, 0, "sf32")) && length <= 256;
    // Other tags, such as a display's own, aren't read for a conversion.
    return !is(s, 0, "mpet");
}

bool cvips_is_bounded_profile(const uint8_t *bytes, size_t count) {
    span profile = {bytes, count};
    uint32_t tags = number(profile, 128, 4);
    if (count < 132 || count > MOST_BYTES || tags > MOST_TAGS || (count - 132) / 12 < tags) return false;
    // Tags may share their bytes, within reason.
    size_t sum = 0;
    for (size_t entry = 132; entry < 132 + 12 * (size_t)tags; entry += 12) {
        if (!is_bounded(profile, entry)) return false;
        sum += number(profile, entry + 8, 4);
    }
    return sum <= 4 * count;
}
