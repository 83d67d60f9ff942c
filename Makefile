# What there is to build, to run and to check. Each target installs what it is missing first.

PACKAGES = pkg-config libvips-dev libjpeg62-turbo-dev libdeflate-dev libwebp-dev libcurl4-openssl-dev libsqlite3-dev
PHOTOGRAPH = Tests/StagesTests/Images/good/photo-12mp-baseline-420.jpg

.PHONY: test demo lint docs bench soak release dependencies

# Runs all tests, those of the examples included. Four at a time: all at once, a test that waits for an answer waits
# behind hundreds that compute.
test: dependencies
	swift build --build-tests
	swift test --skip-build --experimental-maximum-parallelization-width 4
	swift test --package-path Examples

# Loads a photograph over HTTP on this machine through each policy, and shows what happened.
demo: dependencies
	swift run --package-path Examples Demo $(PHOTOGRAPH) demo-output

# Checks the format of all Swift files.
lint:
	swift format lint --strict --parallel --recursive Package.swift Sources Tests Examples Benchmarks

# Builds the documentation; a warning is an error.
docs: dependencies
	for target in Pipeline Stages PipelineTesting PipelineMetrics PipelineTracing; do \
	    swift package --disable-sandbox generate-documentation --target $$target --warnings-as-errors || exit 1; \
	done

# Prints what the README says of speed.
bench: dependencies
	@Scripts/dependencies nginx-light curl
	swift run --package-path Benchmarks -c release benchmarks
	swift run --package-path Benchmarks -c release benchmarks transfers
	swift run --package-path Benchmarks -c release benchmarks memory
	swift run --package-path Benchmarks -c release benchmarks decodes
	swift run --package-path Benchmarks -c release benchmarks prefetch
	swift run --package-path Benchmarks -c release benchmarks inflight

# Tries the cache at length, which takes some minutes, and prints what it survived; `make test` has the short forms.
soak: dependencies
	swift build --product CacheTrials
	$$(swift build --show-bin-path)/CacheTrials crash 100 $$(date +%s)
	$$(swift build --show-bin-path)/CacheTrials sharing 0 60 $$(date +%s)
	SOAK_SEEDS=10000 swift test --filter ScrollingTests

# Builds the command for use, with Swift's own libraries inside: it starts sooner, and runs where Swift isn't installed.
release: dependencies
	swift build -c release --static-swift-stdlib --product pipectl

dependencies:
	@Scripts/dependencies $(PACKAGES)
