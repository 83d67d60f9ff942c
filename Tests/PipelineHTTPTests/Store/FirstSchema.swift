import CSQLite
import Essentials
import LibC
import HTTPTypes
import Pipeline
import TestFixtures

@testable import PipelineHTTP

/// A cache's folder as the first version of its tables had it, with two answers: one in the database, one in a file.
enum FirstSchema {
    /// What the responses are stored under.
    static let names = ["short", "long"]

    static func body(_ name: String) -> [UInt8] {
        [UInt8](repeating: UInt8(name.utf8.count), count: name == "short" ? 500 : 100_000)
    }

    /// Writes the folder, closed in order.
    static func write(_ path: String, now: Date) throws {
        let folder = CacheFolder(path: path)
        try folder.create()
        try folder.createDatabase()
        let database = try SQLiteDatabase(path: folder.databasePath, readOnly: false)
        try database.execute(
            "PRAGMA page_size = 16384; PRAGMA auto_vacuum = INCREMENTAL; PRAGMA journal_mode = WAL;" + statements
                + "PRAGMA user_version = 1;")
        for (index, name) in names.enumerated() { try insert(name, Int64(index + 1), folder, database, now) }
    }

    private static func insert(
        _ name: String, _ generation: Int64, _ folder: CacheFolder, _ database: SQLiteDatabase, _ now: Date
    ) throws {
        let body = body(name)
        let isFile = body.count > 65_536
        let fields: HTTPFields = [.cacheControl: "max-age=3600", .contentType: "image/png", .eTag: "\"1\""]
        let target = "http://example.com/\(name)"
        let time = SQLiteValue.integer(now.microseconds)
        try database.run(
            """
            INSERT INTO responses (generation, source, target, target_hash, status, fields, selecting, request_time,
                response_time, stored, accessed, expires, fresh_until, size, body_length, body_checksum, body_file)
            VALUES (?1, ?2, ?3, ?4, 200, ?5, x'', ?6, ?6, ?6, ?6, NULL, ?7, ?8, ?9, ?10, ?11)
            """, .integer(generation), .blob(SourceKey.test(name).digest.bytes), .text(target),
            .integer(targetHash(target)), .blob(StoredFields.encode(fields)), time,
            .integer((now + 3600).microseconds), .integer(Int64(body.count + 400)), .integer(Int64(body.count)),
            .integer(BodyChecksum(of: body).value),
            isFile ? .text(try BodyFiles(folder: folder.bodiesPath).write(body)) : .null)
        guard !isFile else { return }
        try database.run("INSERT INTO bodies VALUES (?1, ?2)", .integer(generation), .blob(body))
    }

    private static let statements = """
        CREATE TABLE responses (
            generation INTEGER PRIMARY KEY,
            source BLOB NOT NULL,
            target TEXT NOT NULL,
            target_hash INTEGER NOT NULL,
            status INTEGER NOT NULL,
            fields BLOB NOT NULL,
            selecting BLOB NOT NULL,
            request_time INTEGER NOT NULL,
            response_time INTEGER NOT NULL,
            stored INTEGER NOT NULL,
            accessed INTEGER NOT NULL,
            expires INTEGER,
            fresh_until INTEGER,
            size INTEGER NOT NULL,
            body_length INTEGER NOT NULL,
            body_checksum INTEGER NOT NULL,
            body_file TEXT
        );
        CREATE INDEX responses_source ON responses (source);
        CREATE INDEX responses_target ON responses (target_hash);
        CREATE INDEX responses_accessed ON responses (accessed);
        CREATE TABLE bodies (generation INTEGER PRIMARY KEY, bytes BLOB NOT NULL);
        CREATE TABLE failures (
            source BLOB PRIMARY KEY,
            status INTEGER NOT NULL,
            attempts INTEGER NOT NULL,
            latest INTEGER NOT NULL
        ) WITHOUT ROWID;
        CREATE INDEX failures_latest ON failures (latest);
        CREATE TABLE totals (entries INTEGER NOT NULL, bytes INTEGER NOT NULL, files INTEGER NOT NULL,
            file_bytes INTEGER NOT NULL, generation INTEGER NOT NULL);
        INSERT INTO totals VALUES (0, 0, 0, 0, unixepoch() << 20);
        CREATE TRIGGER responses_insert AFTER INSERT ON responses BEGIN
            UPDATE totals SET entries = entries + 1, bytes = bytes + new.size,
                files = files + (new.body_file IS NOT NULL),
                file_bytes = file_bytes + iif(new.body_file IS NULL, 0, new.body_length),
                generation = new.generation;
        END;
        CREATE TRIGGER responses_delete AFTER DELETE ON responses BEGIN
            DELETE FROM bodies WHERE generation = old.generation;
            UPDATE totals SET entries = entries - 1, bytes = bytes - old.size,
                files = files - (old.body_file IS NOT NULL),
                file_bytes = file_bytes - iif(old.body_file IS NULL, 0, old.body_length);
        END;
        CREATE TRIGGER responses_resize AFTER UPDATE OF size ON responses BEGIN
            UPDATE totals SET bytes = bytes - old.size + new.size;
        END;

        """
}
