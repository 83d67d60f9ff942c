"""Measures how near a picture comes to a full decode of its source, scaled with a Lanczos-3 kernel."""

import numpy
import pillow_heif
from PIL import Image

pillow_heif.register_heif_opener()


def weights(size, target):
    """Returns a matrix that scales `size` samples to `target` with a Lanczos-3 kernel as wide as a new pixel."""
    scale = size / target
    width = max(1.0, scale)
    centres = (numpy.arange(target) + 0.5) * scale
    distances = (numpy.arange(size)[None, :] + 0.5 - centres[:, None]) / width
    kernel = numpy.where(numpy.abs(distances) < 3, numpy.sinc(distances) * numpy.sinc(distances / 3), 0)
    return kernel / kernel.sum(axis=1, keepdims=True)


def scaled(pixels, width, height):
    rows = weights(pixels.shape[0], height)
    columns = weights(pixels.shape[1], width)
    return numpy.stack([rows @ pixels[:, :, i] @ columns.T for i in range(pixels.shape[2])], axis=2)


def to_linear(values):
    return numpy.where(values <= 0.04045, values / 12.92, ((values + 0.055) / 1.055) ** 2.4)


def to_gamma(values):
    values = numpy.clip(values, 0, 1)
    return numpy.where(values <= 0.0031308, values * 12.92, 1.055 * values ** (1 / 2.4) - 0.055)


def read(path):
    """Reads a picture as premultiplied values from 0 to 1, with alpha if it has any."""
    image = Image.open(path)
    image = image.convert("RGBA" if image.mode in ("RGBA", "LA", "PA") else "RGB")
    pixels = numpy.asarray(image, dtype=numpy.float64) / 255
    if pixels.shape[2] == 4:
        pixels = numpy.concatenate([pixels[:, :, :3] * pixels[:, :, 3:], pixels[:, :, 3:]], axis=2)
    return pixels


class Reference:
    """The best possible pictures of a source, cached by size."""

    def __init__(self, path):
        self.source = read(path)
        self.kept = {}

    def at(self, width, height):
        if (width, height) not in self.kept:
            gamma = numpy.clip(scaled(self.source, width, height), 0, 1)
            light = to_gamma(scaled(to_linear(self.source), width, height))
            self.kept[width, height] = (gamma, light)
        return self.kept[width, height]


def psnr(first, second):
    error = numpy.mean((first - second) ** 2)
    return 99.0 if error == 0 else float(-10 * numpy.log10(error))


def ssim(first, second):
    """Returns the SSIM of the luma with the usual Gaussian window of 11 pixels (Wang et al., 2004)."""
    window = numpy.exp(-(((numpy.arange(11) - 5) / 1.5) ** 2) / 2)
    window /= window.sum()

    def blurred(values):
        values = numpy.apply_along_axis(lambda line: numpy.convolve(line, window, "valid"), 0, values)
        return numpy.apply_along_axis(lambda line: numpy.convolve(line, window, "valid"), 1, values)

    luma = numpy.array([0.299, 0.587, 0.114])
    first, second = first[:, :, :3] @ luma, second[:, :, :3] @ luma
    mean1, mean2 = blurred(first), blurred(second)
    variance1 = blurred(first * first) - mean1**2
    variance2 = blurred(second * second) - mean2**2
    covariance = blurred(first * second) - mean1 * mean2
    c1, c2 = 0.01**2, 0.03**2
    values = ((2 * mean1 * mean2 + c1) * (2 * covariance + c2)) / (
        (mean1**2 + mean2**2 + c1) * (variance1 + variance2 + c2)
    )
    return float(values.mean())


def compare(path, reference):
    """Returns PSNR in decibels, SSIM, PSNR against scaling in linear light, and the size."""
    result = read(path)
    height, width = result.shape[:2]
    gamma, light = reference.at(width, height)
    if result.shape[2] != gamma.shape[2]:
        channels = min(result.shape[2], gamma.shape[2])
        result, gamma, light = result[:, :, :channels], gamma[:, :, :channels], light[:, :, :channels]
    return {
        "psnr": psnr(result, gamma), "ssim": ssim(result, gamma), "linear": psnr(result, light),
        "size": [width, height],
    }
