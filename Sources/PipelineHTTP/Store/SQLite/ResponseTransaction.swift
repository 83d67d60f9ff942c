/// Changes to the stored responses that are committed together.
final class ResponseTransaction {
    /// The connection on which they are made.
    let database: SQLiteDatabase
    /// Body files that nothing points to once the changes are committed.
    var abandonedFiles: [String] = []

    init(database: SQLiteDatabase) { self.database = database }
}
