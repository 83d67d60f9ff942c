/// Measures the least time that a library with the same codecs can take: only the codecs' own calls.
///
/// floors jpeg|webp|png WIDTH REPEATS FILE: decodes at 1/8, or scaled to WIDTH if the codec can. floors command
/// WORD...: runs a command and prints its costs, from a process with very little memory.
#include <png.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <turbojpeg.h>
#include <unistd.h>
#include <webp/decode.h>

static double seconds(clockid_t clock) {
    struct timespec time;
    clock_gettime(clock, &time);
    return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

static void jpeg(const uint8_t *bytes, size_t count, int target) {
    tjhandle decoder = tjInitDecompress();
    int width, height, subsampling, colours;
    tjDecompressHeader3(decoder, bytes, count, &width, &height, &subsampling, &colours);
    int factor = 8;
    while (factor > 1 && width / factor < target) factor /= 2;
    tjscalingfactor scale = {1, factor};
    int w = TJSCALED(width, scale), h = TJSCALED(height, scale);
    uint8_t *pixels = malloc((size_t)w * (size_t)h * 3);
    tjDecompress2(decoder, bytes, count, pixels, w, 0, h, TJPF_RGB, 0);
    free(pixels);
    tjDestroy(decoder);
}

static void webp(const uint8_t *bytes, size_t count, int target) {
    WebPDecoderConfig config;
    WebPInitDecoderConfig(&config);
    WebPGetFeatures(bytes, count, &config.input);
    config.options.use_scaling = 1;
    config.options.scaled_width = target;
    config.options.scaled_height = config.input.height * target / config.input.width;
    config.output.colorspace = MODE_RGB;
    WebPDecode(bytes, count, &config);
    WebPFreeDecBuffer(&config.output);
}

static void png(const uint8_t *bytes, size_t count) {
    png_image image = {.version = PNG_IMAGE_VERSION};
    png_image_begin_read_from_memory(&image, bytes, count);
    image.format = image.format & PNG_FORMAT_FLAG_ALPHA ? PNG_FORMAT_RGBA : PNG_FORMAT_RGB;
    uint8_t *pixels = malloc(PNG_IMAGE_SIZE(image));
    png_image_finish_read(&image, NULL, pixels, 0, NULL);
    free(pixels);
}

static int command(char **words) {
    pid_t process = fork();
    if (process == 0) {
        freopen("/dev/null", "w", stdout);
        freopen("/dev/null", "w", stderr);
        execvp(words[0], words);
        _exit(127);
    }
    int status;
    struct rusage usage;
    if (wait4(process, &status, 0, &usage) < 0 || status != 0) return 1;
    double user = (double)usage.ru_utime.tv_sec * 1e3 + (double)usage.ru_utime.tv_usec / 1e3;
    double system = (double)usage.ru_stime.tv_sec * 1e3 + (double)usage.ru_stime.tv_usec / 1e3;
    printf("{\"cpu_ms\": %f, \"peak_kb\": %ld}\n", user + system, usage.ru_maxrss);
    return 0;
}

int main(int count, char **words) {
    if (count > 2 && !strcmp(words[1], "command")) return command(words + 2);
    if (count < 5) return 2;
    int target = atoi(words[2]), repeats = atoi(words[3]);
    FILE *file = fopen(words[4], "rb");
    if (!file) return 1;
    fseek(file, 0, SEEK_END);
    size_t size = (size_t)ftell(file);
    rewind(file);
    uint8_t *bytes = malloc(size);
    if (fread(bytes, 1, size, file) != size) return 1;
    double cpu = 0, wall = 0;
    for (int i = -1; i < repeats; i++) {
        if (i == 0) {
            cpu = seconds(CLOCK_PROCESS_CPUTIME_ID);
            wall = seconds(CLOCK_MONOTONIC);
        }
        if (!strcmp(words[1], "jpeg")) jpeg(bytes, size, target);
        if (!strcmp(words[1], "webp")) webp(bytes, size, target);
        if (!strcmp(words[1], "png")) png(bytes, size);
    }
    cpu = seconds(CLOCK_PROCESS_CPUTIME_ID) - cpu;
    wall = seconds(CLOCK_MONOTONIC) - wall;
    printf("{\"cpu_ms\": %f, \"rate\": %f, \"peak_kb\": 0, \"bytes\": 0}\n", cpu / repeats * 1000, repeats / wall);
}
