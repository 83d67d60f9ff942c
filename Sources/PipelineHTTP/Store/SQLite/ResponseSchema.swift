/// The tables of the stored responses, as steps: a database of an older version runs the steps that it lacks.
///
/// Times are microseconds since 1970. A response's body is in `bodies` if it is short, and otherwise in a file of its
/// own.
enum ResponseSchema {
    /// The version that this program reads and writes.
    static var version: Int64 { Int64(steps.count) }

    /// Returns whether a database has tables that no version of this library has written.
    static func isOtherProgram(_ database: SQLiteDatabase) throws -> Bool {
        guard try database.first("PRAGMA user_version", read: { $0.integer(0) }) == 0 else { return false }
        return try database.first("SELECT 1 FROM sqlite_schema", read: { _ in true }) ?? false
    }

    /// Migrates a database to ``version`` in one transaction, unless it has that version.
    /// - Throws: ``SchemaTooNew`` if a newer program has written it; `SQLiteError`.
    static func migrate(_ database: SQLiteDatabase) throws {
        guard try found(in: database) != version else { return }
        try database.execute("BEGIN IMMEDIATE")
        do {
            // Read again: another process may have done it while this one waited.
            for step in steps[Int(try found(in: database))...] { try database.execute(step) }
            try database.execute("PRAGMA user_version = \(version)")
            try database.execute("COMMIT")
        } catch {
            try? database.execute("ROLLBACK")
            throw error
        }
    }

    /// Checks that a database that can't be changed has this version.
    /// - Throws: ``SchemaTooNew``; ``SchemaTooOld``; `SQLiteError`.
    static func check(_ database: SQLiteDatabase) throws {
        if try found(in: database) != version { throw SchemaTooOld() }
    }

    private static func found(in database: SQLiteDatabase) throws -> Int64 {
        let found = try database.first("PRAGMA user_version") { $0.integer(0) } ?? 0
        guard (0...version).contains(found) else { throw SchemaTooNew(version: found) }
        return found
    }

    /// The generation before the first of a table, as SQL.
    ///
    /// It begins with the time, so that a new database gives out none that a damaged one gave, and continues with a
    /// random number, so that no two databases give out the same: a program may replace one and keep images of the other.
    static let firstGeneration = "unixepoch() << 31 | (random() & 0x7fffffff)"

    static let steps = [
        """
        -- One row for each stored response: several for a source where Vary tells them apart.
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

        -- Apart from the rows, so that marking a row as used never touches a body's pages.
        CREATE TABLE bodies (generation INTEGER PRIMARY KEY, bytes BLOB NOT NULL);

        -- How often in a row the origin answered a source with an error.
        CREATE TABLE failures (
            source BLOB PRIMARY KEY,
            status INTEGER NOT NULL,
            attempts INTEGER NOT NULL,
            latest INTEGER NOT NULL
        ) WITHOUT ROWID;
        CREATE INDEX failures_latest ON failures (latest);

        -- What is stored, kept by the triggers: nobody ever has to count.
        -- Next to them the last generation given out, which SQLite's AUTOINCREMENT would keep on a page of its own.
        CREATE TABLE totals (entries INTEGER NOT NULL, bytes INTEGER NOT NULL, files INTEGER NOT NULL,
            file_bytes INTEGER NOT NULL, generation INTEGER NOT NULL);
        INSERT INTO totals VALUES (0, 0, 0, 0, \(firstGeneration));
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
        """,
        """
        -- What was made of a response: it goes with its row, and so never outlives it. Its bytes count by the pages that
        -- they take.
        CREATE TABLE variants (
            generation INTEGER NOT NULL,
            variant BLOB NOT NULL,
            type TEXT NOT NULL,
            width INTEGER NOT NULL,
            height INTEGER NOT NULL,
            native_width INTEGER NOT NULL,
            native_height INTEGER NOT NULL,
            checksum INTEGER NOT NULL,
            bytes BLOB NOT NULL
        );
        CREATE UNIQUE INDEX variants_key ON variants (generation, variant);
        CREATE TRIGGER responses_delete_variants AFTER DELETE ON responses BEGIN
            DELETE FROM variants WHERE generation = old.generation;
        END;
        """,
        """
        -- The redirects that belong to a response, where a whole chain is one entry: its URLs, and until when it holds.
        ALTER TABLE responses ADD COLUMN redirects BLOB;
        CREATE TABLE redirects (target_hash INTEGER NOT NULL, generation INTEGER NOT NULL);
        CREATE INDEX redirects_target ON redirects (target_hash);
        CREATE INDEX redirects_generation ON redirects (generation);
        CREATE TRIGGER responses_delete_redirects AFTER DELETE ON responses BEGIN
            DELETE FROM redirects WHERE generation = old.generation;
        END;

        -- When URLs were made invalid in the last minutes: what another process asked for before is not stored after it.
        CREATE TABLE invalidations (target_hash INTEGER PRIMARY KEY, time INTEGER NOT NULL);
        """,
    ]
}

/// An older program has written the database, which can't be migrated.
struct SchemaTooOld: Error, CustomStringConvertible {
    var description: String { "an earlier version wrote its database, which can't be changed" }
}

/// A newer program has written the database.
struct SchemaTooNew: Error {
    let version: Int64
}
