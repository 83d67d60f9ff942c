import CSQLite
import Foundation

/// Changes a database as a migration does, all of it written to the log and none of it committed, says so, and stops
/// there: the process that dies in the middle.
enum Migrating {
    static func run(database path: String, statements: String) throws {
        var connection: OpaquePointer?
        let begin = "PRAGMA cache_size = 1; BEGIN IMMEDIATE;"
        // More than SQLite keeps to itself until the end.
        let filler =
            "CREATE TABLE filler (bytes); INSERT INTO filler VALUES (zeroblob(1000000)); PRAGMA user_version = 99;"
        guard sqlite3_open(path, &connection) == SQLITE_OK,
            sqlite3_exec(connection, begin + statements + filler, nil, nil, nil) == SQLITE_OK
        else { throw TrialFailure(String(cString: sqlite3_errmsg(connection))) }
        Child.tell("half")
        while true { pause() }
    }
}
