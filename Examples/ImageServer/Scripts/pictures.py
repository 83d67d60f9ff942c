"""The pictures that `ImageServer pictures` makes."""


def pattern(number):
    """The name of a picture by its number."""
    return f"pattern-{number:03}." + ("webp" if number % 7 == 6 else "png" if number % 5 == 4 else "jpg")
