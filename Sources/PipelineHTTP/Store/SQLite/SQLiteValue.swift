/// A value to bind to a statement.
enum SQLiteValue {
    case integer(Int64)
    case text(String)
    case blob([UInt8])
    case null

    /// An integer, or null.
    static func integer(optional value: Int64?) -> SQLiteValue { value.map(SQLiteValue.integer) ?? .null }
}
