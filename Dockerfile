# An image with pipectl alone: built with Swift's own image, run on Debian's with the libraries it needs.
#
#   docker build -t pipectl .
#   docker run --rm --user "$(id -u)" -v "$PWD:/images" -v pipectl:/cache pipectl thumb photo.jpg -s 400x300
FROM swift:6.3-bookworm AS build
RUN apt-get update \
    && apt-get install -y --no-install-recommends \
        pkg-config libvips-dev libjpeg62-turbo-dev libdeflate-dev libwebp-dev libavif-dev libheif-dev libjxl-dev libtiff-dev libcurl4-openssl-dev libsqlite3-dev libyaml-dev libhiredis-dev libssl-dev librsvg2-2 fonts-dejavu-core \
    && rm -rf /var/lib/apt/lists/*
WORKDIR /pipeline
COPY Package.swift ./
COPY Packaging/pin Packaging/versions Packaging/
COPY Sources Sources
COPY Tests Tests
# --build-arg COMMIT=$(git rev-parse --short=8 HEAD): what pipectl --version prints.
ARG COMMIT
RUN Packaging/pin && for product in pipectl pipeline-decoder; do \
        PIPECTL_COMMIT=$COMMIT swift build -c release --force-resolved-versions --static-swift-stdlib --product $product \
        && install -D "$(swift build -c release --static-swift-stdlib --show-bin-path)/$product" /out/$product \
        || exit 1; \
    done

FROM debian:bookworm-slim
RUN apt-get update \
    && apt-get install -y --no-install-recommends \
        libvips42 libjpeg62-turbo libdeflate0 libtiff6 libavif15 libheif1 libjxl0.7 libwebp7 libwebpdemux2 libwebpmux3 libcurl4 libsqlite3-0 libyaml-0-2 libhiredis0.14 libssl3 \
        fonts-dejavu-core ca-certificates \
    && rm -rf /var/lib/apt/lists/* \
    && useradd --create-home pipeline \
    && install -d -m 1777 /images /cache
COPY --from=build /out/pipectl /usr/local/bin/pipectl
COPY --from=build /out/pipeline-decoder /usr/local/libexec/pipeline-decoder
USER pipeline
WORKDIR /images
# A cache of another user is not used: give each user a volume.
ENV XDG_CACHE_HOME=/cache XDG_STATE_HOME=/cache/state
VOLUME /cache
# Two arenas of the allocator instead of eight a core: many decoding threads otherwise keep far more memory than they use.
ENV MALLOC_ARENA_MAX=2
ENTRYPOINT ["pipectl"]
CMD ["help"]
