/// Fails every load of a list that was edited at run time and has a stage that can never run.
struct InvalidList: Stage {
    let problem: String

    var accepts: Phases { .empty }

    func run(_ load: inout Load) async throws -> Outcome {
        throw LoadError(.stageContract, subject: load.subject, problem)
    }
}
