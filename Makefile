# What there is to build, to run and to check. Each target installs what it is missing first.

PACKAGES = pkg-config libvips-dev libjpeg62-turbo-dev libdeflate-dev libwebp-dev libcurl4-openssl-dev \
    libsqlite3-dev libyaml-dev libavif-dev libheif-dev libjxl-dev libtiff-dev libhiredis-dev libssl-dev librsvg2-2 \
    fonts-dejavu-core
PREFIX = /usr/local
DATE = $(shell git log -1 --format=%cs 2>/dev/null || date +%F)
ZSH = $(PREFIX)/share/zsh/site-functions
MODULES = Pipeline PipelineImages PipelineIsolation PipelineHTTP Stages PipelineShared PipelineServer PipelineFile \
    PipelineTesting PipelineMetrics PipelineSharedMetrics PipelineTracing
SITE = .build/site
BINARY = .build/release/pipectl
DECODER = .build/release/pipeline-decoder
EXTRAS = .build/extras
DISKCACHE = Benchmarks/.build/diskcache
PHOTOGRAPH = Tests/Images/good/photo-12mp-baseline-420.jpg

.PHONY: test portable demo serve server verify-server lint api docs site bench charts verify svg-suites provenance gamut soak cache-tests jxl-conformance reproducers interrupt hostile sanitize fuzz release pins extras install uninstall deb tarball trial readme dependencies

# Runs all tests, those of the examples and of the packages in Packages included. Four at a time: all at once, a test that
# waits for a response waits behind hundreds that compute.
test: dependencies
	@Scripts/dependencies redis-tools iproute2
	@Scripts/s3-servers
	swift build --build-tests
	Scripts/failures swift test --skip-build --experimental-maximum-parallelization-width 4
	Scripts/failures swift test --package-path Examples
	Scripts/failures swift test --package-path Examples/ImageServer
	Scripts/failures swift test --package-path Examples/Starter
	Scripts/failures swift test --package-path Packages/PipelineServiceLifecycle
	Scripts/failures swift test --package-path Packages/PipelineAsyncHTTPClient
	Scripts/failures swift test --package-path Packages/PipelineHummingbird
	Scripts/build-alone
	Scripts/package-line

# Makes a thumbnail of a photograph that it serves on this machine, and compares where later loads find it.
demo: dependencies
	swift run --package-path Examples -c release Demo $(PHOTOGRAPH) demo-output

# Serves a gallery of photographs and drawings at http://127.0.0.1:8080, by the example of an image server.
SERVER = Examples/ImageServer/.build/release/ImageServer
PICTURES = Examples/ImageServer/.build/gallery
DRAWINGS = Examples/ImageServer/.build/drawings
serve: server
	@Scripts/dependencies python3
	python3 Examples/ImageServer/Scripts/drawings.py $(DRAWINGS)
	$(SERVER) pictures $(PICTURES) dandelions.jpg=Tests/Images/good/photo-12mp-baseline-420.jpg \
	    clouds-over-Paris.avif=Tests/Images/good/avif-photo.avif $(DRAWINGS)/*.svg
	$(SERVER) --unsigned --gallery --folder $(PICTURES)

server: dependencies
	PIPECTL_COMMIT=$(COMMIT) swift build --package-path Examples/ImageServer -c release

# Drives the image server with the validators of the IIIF Image API, a browser and REDbot, loads it, and compares it with
# other servers. IMGPROXY is a clone of imgproxy, whose tests' paths it is asked for.
IMGPROXY =
verify-server: server
	Examples/ImageServer/Scripts/iiif
	@if [ -n "$(IMGPROXY)" ]; then Examples/ImageServer/Scripts/imgproxy $(IMGPROXY); \
	else echo "imgproxy's paths aren't asked for: clone imgproxy/imgproxy, and pass IMGPROXY=FOLDER"; fi
	Examples/ImageServer/Scripts/thumbor
	Examples/ImageServer/Scripts/browser
	Examples/ImageServer/Scripts/redbot
	Examples/ImageServer/Scripts/deployment
	Examples/ImageServer/Scripts/rolling
	Examples/ImageServer/Scripts/spellings
	Examples/ImageServer/Scripts/memory
	Examples/ImageServer/Scripts/load
	Examples/ImageServer/Scripts/peers

# Checks the format of all Swift files, that what is public is documented, the prose of all files for words that
# Scripts/english.txt rules out, and that all targets install the tools that they call.
lint:
	@Scripts/dependencies python3
	swift format lint --strict --parallel --recursive Package.swift Sources Tests Packages Examples Benchmarks Fuzz
	Scripts/documented
	Scripts/english
	Scripts/tools

# Compares the public API with that of the last version: see Documentation/Versions.md.
api: dependencies
	@Scripts/dependencies python3 xz-utils
	swift build
	Scripts/api

# Builds the documentation; a warning is an error, and so is a public type that no topic lists.
docs: dependencies
	Scripts/topics
	for target in $(MODULES); do \
	    swift package --disable-sandbox generate-documentation --target $$target --warnings-as-errors || exit 1; \
	done

# Builds the documentation of all modules as static pages, for a server that has them at its root, and checks their links.
site: dependencies
	@Scripts/dependencies python3
	rm -rf $(SITE)
	swift package --disable-sandbox --allow-writing-to-directory $(SITE) generate-documentation \
	    $(foreach module,$(MODULES),--target $(module)) --enable-experimental-combined-documentation \
	    --transform-for-static-hosting --warnings-as-errors --output-path $(SITE)
	Scripts/links $(SITE)

BENCHMARK_TOOLS = nginx-light curl libvips-tools libheif-examples python3

# Prints what the README says of speed, and measures thumbnails against other programs: Benchmarks/RESULTS.md.
bench: dependencies
	@Scripts/dependencies $(BENCHMARK_TOOLS) imagemagick python3-venv python3-pil python3-opencv libturbojpeg0-dev \
	    libpng-dev
	swift run --package-path Benchmarks -c release benchmarks
	swift run --package-path Benchmarks -c release benchmarks transfers
	swift run --package-path Benchmarks -c release benchmarks memory
	swift run --package-path Benchmarks -c release benchmarks decodes
	swift run --package-path Benchmarks -c release benchmarks prefetch
	swift run --package-path Benchmarks -c release benchmarks inflight
	swift run --package-path Benchmarks -c release benchmarks tiny
	test -x $(DISKCACHE)/bin/python || python3 -m venv $(DISKCACHE)
	$(DISKCACHE)/bin/pip install --quiet diskcache
	DISKCACHE_PYTHON=$(DISKCACHE)/bin/python swift run --package-path Benchmarks -c release benchmarks disk
	Benchmarks/Peers/run
	swift run --package-path Benchmarks -c release benchmarks regions
	swift run --package-path Benchmarks -c release benchmarks larger
	swift build --package-path Benchmarks -c release --product pipeline-decoder
	swift run --package-path Benchmarks -c release benchmarks isolation
	$(MAKE) release
	Scripts/bench-batch $(BINARY) Tests/Images/good
	Scripts/bench-lists $(BINARY)
	swift run --package-path Benchmarks -c release benchmarks cancel

# Draws the charts from the tables of Benchmarks/RESULTS.md, as `make bench` does.
charts:
	@Scripts/dependencies python3
	python3 Benchmarks/Peers/charts.py Benchmarks/RESULTS.md Benchmarks/results.svg Pictures/speed.svg

# Runs every long trial, which takes hours: each fuzz target has ten minutes, unless FUZZ_SECONDS says otherwise.
verify: FUZZ_SECONDS = 600
verify: portable soak interrupt sanitize hostile fuzz verify-server svg-suites provenance gamut
	Fuzz/perturbed
	@if [ -n "$(JXL_CONFORMANCE)" ]; then $(MAKE) jxl-conformance; \
	else echo "JPEG XL isn't compared: clone libjxl/conformance, and pass JXL_CONFORMANCE=FOLDER"; fi
	@if [ -n "$(REPRODUCERS)" ]; then $(MAKE) reproducers; \
	else echo "No reproducers are decoded: collect some, and pass REPRODUCERS=FOLDER"; fi
	@if [ -n "$(LIBAVIF)" ]; then $(MAKE) gain-maps; \
	else echo "Gain maps aren't compared: clone AOMediaCodec/libavif, and pass LIBAVIF=FOLDER"; fi

# Compares SVGs with rsvg-convert, such as those of resvg and librsvg: SVG_SUITES names folders of them.
SVG_SUITES =
svg-suites: release
	@Scripts/dependencies librsvg2-bin python3-pil
	PIPECTL=$(BINARY) Scripts/svg-suites $(SVG_SUITES)

# Signs pictures with c2pa-python, and compares what pipectl says of their provenance and does to it.
provenance: release
	@Scripts/dependencies openssl python3-venv
	Scripts/provenance $(BINARY)

# Compares the colours of pictures that stay in Display P3, or become sRGB's, with a reference in floating point.
gamut: release
	@Scripts/dependencies python3-venv
	Scripts/gamut $(BINARY)

# Tries the cache at length, which takes an hour or two, and prints what it survived; `make test` has the short forms.
# OUTAGES is how often machines are cut off for each of seven times, with disks and without, while images are removed.
OUTAGES = 2
soak: dependencies
	swift build --product CacheTrials
	$$(swift build --show-bin-path)/CacheTrials crash 100 $$(date +%s)
	$$(swift build --show-bin-path)/CacheTrials sharing 0 60 $$(date +%s)
	@Scripts/dependencies redis-tools iproute2
	@Scripts/s3-servers
	for fault in none killed paused stopped restarted full slow slow-but-patient cut unplugged; do \
	    $$(swift build --show-bin-path)/CacheTrials fleet $$fault 8 200 100 10 || exit 1; \
	done
	for seconds in 1 3 5 7 10 15 30; do for tier in disk memory; do \
	    $$(swift build --show-bin-path)/CacheTrials removals $$seconds $(OUTAGES) $$tier 2>/dev/null || exit 1; \
	done; done
	$$(swift build --show-bin-path)/CacheTrials burst 3000
	$$(swift build --show-bin-path)/CacheTrials failover sentinel 10 2>/dev/null
	$$(swift build --show-bin-path)/CacheTrials failover dns 10 2>/dev/null
	SOAK_SEEDS=10000 swift test --filter ScrollingTests
	SOAK_SEEDS=10000 swift test --filter HTTPSimulationTests
	SOAK_LOADS=10000 swift test --filter LyingOriginTests
	SOAK_SEEDS=2000 swift test --filter StoreDifferencesTests
	SOAK_SEEDS=10000 swift test --filter MemoryCacheModelTests
	SOAK_SEEDS=10000 swift test --filter IsolationTests.PoolTests
	FLEET_SEEDS=10000 swift test --filter LeaseSimulationTests
	FLEET_HISTORIES=20 FLEET_MANUAL_HISTORIES=200 swift test --filter FleetHistoryTests

# Runs the suite of http-tests/cache-tests against `pipectl fetch --stdio`, in its profiles of browsers and of proxies.
# CACHE_TESTS is a clone of it, which isn't part of this repository.
CACHE_TESTS =
cache-tests: dependencies
	@test -n "$(CACHE_TESTS)" || { echo "Clone http-tests/cache-tests, and run: make cache-tests CACHE_TESTS=FOLDER" >&2; exit 1; }
	@command -v node >/dev/null || Scripts/dependencies nodejs
	@Scripts/dependencies redis-tools
	swift build --product pipectl
	Scripts/cache-tests $(CACHE_TESTS) private
	Scripts/cache-tests $(CACHE_TESTS) shared

# Compares JPEG XL with libjxl's conformance suite. JXL_CONFORMANCE is a clone of it, which isn't part of this repository.
JXL_CONFORMANCE =
jxl-conformance: release
	@test -n "$(JXL_CONFORMANCE)" || { echo "Clone libjxl/conformance, and run: make jxl-conformance JXL_CONFORMANCE=FOLDER" >&2; exit 1; }
	@Scripts/dependencies libjxl-tools python3-pil python3-numpy
	Scripts/jxl-conformance $(BINARY) $(JXL_CONFORMANCE)

# Compares the gain maps that info finds with libavif's tests, and those that are written with a reference. LIBAVIF is a
# clone of it, which isn't part of this repository.
LIBAVIF =
gain-maps: release dependencies
	@test -n "$(LIBAVIF)" || { echo "Clone AOMediaCodec/libavif, and run: make gain-maps LIBAVIF=FOLDER" >&2; exit 1; }
	@Scripts/dependencies python3
	Scripts/gain-maps $(BINARY) $(LIBAVIF)
	Scripts/gain-map-geometry $(BINARY) $(LIBAVIF)

# Decodes files that once broke image libraries. REPRODUCERS is a folder of them, such as fuzzing/data of strukturag/libheif,
# oss-fuzz of libjxl/testdata, and rsvg/tests/fixtures of GNOME/librsvg, which aren't part of this repository.
REPRODUCERS =
reproducers: release
	@test -n "$(REPRODUCERS)" || { echo "Collect such files, and run: make reproducers REPRODUCERS=FOLDER" >&2; exit 1; }
	@Scripts/dependencies python3
	Scripts/reproducers $(BINARY) $(REPRODUCERS)

# Cancels decodes and encodes of pictures as cameras write them at 1,000 random moments each, and ends them by 200 time
# limits; then prints what files cost that make something grow.
interrupt: dependencies
	@Scripts/dependencies $(BENCHMARK_TOOLS)
	swift run --package-path Benchmarks -c release benchmarks interrupt
	swift run --package-path Benchmarks -c release benchmarks growth

# Decodes damaged files by the thousand, with AddressSanitizer watching.
hostile: dependencies
	swift run --package-path Benchmarks --scratch-path Benchmarks/.build/address -c release --sanitize=address \
	    hostile 2000 1 20

# Runs all tests under ThreadSanitizer and AddressSanitizer; what they find is a failure. Each has a build of its own.
sanitize: dependencies
	for sanitizer in thread address; do \
	    SANITIZE=1 swift build --build-tests --sanitize=$$sanitizer --scratch-path .build-$$sanitizer || exit 1; \
	    SANITIZE=1 ASAN_OPTIONS=detect_leaks=0 swift test --skip-build --sanitize=$$sanitizer --scratch-path .build-$$sanitizer \
	        --experimental-maximum-parallelization-width 4 || exit 1; \
	done

# Builds what other systems than Linux get, on Linux, and runs the tests of what isn't Linux's own.
portable: dependencies
	PORTABLE=1 swift build --build-tests --scratch-path .build-portable
	PORTABLE=1 swift test --skip-build --scratch-path .build-portable --experimental-maximum-parallelization-width 4

# Feeds every reader of outside bytes with input that tries to break it, FUZZ_SECONDS for each target: C of our own under
# AddressSanitizer and UndefinedBehaviorSanitizer, and Swift under AddressSanitizer in a release build, where preconditions
# are still checked. Prints the executions and the coverage of each.
FUZZ_SECONDS = 30
FUZZ_C = avif gif heif jpeg palette png resample tiff tiff-reader vips
FUZZ_SWIFT = sniffing headers decode chain strip isolation data-urls rows fleet http yaml svg jxl placeholders paths
fuzz: dependencies
	Fuzz/run c $(FUZZ_SECONDS) $(FUZZ_C)
	Fuzz/run swift $(FUZZ_SECONDS) $(FUZZ_SWIFT)

# Builds pipectl and its decoder helper in release mode, with Swift's own libraries inside: they start sooner, and run
# where Swift isn't installed. No library asks the program for symbols, whose names would be half a megabyte of it.
COMMIT = $(shell git describe --always --exclude='*' --abbrev=8 --dirty=.dirty 2>/dev/null)
release: dependencies
	Packaging/pin
	for product in pipectl pipeline-decoder; do \
	    PIPECTL_COMMIT=$(COMMIT) swift build --force-resolved-versions -c release --static-swift-stdlib --disable-local-rpath --product $$product \
	        -Xlinker --no-export-dynamic || exit 1; \
	done

# Takes the newest versions of the packages that Package.swift allows for releases, and writes them to Packaging/versions.
pins:
	Packaging/pin update

# Makes the man pages and the completions.
extras: release
	mkdir -p $(EXTRAS)/man5 $(EXTRAS)/man8
	swiftc -o $(EXTRAS)/manual Scripts/manual.swift
	rm -rf $(EXTRAS)/man1
	$(BINARY) --experimental-dump-help | $(EXTRAS)/manual $(EXTRAS)/man1 "$$($(BINARY) --version)" $(DATE)
	$(BINARY) help stages --as man | sed '1s/""/"$(DATE)"/' >$(EXTRAS)/man5/pipectl-pipeline.5
	sed '1s/""/"$(DATE)"/' Packaging/pipeline-decoder.8 >$(EXTRAS)/man8/pipeline-decoder.8
	for shell in bash zsh fish; do $(BINARY) --generate-completion-script $$shell >$(EXTRAS)/pipectl.$$shell; done
	sed -i "1{/^#!/d}" $(EXTRAS)/pipectl.bash

# Puts what `make extras` built in place, and builds nothing: it may run as root, without Swift. DESTDIR is for packages.
install:
	@for file in $(BINARY) $(DECODER) $(EXTRAS)/man1/pipectl.1 $(EXTRAS)/man5/pipectl-pipeline.5 $(EXTRAS)/pipectl.bash; do \
	    test -e $$file || { echo "$$file is missing; run 'make extras' first, as yourself." >&2; exit 1; }; \
	done
	install -D -m 755 --strip $(BINARY) $(DESTDIR)$(PREFIX)/bin/pipectl
	install -D -m 755 --strip $(DECODER) $(DESTDIR)$(PREFIX)/libexec/pipeline-decoder
	install -d $(DESTDIR)$(PREFIX)/share/man/man1
	install -m 644 $(EXTRAS)/man1/*.1 $(DESTDIR)$(PREFIX)/share/man/man1
	install -D -m 644 $(EXTRAS)/man5/pipectl-pipeline.5 $(DESTDIR)$(PREFIX)/share/man/man5/pipectl-pipeline.5
	install -D -m 644 $(EXTRAS)/man8/pipeline-decoder.8 $(DESTDIR)$(PREFIX)/share/man/man8/pipeline-decoder.8
	install -D -m 644 $(EXTRAS)/pipectl.bash $(DESTDIR)$(PREFIX)/share/bash-completion/completions/pipectl
	install -D -m 644 $(EXTRAS)/pipectl.zsh $(DESTDIR)$(ZSH)/_pipectl
	install -D -m 644 $(EXTRAS)/pipectl.fish $(DESTDIR)$(PREFIX)/share/fish/vendor_completions.d/pipectl.fish

# Removes the files, and the folders that are empty then. bin and share/man of a system stay: Debian makes them.
REMOVE_EMPTY = rmdir 2>/dev/null --ignore-fail-on-non-empty
uninstall:
	rm -f $(DESTDIR)$(PREFIX)/bin/pipectl $(DESTDIR)$(PREFIX)/libexec/pipeline-decoder \
	    $(DESTDIR)$(PREFIX)/share/man/man1/pipectl*.1 \
	    $(DESTDIR)$(PREFIX)/share/man/man5/pipectl-pipeline.5 \
	    $(DESTDIR)$(PREFIX)/share/man/man8/pipeline-decoder.8 \
	    $(DESTDIR)$(PREFIX)/share/bash-completion/completions/pipectl \
	    $(DESTDIR)$(ZSH)/_pipectl \
	    $(DESTDIR)$(PREFIX)/share/fish/vendor_completions.d/pipectl.fish
	@for folder in libexec share/man/man1 share/man/man5 share/man/man8 share/bash-completion/completions \
	    share/bash-completion share/fish/vendor_completions.d share/fish; do \
	    $(REMOVE_EMPTY) $(DESTDIR)$(PREFIX)/$$folder || true; \
	done
	@$(REMOVE_EMPTY) $(DESTDIR)$(ZSH) $(dir $(DESTDIR)$(ZSH)) || true
	@if [ -n '$(DESTDIR)' ]; then \
	    cd $(DESTDIR) && for folder in bin share/man; do $(REMOVE_EMPTY) -p .$(PREFIX)/$$folder || true; done; \
	elif [ '$(PREFIX)' != /usr ] && [ '$(PREFIX)' != /usr/local ]; then \
	    $(REMOVE_EMPTY) $(addprefix $(PREFIX)/,bin share/man share) $(PREFIX) || true; \
	fi

# Makes a Debian package, and an archive that runs from any folder, of what `make extras` builds.
deb: extras
	@Scripts/dependencies binutils dpkg-dev lintian python3
	Packaging/deb $(BINARY) .build/packages

tarball: extras
	@Scripts/dependencies binutils python3
	Packaging/tarball $(BINARY) .build/packages

# Installs the package and unpacks the archive in a fresh Debian 12, and runs the examples of pipectl's page there. As root.
trial: deb tarball
	@Scripts/dependencies debootstrap python3
	Packaging/trial .build/packages

# Updates what the README and pipectl's page show of its output, the picture of its progress bar, and the reference of stages.
readme: release
	$(BINARY) help stages --as markdown >Sources/PipelineFile/Documentation.docc/Stages.md
	UPDATE_README=1 swift test --filter ReadmeTests
	mkdir -p Pictures
	Scripts/progress-picture $(BINARY) $(PHOTOGRAPH) >Pictures/progress.svg

dependencies:
	@Scripts/dependencies $(PACKAGES)
