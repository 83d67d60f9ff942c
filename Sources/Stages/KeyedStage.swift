package import Pipeline

/// A stage that looks up, stores or shares by the load's keys.
package protocol KeyedStage: Stage {}

extension KeyedStage {
    public var needsIdentity: Bool { true }
}
