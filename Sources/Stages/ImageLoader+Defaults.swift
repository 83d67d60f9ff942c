import PipelineImages
public import Pipeline
public import PipelineHTTP

extension ImageLoader {
    /// Makes a loader with the defaults: 128 MB in memory, 1 GB in the user's cache folder, 50 megapixels, 64 MB a
    /// file.
    ///
    /// ```swift
    /// let loader = try ImageLoader(addresses: .publicOnly(allowing: ["127.0.0.1"]))
    /// ```
    /// - Parameters:
    ///   - addresses: The addresses that may be connected to; public ones by default.
    ///   - isolation: Whether images are decoded in confined processes; by default as far as the system allows.
    ///   - defaults: The options of loads without their own.
    /// - Throws: Nothing at present. A later version may need something that a machine lacks.
    public convenience init(
        addresses: AddressPolicy = .publicOnly, isolation: Isolation = .automatic, defaults: LoadOptions = LoadOptions()
    ) throws {
        try self.init(
            cacheFolder: HTTPCache.defaultFolder, addresses: addresses, isolation: isolation, defaults: defaults)
    }

    /// Makes a loader that caches in a folder of its own.
    /// - Parameters:
    ///   - cacheFolder: The folder's path. The folder is created on first use, readable by its owner alone.
    ///   - diskByteLimit: The most that responses on disk may take, in bytes; 1 GB by default.
    ///   - memoryByteLimit: The most that images in memory may take, in bytes; 128 MB by default. They are evicted when
    ///     memory is short; see ``MemoryCache/init(byteLimit:countLimit:idleLimit:trimsUnderPressure:)``.
    ///   - allowedSources: The kinds of sources that are loaded; all by default. A program that takes sources from
    ///     others should allow only `.remote`.
    ///   - addresses: The addresses that may be connected to; public ones by default.
    ///   - isolation: Whether images are decoded in confined processes; by default as far as the system allows.
    ///   - defaults: The options of loads without their own.
    ///   - observers: The observers of every load; none by default.
    public convenience init(
        cacheFolder: String, diskByteLimit: Int = 1_000_000_000, memoryByteLimit: Int = 128_000_000,
        allowing allowedSources: ImageSource.Kinds = .all, addresses: AddressPolicy = .publicOnly,
        isolation: Isolation = .automatic, defaults: LoadOptions = LoadOptions(), observers: [any LoadObserver] = []
    ) throws {
        var resources = PipelineResources(
            memory: MemoryCache(byteLimit: memoryByteLimit, trimsUnderPressure: true),
            responses: HTTPCache(folder: cacheFolder, byteLimit: diskByteLimit),
            client: CurlClient(.init(addresses: addresses)), isolation: isolation)
        resources.allowedSources = allowedSources
        self.init(resources, defaults: defaults, observers: observers)
    }

    /// Loads the image at a URL or path that a user typed; see `ImageSource.init(parsing:)`.
    /// - Parameters:
    ///   - text: A URL, or a file's path.
    ///   - options: The load's options; ``defaults`` if `nil`.
    /// - Throws: `LoadError`, with `invalidURL` or `unsupportedScheme` for other texts; `CancellationError` if the task is
    ///   cancelled.
    public func load(_ text: String, options: LoadOptions? = nil) async throws -> ImageResponse {
        try await load(ImageSource(parsing: text), options: options)
    }
}
